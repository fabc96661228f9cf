"""Repairs are right or absent: for well_known_bugs kernels in shapes of their own, and for every kernel with a bug."""

import ast
import re

import kernels_with_bugs as corpus
import numpy as np
import pytest
from machine.profile import well_known_bugs
from nightly import every
from numba import cuda

from course_lib import simulate
from course_lib.machine.profile import profile
from course_lib.machine.profile.costs import costs
from course_lib.machine.profile.kernel_files import load
from course_lib.machine.profile.launch_handler import ProfilingHandler
from course_lib.machine.profile.repairs import repair_of
from course_lib.machine.programs.launches import Launches
from course_lib.machine.programs.stand_ins import without_device
from course_lib.machine.simulated_launch import simulated
from course_lib.simulator.edits import edited
from course_lib.simulator.repairs.uniform_control_flow import uniform_bodies
from course_lib.simulator.testing import differs


def repaired(kernel, grid, block, arguments, stream=0, shared_bytes=0):
    """Return the repair of a launch, or None."""
    launch = simulated(kernel, grid, block, arguments, shared_bytes=shared_bytes)
    return repair_of(launch, costs(launch.run))


def profiled(kernel):
    """Return the profile of one of the well_known_bugs."""
    grid, block, arguments, _ = well_known_bugs.KERNELS[kernel][1](2, np.random.default_rng(1))
    return profile(kernel, grid, block, *arguments)


@pytest.mark.parametrize("kernel", well_known_bugs.KERNELS, ids=lambda kernel: kernel.__name__)
def test_the_advice_for_twelve_kernels_is_right_or_absent(kernel):
    """The expected rule, and the repaired kernel has NumPy's values and no findings for other sizes and values, too."""
    rules, launch = well_known_bugs.KERNELS[kernel]
    found = repaired(kernel, *launch(2, np.random.default_rng(1))[:3])
    assert sorted({change.id for change in found.changes} if found else []) == rules
    for n in (1, 3) if found else ():
        grid, block, arguments, right = launch(n, np.random.default_rng(n))
        own = [np.copy(value) if np.ndim(value) else value for value in arguments]
        run = simulate(found.function, strict=False, schedule="reversed")[grid, block](*own)
        assert run.errors == () and not differs(own[-1], right(*arguments)).any()


@pytest.mark.parametrize("name", every(3, corpus.NAMES))
def test_the_advice_for_every_kernel_with_a_bug_is_right_or_absent(name):
    """The repaired kernel gives NumPy's values in the launch of its twin, and breaks no rule."""
    pair = corpus.load(name)
    grid, block, *more = pair.launch("bug")
    found = repaired(pair.bug, grid, block, pair.arguments(), *more)
    if found:
        after = pair.arguments()
        run = simulate(found.function, strict=False)[pair.launch("twin")](*after)
        assert (run.errors, pair.wrong(after)) == ((), [])


@pytest.mark.parametrize("name", every(3, corpus.NAMES))
def test_nothing_is_advised_for_a_kernel_that_is_right(name):
    """No twin has a repair of a finding, and what a repair saves is not paid for by another kind of traffic."""
    pair = corpus.load(name)
    grid, block, *more = pair.launch("twin")
    found = repaired(pair.twin, grid, block, pair.arguments(), *more)
    assert found is None or {change.id for change in found.changes} <= {"padded-tile", "exchanged-x-and-y"}


def test_the_verdict_names_two_warps_and_their_iterations():
    """Of all pairs of a race the first of two warps, which nobody disputes, in neighbouring iterations."""
    said = profiled(well_known_bugs.tree_sum).verdict()
    lines = said.text("tree_sum [2, 256]")

    assert "WRONG  race on s, between two iterations of the loop in line 18" in lines[0]
    (_, text, first), (_, _, second) = (line for line in said.lines if line[2])
    assert text.strip() == "s[t] += s[t + step]"
    assert re.fullmatch(r"thread \d+ \(warp [1-3]\) writes s\[\d+\] in iteration 1", first)
    assert re.fullmatch(r"thread \d+ \(warp 0\) reads s\[\d+\] in iteration 2", second)
    assert "  repair: put cuda.syncthreads() after line 21, at the end of the body of the loop in line 18" in lines
    assert max(map(len, lines)) <= 120


def test_one_iteration_is_told_from_two():
    """A scan that reads what others write in the same step."""
    assert "within one iteration of the loop in line 42" in profiled(well_known_bugs.running_sum).verdict().says


def test_a_barrier_may_stand_where_all_threads_pass():
    """Not in an if or a loop that depends on the thread or on memory, and nowhere if some threads return before."""
    text = """
def kernel(x, n):
    t = cuda.threadIdx.x
    step = cuda.blockDim.x // 2
    while step > 0:
        if t < step:
            a = 1
        step //= 2
    for i in range(t, n):
        b = 1
    for j in range(x.shape[0]):
        if j % 2 == 0:
            continue
    m = 0
    if x[0] > 1:
        m = 1
    if m == 1:
        c = 1
"""
    tree = ast.parse(text).body[0]
    assert [body[0].lineno for body in uniform_bodies(tree)] == [3, 6]
    assert uniform_bodies(ast.parse(text + "    if t > n:\n        return\n").body[0]) == []


def test_the_changed_tree_is_compiled_and_no_text_of_it():
    """Text in the format of an f-string may become code when the tree is written and read again."""
    tree = ast.parse("def kernel(x):\n    return f'{x:text}'").body[0]
    tree.body[0].value.values[0].format_spec.values[0].value = "{exploit()}"
    again = ast.parse(ast.unparse(tree))
    assert "exploit" in {node.id for node in ast.walk(again) if isinstance(node, ast.Name)}

    made = edited(lambda x: x, tree, ((tree.body[0].value.values[0].value, ast.Constant(1)),), [], {})
    assert made.__code__.co_names == ()


@cuda.jit
def mean_of_rows(A, out):
    i = cuda.grid(1)
    total = 0.0
    for k in range(A.shape[1]):
        total += A[i, k] / 2
    out[i] = total / 5


def test_constants_far_from_the_line_are_found():
    """The 0.0 with which a sum begins, and whole numbers that make quotients float64; the verdict is on that line."""
    found = profile(mean_of_rows, 1, 32, np.ones((32, 10), np.float32), np.zeros(32, np.float32))

    lines = ", ".join(str(mean_of_rows.py_func.__code__.co_firstlineno + n) for n in (3, 5, 6))
    assert found.repair.text == f"write np.float32(0.0) and np.float32(2) and np.float32(5) in lines {lines}"
    assert found.verdict().says.startswith(f"line {found.repair.problem.line}: ")
    out = np.zeros(32, np.float32)
    run = simulate(found.repair.function)[1, 32](np.ones((32, 10), np.float32), out)
    assert out.tolist() == [1] * 32 and run.findings == ()


def test_the_iterations_of_two_blocks_are_not_compared():
    """They have nothing in common."""

    @cuda.jit
    def kernel(x, out):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            out[x[i] % 4] += 1

    said = profile(kernel, 2, 32, np.arange(200), np.zeros(4, np.int64)).verdict()
    assert said.says == "race on out between two blocks: nothing orders the two accesses"
    assert "of block 1" in said.lines[0][2] + said.lines[1][2]


def test_the_fields_of_records_are_no_cost():
    """They are neighbours in memory, as the parts of the states of numba's random numbers."""

    @cuda.jit
    def kernel(pairs, out):
        i = cuda.grid(1)
        out[i] = pairs[i].a + pairs[i].b

    pairs = np.zeros(64, [("a", np.float32), ("b", np.float32)])
    assert profile(kernel, 1, 64, pairs, np.zeros(64, np.float32)).verdict().word == "RIGHT"


def test_a_launch_that_takes_long_is_not_repeated():
    """Then the profile says so."""
    grid, block, arguments, _ = well_known_bugs.KERNELS[well_known_bugs.decay][1](2, np.random.default_rng(1))
    found = profile(well_known_bugs.decay, grid, block, *arguments, repair_seconds=0)
    assert found.repair is None and found.notes[-1].startswith("No repair was tried")


ADD = "@cuda.jit\ndef kernel(x):\n    i = cuda.grid(1)\n    x[i] = x[i] + 1\n"
SHADOWED = ADD.replace("i = cuda", "np = cuda.blockDim.x\n    i = cuda").replace("+ 1", "+ np")
LATER = "kernel[1, 32](np.zeros(32, np.float32))\n"
#: What a script has before its launch, and what may be written in its kernel for float32; "" for no advice.
NAMES = {
    "a loop's variable": (f"{ADD}for t in (np.float32, np.int32):\n    kernel[1, 32](np.zeros(32, t))\n", "np.float32"),
    "a loop's variable alone": (
        f"import numpy\nfor float32, np in [(np.float32, np)]:\n    pass\n{ADD}{LATER}",
        "numpy.float32",
    ),
    "a name that is bound again": (f"T = np.float32\n{ADD}{LATER}T = np.float64\n", "np.float32"),
    "a name that a function binds": (
        f"T = np.float32\ndef other():\n    global T\n    T = np.float64\n{ADD}{LATER}",
        "np.float32",
    ),
    "a name that a kernel's variable hides": (f"import numpy\n{SHADOWED}{LATER}", "numpy.float32"),
    "a parameter of a factory": (
        "def made(t):\n    @cuda.jit\n    def kernel(x):\n        x[cuda.grid(1)] = t(x[cuda.grid(1)]) + 1\n"
        "    return kernel\nfor t in (np.float32, np.float64):\n    made(t)[1, 32](np.zeros(32, np.float32))\n",
        "np.float32",
    ),
    "an alias": (f"f4 = np.float32\n{ADD}{LATER}", "f4"),
    "a star import that binds a name again, later": (
        "import sys\nfrom types import ModuleType\nsys.modules['wide_types'] = module = ModuleType('wide_types')\n"
        f"module.float32 = np.float64\nfrom numba import float32\n{ADD}{LATER}from wide_types import *\n",
        "np.float32",
    ),
    "a star import of other names": (f"from numba import float32 as f\nfrom colorsys import *\n{ADD}{LATER}", "f"),
    "an import": (f"from numba import float32 as f\n{ADD}{LATER}", "f"),
    "an import in a try": (
        f"try:\n    from numba import float32\nexcept ImportError:\n    raise\n{ADD}{LATER}",
        "float32",
    ),
    "one of two imports": (
        f"try:\n    from nothing import float32\nexcept ImportError:\n    from numba import float32\n{ADD}{LATER}",
        "np.float32",
    ),
    "an import in a function": (
        "def main():\n    from numba import float32 as one\n    @cuda.jit\n    def kernel(x):\n"
        "        x[cuda.grid(1)] = one(2) * x[cuda.grid(1)] + 1\n    kernel[1, 32](np.zeros(32, np.float32))\nmain()\n",
        "one",
    ),
    "a star": (f"from numpy import *\n{ADD}{LATER}", "float32"),
    "no name at all": (f"{ADD}launch = lambda np: {LATER}launch(np)\nnp = 1\n", "float32"),
    "a name that is taken": (f"{ADD}float32 = 2\nlaunch = lambda np: {LATER}launch(np)\nnp = 1\n", ""),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_repair_writes_a_name_whose_value_is_sure(name, tmp_path):
    """Neither a loop's variable nor one that is bound twice or hidden; without one, float32 is to be imported."""
    text, wanted = NAMES[name]
    path = tmp_path / "script.py"
    path.write_text(f"import numpy as np\nfrom numba import cuda\n{text}", encoding="utf-8")
    done = Launches(ProfilingHandler(repair_seconds=100))
    with without_device(done.launch, print):
        assert not load(path).failures
    profiles = [each.verdict for each in done.every]
    repair = next(each.repair for each in profiles if each.verdict().word == "SLOW")
    said = " ".join(change.text for change in repair.changes) if repair else ""
    assert [*re.findall(r"([\w.]+)\(", said)][:1] == [wanted] * bool(wanted)
    assert ("import" in said) == (name == "no name at all")


T = 64


@pytest.mark.parametrize("hidden", [True, False])
def test_a_tile_s_width_is_no_global_that_a_variable_hides(hidden):
    """The global of this name may be another number; then nothing is advised of the tile."""

    @cuda.jit
    def kernel_of_its_own(x, out):
        T = 32
        tile = cuda.shared.array((32, T), np.float32)
        u, v = cuda.threadIdx.y, cuda.threadIdx.x
        tile[u, v] = x[u, v]
        cuda.syncthreads()
        out[u, v] = tile[v, u]

    @cuda.jit
    def kernel_of_the_global(x, out):
        tile = cuda.shared.array((64, T), np.float32)
        u, v = cuda.threadIdx.y, cuda.threadIdx.x
        tile[u, v] = x[u, v]
        cuda.syncthreads()
        out[u, v] = tile[v, u]

    kernel = kernel_of_its_own if hidden else kernel_of_the_global
    found = profile(kernel, 1, (32, 32), np.ones((32, 32), np.float32), np.ones((32, 32), np.float32))
    assert found.verdict().word == "SLOW" and {cost.array for cost in found.slow} == {"tile"}
    assert ("(64, 65)" in found.repair.text) if not hidden else found.repair is None


@pytest.mark.parametrize(
    ("dtype", "width", "threads"),
    [(np.float32, 24, 16), (np.float32, 36, 16), (np.float32, 18, 8), (np.float64, 16, 8)],
)
def test_the_rows_that_a_warp_reads_get_banks_of_their_own(dtype, width, threads):
    """Part of a warp reads a row of a tile, another part the next one, and a few elements more would not help."""

    @cuda.jit
    def smoothed(x, out):
        tile = cuda.shared.array((16, width), dtype)
        i, j = cuda.threadIdx.y, cuda.threadIdx.x
        for k in range(j, width, threads):
            tile[i, k] = x[i, k]
        cuda.syncthreads()
        out[i, j] = tile[i, j] + tile[i, j + 4]

    arguments = np.random.default_rng(width).random((16, width)).astype(dtype), np.zeros((16, threads), dtype)
    found = repaired(smoothed, 1, (threads, 16), arguments)
    assert [change.id for change in found.changes] == ["padded-tile"]
    run = simulate(found.function)[1, (threads, 16)](*arguments)
    assert run.traffic.bank_conflicts == 0
