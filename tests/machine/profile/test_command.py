"""``tile-by-tile profile``: what it says of kernels in files, with its exit status, and of wrong words."""

import json
import re
import sys

import numpy as np
import pytest

from course_lib.__main__ import main
from course_lib.kernels import rung
from course_lib.machine.machine_code import available
from course_lib.machine.measurements import load as recording
from course_lib.machine.profile import profile
from course_lib.simulator.occupancy import occupancy

FILE = """'Kernels.'
from __future__ import annotations; import not_installed
from numba import cuda, float32, float64

@cuda.jit
def double(x, out, n):
    i = cuda.grid(1)
    if i < n:
        out[i] = x[i] + x[i]

@cuda.jit("void(float32[:], float32[:])")
def eager(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i]

@cuda.jit
def reversed_by_a_block(x, out):
    tile = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    out[i] = tile[63 - i]

@cuda.jit
def accidental(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * 2.5

@cuda.jit
def endless(x):
    i = 0
    while x[0] == 0:
        i += 1

@cuda.jit
def says(x):
    print(cuda.grid(1))

@cuda.jit
def lists(x):
    x[0] = sorted([1, 2])[0]

@cuda.jit
def long(x):
    total = 0
    for k in range(2000):
        total += k
    x[cuda.grid(1)] = total

@cuda.jit(device=True)
def helper(x):
    return x

def launch():
    import numpy as np
    return 2, 32, (np.ones(50, np.float32), np.zeros(50, np.float32), 50)

@cuda.jit
def unguarded(x, out):
    out[cuda.grid(1)] = x[cuda.grid(1)]

def of_size(n):
    import numpy as np
    x = np.arange(n, dtype=np.float32)
    return max(1, n // 32), 32, (x, np.zeros_like(x)), {"out": x}

LIMIT = 5
print("imported")
double[1, 32](cuda.to_device([1.0]), None, 1)

@cuda.jit
def last(x):
    x[0] = LIMIT
"""
DOUBLE = ["--grid", "4", "--block", "32", "--array", "x=random:float32:100", "--array", "out=zeros:float32:100"]
PAIR = ["--grid", "1", "--block", "64", "--array", "x=random:float32:64", "--array", "out=zeros:float32:64"]
ENDLESS = ["--grid", "1", "--block", "1", "--array", "x=zeros:float32:1"]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("kernels") / "my_kernels.py"
    path.write_text(FILE, encoding="utf-8")
    return path


@pytest.fixture
def told(file, capsys):
    """Run the command, leaving out what fails; return its status, what it wrote to stdout and what to stderr."""

    def run(name, *options):
        status = main(["profile", "--skip-failing", f"{file}:{name}", *options])
        return status, *capsys.readouterr()

    return run


def test_a_clean_kernel(told):
    """100 elements in 4 warps: 3 of 128 bytes and one of 16, so 3 * 4 + 1 sectors each of two loads and a store."""
    status, out, _ = told("double", *DOUBLE, "--scalar", "n=100", "--registers", "40", "--json")
    data = json.loads(out)
    gpu = recording("latencies").provenance

    assert (status, data["clean"], data["failures"]) == (0, True, [])
    assert (data["totals"]["accesses"], data["totals"]["requests"], data["totals"]["sectors"]) == (300, 12, 39)
    expected = occupancy(32, 40, 0, gpu)
    assert data["occupancy"]["occupancy"] == {name: getattr(expected, name) for name in vars(expected)}
    most = data["occupancy"]["max_registers_at_this_occupancy"]
    assert occupancy(32, most, 0, gpu).blocks == expected.blocks
    assert occupancy(32, most + 1, 0, gpu).blocks < expected.blocks
    assert (data["time"] is None) == (not available())
    assert data["time"] is None or data["time"]["microseconds"] > 0
    assert data["time"] is None or sum(data["time"]["waits"].values()) == pytest.approx(1)


def test_the_text_has_every_part(told):
    """The lines with their counts, the traffic, the occupancy, and that registers are not known."""
    status, out, _ = told("double", *DOUBLE, "--scalar", "n=100", "--all")

    assert status == 0
    assert out.startswith("--- Launch 1 of 1\ndouble: grid 4, block 32")
    compiled = (
        r"  compiled: \d+ registers a thread, no spills, .*µs on NVIDIA H200 by the model .*\n" if available() else ""
    )
    assert re.search(rf"\ndouble \[4, 32\]  RIGHT  no findings\n{compiled}1 RIGHT; no GPU was used\.", out)
    assert re.search(r"^ *9 +300 +12 +39 +out\[i\] = x\[i\] \+ x\[i\]$", out, re.MULTILINE)
    assert re.search(r"^ *9 +global +x +load +200 +8 +26 +– +–$", out, re.MULTILINE)
    assert ("how many the kernel takes is known once it is compiled" in out) == (not available())


def test_the_registers_are_the_compilers():
    """Those that the driver reported for this rung; from machine code, with the blocks that fit and a time."""
    recorded = recording("ladder").result("naive")
    A, B, C = (np.ones((64, 64), np.float32) for _ in "ABC")
    launch = profile(rung("naive").make(block_width=32), 2, (32, 32), A, B, C)

    told = f"{recorded['registers']} registers a thread, no spills, {recorded['blocks_per_multiprocessor']} blocks"
    assert launch.compiled.startswith(told) and launch.compiled.endswith(
        " µs on NVIDIA H200 by the model (± 12% for products)"
    )
    assert launch.loop.code.spilled_bytes == recorded["local_bytes"] == 0
    assert launch.loop.counts["multiply-add"] == 4 and launch.loop.counts["global memory"] == 8


def test_the_inner_loop_is_told_or_how_to_get_it(told):
    """Before the verdict; a kernel of one's own has machine code only where there is a compiler."""
    _, out, _ = told("double", *DOUBLE, "--scalar", "n=100", "--machine-code")
    loop, verdict = out.split("\ndouble [4, 32]  RIGHT")
    assert ("  FADD " in loop and "  LDG.E " in loop) if available() else "no machine code is known; `uv sync" in loop
    assert "no GPU was used" in verdict


def test_findings_and_budgets_are_a_status(told):
    """A race fails, a warning only if it is asked for, an allowed kind does not, and a budget met by one less does."""
    status, out, _ = told("reversed_by_a_block", *PAIR)
    assert status == 1 and "reversed_by_a_block [1, 64]  WRONG  race on tile" in out

    status, out, _ = told("accidental", *PAIR)
    assert status == 0 and "accidental [1, 64]  SLOW  line 27: x[i] * 2.5 is computed in float64" in out
    assert told("accidental", *PAIR, "--fail-on", "warning")[0] == 1
    assert told("accidental", *PAIR, "--fail-on", "warning", "--allow", "float64")[0] == 0

    assert told("double", *DOUBLE, "--scalar", "n=100", "--max-sectors", "39")[0] == 0
    status, out, _ = told("double", *DOUBLE, "--scalar", "n=100", "--max-sectors", "38")
    assert status == 1 and "39 sectors, and the budget is 38" in out


def test_a_loop_without_end(told):
    """Its line is named, and what is not known is said."""
    status, out, _ = told("endless", *ENDLESS, "--max-steps", "500")

    assert status == 1
    assert "WRONG  line 32" in out
    out = told("endless", *ENDLESS, "--max-steps", "500", "--all")[1]
    assert "There is no stepper, and no time: the launch did not end." in out


def test_a_file_that_needs_a_gpu(told):
    """A signature compiles nothing, a launch and a missing package are left out, and stdout has JSON alone."""
    status, out, err = told("eager", *PAIR, "--json")

    assert status == 0 and json.loads(out)["totals"]["accesses"] == 128
    assert (
        "left out: line 2, ModuleNotFoundError: No module named 'not_installed'; line 69, " in err and "imported" in err
    )
    assert json.loads(told("last", *ENDLESS, "--json")[1])["totals"]["accesses"] == 1
    assert "1\n" in told("says", *ENDLESS, "--block", "2", "--json")[2]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("import not_installed", "ModuleNotFoundError"),
        ("one[1, 1](None)", "needs a GPU"),
        ("sys.exit(3)", "SystemExit"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_file_ends_at_the_first_statement_that_fails(tmp_path, capsys, statement, said):
    """Nothing after it runs. A kernel before it is profiled, and one after it is not there: the line is told."""
    kernels = [f"@cuda.jit\ndef {name}(x):\n    x[0] = 1\n" for name in ("one", "two")]
    path, never = tmp_path / "kernels.py", tmp_path / "never"
    rest = f"open({str(never)!r}, 'w')\n"
    path.write_text(f"import sys\nfrom numba import cuda\n{kernels[0]}{statement}\n{rest}{kernels[1]}", "utf-8")

    assert main(["profile", f"{path}:one", *ENDLESS]) == 0
    out, err = capsys.readouterr()
    assert "RIGHT" in out and "line 6" in err and said in err
    assert main(["profile", f"{path}:two", *ENDLESS]) == 2
    err = capsys.readouterr().err
    assert "no 'two'" in err and "line 6" in err and said in err
    assert not never.exists()


def test_sys_exit_ends_a_file_whose_failing_statements_are_left_out(tmp_path, capsys):
    path, never = tmp_path / "kernels.py", tmp_path / "never"
    path.write_text(f"import sys, gone\nimport sys\nsys.exit('usage')\nopen({str(never)!r}, 'w')\n", "utf-8")

    assert main(["profile", "--skip-failing", f"{path}:kernel", *ENDLESS]) == 2
    assert "line 3, SystemExit: usage" in capsys.readouterr().err and not never.exists()


def test_a_function_of_the_file_makes_the_launch(told):
    """As it does for arrays that no words describe."""
    status, out, _ = told("double", "--launch", "launch", "--json")

    assert status == 0 and json.loads(out)["totals"]["accesses"] == 150


def test_many_launches(told):
    """A kernel that holds for all sizes, and the smallest launch that fails, which is profiled."""
    status, out, _ = told("eager", "--check-all", "of_size", "--launches", "4")
    assert status == 1 and "WRONG  fails for n=33 (" in out and "out[32] holds 0.0, and 32.0 is right" in out

    status, out, _ = told("unguarded", "--check-all", "of_size", "--json")
    data = json.loads(out)
    assert data["checked"]["sizes"] == {"n": 0} and "out-of-bounds" in data["checked"]["reason"]
    assert status == 1 and data["grid"] == [1, 1, 1] and data["failures"][0].startswith("fails for n=0 (unguarded: ")
    assert {finding["kind"] for finding in data["findings"]} == {"out-of-bounds"}


def test_the_page_lives_alone(told, tmp_path):
    """One file, with the kernel's text, the finding, and a place for the stepper; nothing is loaded."""
    page = tmp_path / "launch.html"
    assert told("reversed_by_a_block", *PAIR, "--html", str(page))[0] == 1
    text = page.read_text(encoding="utf-8")

    assert text.count('<script type="application/json" class="tile-by-tile-state"') == 1
    assert "<h2>reversed_by_a_block [1, 64]: WRONG</h2>" in text
    assert "tile[63 - i]" in text and "put cuda.syncthreads() between lines 21 and 22" in text
    assert "of tile-by-tile" in text
    assert not re.search(r'(?:src|href)="https?:', text)


def test_a_launch_too_large_to_trace(told):
    """All of it is counted; the stepper takes as many blocks as it can, or says why there is none."""
    data = json.loads(told("long", "--grid", "64", "--block", "1", "--array", "x=zeros:int64:64", "--json")[1])
    assert data["totals"]["accesses"] == 64
    assert data["notes"][0] == "The stepper and the model take a launch of 2 of the 64 blocks."

    large = [f"x=ones:float32:{2**22}" if word.startswith("x=") else word for word in DOUBLE]
    data = json.loads(told("double", *large, "--scalar", "n=100", "--json")[1])
    assert data["totals"]["accesses"] == 300
    assert re.match("There is no stepper, and no time: The arrays of this launch have", data["notes"][0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["gone.py:double"], "There is no file gone.py."),
        (["gone.py"], "There is no file gone.py."),
        ([":double"], "Name a file and the kernel in it, as my_kernel.py:kernel, not ':double'."),
        (["{}:nothing", *DOUBLE], "has no 'nothing'; its kernels are double, eager, .*line 69, which needs a GPU"),
        (["{}:LIMIT", *DOUBLE], "'LIMIT' in .* is no kernel .int.; its kernels are double, eager"),
        (["{}:helper", *PAIR, "--array", "x=ones:float32:1"], "--array x=… is given twice"),
        (["{}:helper", "--grid", "1", "--block", "1", "--scalar", "x=1"], "helper is a device function"),
        (["{}:lists", *ENDLESS], "line 41: the simulator does not run sorted"),
        (["{}:double", "--block", "32"], "Give the launch a --grid, as --grid 4,4."),
        (["{}:double", "--grid", "0", "--block", "32"], "The grid is 0; its numbers are 1 or more."),
        (["{}:double", "--grid", "4x4", "--block", "32"], "A number is missing in the grid: '4x4' is none."),
        (["{}:double", *DOUBLE], "double also takes n; add --array n=.* or --scalar n=64"),
        (["{}:double", *DOUBLE, "--scalar", "m=1"], "no parameter 'm'; its parameters are x, out, n"),
        (["{}:double", *DOUBLE, "--scalar", "x=1"], "x is given twice, as an array and as a scalar"),
        (["{}:double", *DOUBLE, "--scalar", "n"], "--scalar takes NAME=…, with a parameter of the kernel, not 'n'"),
        (["{}:double", *DOUBLE, "--scalar", "n=many"], "Scalar n is 'many'; write a number"),
        (["{}:double", *DOUBLE, "--scalar", "n=int32:1.5"], "Scalar n is 1.5, which is no int32."),
        (["{}:double", *DOUBLE, "--scalar", "n=int8:300"], "Scalar n is 300, which is no int8."),
        (["{}:double", *DOUBLE, "--array", "n=nothing:float32:4"], "Array n is 'nothing'; choose from random, zeros"),
        (["{}:double", *DOUBLE, "--array", "n=zeros:float31:4"], "Array n is of 'float31'; choose from bool, int8"),
        (["{}:double", *DOUBLE, "--array", "n=zeros:float32"], "missing in the shape of array n: '' is none"),
        (["{}:double", *DOUBLE, "--array", "n=zeros:float32:-1"], "The shape of array n is -1; its numbers are 0 or"),
        (["{}:double", *DOUBLE, "--array", "n=zeros:float32:99999,99999"], "Array n would take 40 GB"),
        (["{}:double", *DOUBLE, "--array", "n=random:int8:4:0..300"], "The range 0..300 of array n does not fit"),
        (["{}:double", *DOUBLE, "--array", "n=random:int8:4:5..1"], "write the least number first"),
        (["{}:double", *DOUBLE, "--array", "n=random:int8:4:C"], "Array n ends in 'C'"),
        (["{}:double", *DOUBLE, "--array", "n=file:gone.npy"], "Array n cannot be read from 'gone.npy'"),
        (["{}:double", *DOUBLE, "--scalar", "n=1", "--registers", "300"], "a thread has 1 to 255 registers, not 300"),
        (["{}:double", *DOUBLE, "--scalar", "n=1", "--html", "gone/page.html"], "gone.page.html: No such file"),
        (["{}:double", "--launch", "launch", "--grid", "1"], "--launch gives grid, block and arguments"),
        (["{}:double", "--check-all"], "cannot be guessed; give check_all a function"),
        (["{}:double", "--check-all", "LIMIT"], "'LIMIT' in .* is no function of sizes"),
        (["{}:double", "--check-all", "of_size", "--grid", "1"], "--check-all gives grid, block and arguments"),
        (["{}:double", "--check-all", "of_size", "--launches", "0"], "--launches is 0; it is 1 or more"),
        (
            ["{}:double", "--launch", "of_size"],
            r"must return .* arguments; it ended with TypeError: of_size\(\) missing",
        ),
        (["{}:double", *DOUBLE, "--scalar", "n=1", "--seed", "-1"], "--seed is -1; it is 0 or more"),
        (["{}:double", "--launch", "LIMIT"], r"LIMIT\(\) must return grid, block and a tuple of arguments"),
    ],
)
def test_wrong_words(file, capsys, options, message):
    """One sentence each, and the status 2."""
    status = main(["profile", "--skip-failing", *(option.format(file) for option in options)])
    said = capsys.readouterr().err.splitlines()[-1]

    assert status == 2
    assert re.search(message, said), said


def test_a_file_that_is_no_python(tmp_path, capsys):
    """With its line."""
    path = tmp_path / "half.py"
    path.write_text("def kernel(x:\n", encoding="utf-8")

    assert main(["profile", f"{path}:kernel"]) == 2
    assert "half.py, line 1, is not Python" in capsys.readouterr().err


def test_arrays_of_words(tmp_path):
    """Of each kind, order, dtype and range; and of a file, as np.save wrote it."""
    from course_lib.machine.profile.arguments import DTYPES, array, scalar

    rng = np.random.default_rng(0)
    for dtype in DTYPES:
        found = array("A", f"random:{dtype}:30,20:F", rng)
        assert (found.dtype.name, found.shape, found.flags.f_contiguous) == (dtype, (30, 20), True)
        assert len(np.unique(found)) > 1
        assert array("A", f"ones:{dtype}:3", rng).sum() == (3 if dtype != "bool" else True + True + True)
    bounded = array("A", "random:int32:1000:-2..3", rng)
    assert (bounded.min(), bounded.max()) == (-2, 3)
    assert array("A", "range:int64:2,3", rng).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert array("A", "zeros:float32:0,4", rng).shape == (0, 4)
    assert (type(scalar("n", "4")), type(scalar("n", "1.0")), scalar("n", "False")) == (int, float, False)
    assert scalar("n", "float32:0.1") == np.float32(0.1)
    np.save(tmp_path / "data.npy", np.arange(6).reshape(2, 3))
    assert array("A", f"file:{tmp_path / 'data.npy'}", rng).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.nightly
def test_the_time_of_a_recorded_launch():
    """The L2 cache of an H200 holds 512×512 matrices: the model is within a tenth of what was measured there."""
    recorded = recording("series").result("naive", N=512)
    A, B, C = (np.ones((512, 512), np.float32) for _ in "ABC")
    launch = profile(
        rung("naive").make(block_width=32),
        recorded["grid"],
        recorded["block"],
        A,
        B,
        C,
    )

    assert launch.residency.occupancy.share == recorded["occupancy_percent"] / 100
    assert launch.time.microseconds / 1000 == pytest.approx(np.median(recorded["milliseconds"]), rel=0.1)


def test_a_file_of_a_package(tmp_path, capsys):
    """Relative imports work without the package's __init__, and the file sees its own arguments alone."""
    folder = tmp_path / "outer_package" / "inner"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise RuntimeError('needs a GPU')")
    (folder / "__init__.py").write_text("")
    (folder / "helpers.py").write_text(
        "from numba import cuda\n@cuda.jit(device=True)\ndef twice(v):\n    return 2 * v\n"
    )
    text = (
        "import sys\nfrom numba import cuda\nfrom .helpers import twice\nfrom ..inner.helpers import twice as again\n"
    )
    text += "assert sys.argv[1:] == ['-own']\n@cuda.jit\ndef kernel(x):\n    x[cuda.grid(1)] = twice(x[cuda.grid(1)])\n"
    (folder / "kernels.py").write_text(text)
    options = ["--grid", "1", "--block", "4", "--array", "x=ones:int32:4"]
    assert main(["profile", f"{folder / 'kernels.py'}:kernel", *options, "--", "-own"]) == 0
    out, err = capsys.readouterr()
    assert "RIGHT" in out and "left out" not in err


def test_a_function_of_the_file_imports_from_a_folder_that_the_file_added(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.path", [*sys.path])
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "sizes_of_a_launch.py").write_text("SIZE = 32\n")
    text = "import sys, numpy as np\nfrom numba import cuda\nsys.path.append(__file__[: -len('kernels.py')] + 'lib')\n"
    text += "@cuda.jit\ndef kernel(x):\n    x[0] = 1\ndef launch():\n    from sizes_of_a_launch import SIZE\n"
    (tmp_path / "kernels.py").write_text(text + "    return 1, 1, (np.ones(SIZE, np.float32),)\n")
    assert main(["profile", f"{tmp_path / 'kernels.py'}:kernel", "--launch", "launch"]) == 0
    assert str(tmp_path) not in sys.path
