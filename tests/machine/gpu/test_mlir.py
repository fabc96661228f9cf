"""The kernels compiled by numba-cuda-mlir: what can be said without it; where it is installed, that all compile."""

import ast
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import course_lib
from course_lib.kernels import LADDER, TENSOR_CORES, WGMMA
from course_lib.machine import gpu, measurements, mlir
from course_lib.machine.measurements import report

FOLDER = Path(course_lib.__file__).parent
needs_mlir = pytest.mark.skipif(find_spec(mlir.PACKAGE) is None, reason="numba-cuda-mlir is not installed")


def called_on(name):
    """Return the methods that the intrinsics of the kernels call on a parameter of this name."""
    paths = [path for room in ("kernels", "products", "waiting/probes") for path in FOLDER.glob(f"{room}/*.py")]
    nodes = (node for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    return {
        n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == name
    }


@pytest.mark.parametrize(("name", "offered"), [("builder", mlir.Builder(None)), ("context", mlir.TargetContext(None))])
def test_what_the_intrinsics_write_is_written_for_mlir(name, offered):
    """No intrinsic calls a method of llvmlite that has no form for MLIR."""
    called = called_on(name)
    assert len(called) > 3
    assert [method for method in called if not hasattr(type(offered), method) and method not in mlir.OPERATIONS] == []


def test_another_method_of_the_builder_says_where_to_add_it():
    with pytest.raises(AttributeError, match="fadd of llvmlite's builder is not written for MLIR; add it to"):
        getattr(mlir.Builder(None), "fadd")  # noqa: B009


@pytest.mark.skipif(find_spec(mlir.PACKAGE) is not None, reason="numba-cuda-mlir is installed")
def test_without_the_package_one_sentence_and_status_2(capsys):
    assert mlir.main() == 2
    out, err = capsys.readouterr()
    assert (out, err) == (
        "",
        "numba-cuda-mlir is not installed; install this course with its extra `mlir13` or `mlir12`\n",
    )


def test_too_late_is_refused(monkeypatch):
    """A process that has imported numba would mix the types of both."""
    import numba  # noqa: F401

    monkeypatch.setattr(mlir, "find_spec", lambda name: object())
    with pytest.raises(ImportError, match="numba was imported before"):
        mlir.use()
    assert not any(isinstance(finder, mlir.Redirector) for finder in sys.meta_path)


#: Compiles kernels to machine code for compute capability 9.0, which needs no GPU.
COMPILE = """
import numpy as np
import numba_cuda_mlir.tools
numba_cuda_mlir.tools._cached_cc = (9, 0)  # what the package asks a GPU
from course_lib import mlir, simulate
mlir.use()
from numba import types
from course_lib.kernels import LADDER, TENSOR_CORES, WGMMA, bulk_copy, rung
for r in (*LADDER, *TENSOR_CORES, *WGMMA):
    made = r.make(**r.params)
    mapped = isinstance(made, bulk_copy.WithMaps)
    kernel, C = made.kernel if mapped else made, np.zeros((1, 1), np.float32)
    A, C = (kernel.typeof_pyval(X) for X in (r.operand(C), C))
    if mapped:
        A = types.NamedTuple([types.uint64[::1], types.UniTuple(types.int64, 2)], bulk_copy.Mapped)
    kernel.compile((A, A, C))
    print(r.name)
A, C = np.ones((8, 8), np.float32), np.zeros((8, 8), np.float32)
r = rung("tiled")
run = simulate(r.make(**r.params))[r.launch(8, 8, 8, **r.params)](A, A, C)
print(C.min(), C.max(), run.errors)
"""


@needs_mlir
@pytest.mark.nightly
def test_every_rung_compiles_and_is_simulated():
    """The compiler accepts what the intrinsics write; the simulator takes kernels of this package as any others."""
    done = subprocess.run([sys.executable, "-c", COMPILE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout.splitlines()) == 33
    assert done.stdout.splitlines()[-1] == "8.0 8.0 ()"


@needs_mlir
def test_the_example_of_the_page_compiles():
    """`docs/compilers.md` shows the smallest intrinsic; its instruction is in the compiled kernel."""
    page = (FOLDER.parent / "docs" / "compilers.md").read_text(encoding="utf-8")
    (example,) = (block.split("```")[0] for block in page.split("```python\n") if "@intrinsic" in block.split("```")[0])
    before = "import numba_cuda_mlir.tools\nnumba_cuda_mlir.tools._cached_cc = (9, 0)\n"
    after = "kind = types.float32[::1], types.float32[::1]\nrounded.compile(kind)\nprint(rounded.inspect_asm(kind))"
    done = subprocess.run([sys.executable, "-c", before + example + after], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "cvt.rna.tf32.f32" in done.stdout


def test_the_page_tells_what_was_recorded():
    """The number of rungs, those without a speed, and all whose speed differs by 10 % or more, with their share."""
    page = (FOLDER.parent / "docs" / "compilers.md").read_text(encoding="utf-8")
    recording = measurements.load("compilers")
    assert f"all {len((*LADDER, *TENSOR_CORES, *WGMMA))} rungs" in page
    without = sorted({result["rung"] for result in recording.results if "skipped" in result})
    assert f"{' and '.join(f'`{name}`' for name in without)} cannot compute" in page
    speed = {}
    for r in report.measured(recording):
        name = f"`{r['rung']}`" + (", rounded" if r["params"].get("rounded") else "")
        speed.setdefault(name, []).append(r["gflops"])
    change = {name: round(100 * (second / first - 1)) for name, (first, second) in speed.items()}
    for word, sign in (("faster", 1), ("slower", -1)):
        (listed,) = re.findall(rf"- {word}: ([^;.]*)[;.]", page)
        told = re.findall(r"(`\w+`(?:, rounded)?) \((\d+) %\)", " ".join(listed.split()))
        assert dict(told) == {name: str(sign * by) for name, by in change.items() if sign * by >= 10}
    assert all(
        len(r["milliseconds"]) == 1 for r in report.measured(recording) if r["rung"] in ("per_row", "per_column")
    )


@needs_mlir
@pytest.mark.skipif(not gpu.available(), reason="no CUDA GPU")
def test_every_rung_is_right():
    """On random rectangles, compared with float64."""
    command = [sys.executable, "-m", "course_lib.mlir", "verify"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "wgmma_tf32" in done.stdout and "wrong" not in done.stdout
