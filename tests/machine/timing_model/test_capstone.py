"""The capstone's score: kernels of different quality are in the order of their recorded speeds."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from nightly import at_night
from numba import cuda, float32

from course_lib.exercises import capstone as module
from course_lib.exercises.capstone import (
    BANDS,
    LIMITS,
    MILESTONES,
    NOT_JUDGED,
    OF,
    Attempt,
    Attempts,
    Costs,
    attempt,
    attempts,
    costs,
)
from course_lib.exercises.capstone_costs import INSTRUCTIONS, WAVEFRONTS, room_in_doubt
from course_lib.exercises.grading import grades
from course_lib.exercises.progress import score
from course_lib.kernels import rung
from course_lib.machine import machine_code, measurements
from course_lib.machine.gpu import capstone, command, record
from course_lib.machine.gpu.capstone import kernel_in
from course_lib.machine.gpu.command import main
from course_lib.machine.gpu.device import available
from course_lib.machine.gpu.verification import judge, random_matrices
from course_lib.trace.simulate import simulate

#: Kernels of different quality, all with recorded times, and the milestones that they have reached.
QUALITY = {
    "naive": 0,
    "tiled": 1,
    "outer_product": 2,
    "register_2d": 3,
    "vectorized": 4,
    "software_pipelined": 5,
    "best": 5,
}
RECORDED = {r["rung"]: r for r in measurements.load("ladder").results if "gflops" in r}

#: Kernels that are no rungs, and what a GPU made of them.
TIMED = measurements.load("capstone", capstone.RECORDED)
OWN = capstone.recorded()
#: Those written to differ in quality.
APART = ("transposed", "odd_tile", "four_by_four", "scalar_loads", "vectors", "two_buffers")


@pytest.fixture(autouse=True)
def fresh():
    score.cache_clear()


def tried(name):
    recorded, r = RECORDED[name], rung(name)
    tile, threads = r.tile(**recorded["params"]) or (32, 32), tuple(recorded["block"])
    return Attempt(name, tile, threads, costs(r.make(**recorded["params"]), tile, threads))


@cuda.jit
def narrow(A, B, C):
    """One thread for each element, tiles of 8×8."""
    A_tile = cuda.shared.array((8, 8), float32)
    B_tile = cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * 8 + ty, cuda.blockIdx.x * 8 + tx
    acc = float32(0)
    for start in range(0, A.shape[1], 8):
        A_tile[ty, tx] = A[row, start + tx] if row < A.shape[0] and start + tx < A.shape[1] else float32(0)
        B_tile[ty, tx] = B[start + ty, col] if start + ty < B.shape[0] and col < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(8):
            acc += A_tile[ty, k] * B_tile[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc


@cuda.jit
def unguarded(A, B, C):
    row, col = cuda.blockIdx.y * 8 + cuda.threadIdx.y, cuda.blockIdx.x * 8 + cuda.threadIdx.x
    acc = float32(0)
    for k in range(A.shape[1]):
        acc += A[row, k] * B[k, col]
    C[row, col] = acc


@cuda.jit
def doubled(A, B, C):
    row, col = cuda.blockIdx.y * 8 + cuda.threadIdx.y, cuda.blockIdx.x * 8 + cuda.threadIdx.x
    if row < C.shape[0] and col < C.shape[1]:
        acc = 0.0
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


@cuda.jit
def empty(A, B, C):
    # your code here
    ...


compiled = pytest.mark.skipif(not machine_code.available(), reason="the compiler is not installed")


@compiled
def test_the_order_by_score_is_the_measured_one_of_two_kernels():
    widths = measurements.load("tiles")
    slow = widths.result("naive", params={"block_width": 8})["gflops"]
    assert slow < widths.result("tiled", params={"tile_width": 8})["gflops"]
    assert tried("naive").score < attempt(narrow, (8, 8), (8, 8)).score


@pytest.mark.nightly
def test_the_order_by_score_is_the_order_that_was_measured():
    scores = {name: tried(name) for name in QUALITY}
    assert sorted(QUALITY, key=lambda name: RECORDED[name]["gflops"]) == list(QUALITY)
    points = [scores[name].score for name in QUALITY]
    assert points == sorted(set(points)), dict(zip(QUALITY, points, strict=True))
    assert {name: scores[name].milestones for name in QUALITY} == QUALITY
    assert scores["best"].score == OF
    for name, found in scores.items():  # Nsight Compute's sectors, as far as whole tiles tell
        (counted,) = (c for c in measurements.load("counters").results if (c["rung"], c.get("M")) == (name, 4096))
        assert found.costs.sectors == pytest.approx(counted["global_load_sectors"] / (4096**3 / 32), rel=0.02)
        assert found.costs.instructions == pytest.approx(counted["instructions"] / (4096**3 / 32), rel=0.07) or (
            name == "naive"
        )
        assert found.costs.gflops == pytest.approx(RECORDED[name]["gflops"], rel=0.25)


@pytest.mark.parametrize("name", [name if name == "odd_tile" else at_night(name) for name in OWN])
def test_a_kernel_written_for_the_test_is_right_on_ragged_sizes(name):
    """With NumPy's product in float64."""
    own = OWN[name]
    for M, N, K in ((131, 70, 37), (5, 258, 64)):
        A, B, C = random_matrices(M, N, K, seed=M)
        grid, block = own.launch(M, N, K)
        simulate(own.make())[grid, block](A, B, C)
        assert judge(C, A.astype(np.float64) @ B.astype(np.float64)).correct


@pytest.mark.nightly
@compiled
def test_the_order_by_score_of_other_kernels_is_the_order_that_was_measured():
    """A student's kernel is no rung; some of these are bad on purpose. A point is a step of speed: a smaller one may
    bring none."""
    points = {}
    for name in APART:
        own, timed = OWN[name], TIMED.result(name)
        tile, threads = own.tile(), tuple(timed["block"])
        points[name] = Attempt(name, tile, threads, costs(own.make(), tile, threads)).score
    speeds = {name: TIMED.result(name)["gflops"] for name in APART}
    found = {name: (points[name], speeds[name]) for name in APART}
    assert sorted(APART, key=found.get) == sorted(APART, key=speeds.get), found
    for slow, fast in pairwise(sorted(APART, key=speeds.get)):
        assert points[slow] < points[fast] or speeds[fast] < speeds[slow] * LIMITS[1] / LIMITS[0], found


@compiled
@pytest.mark.nightly
def test_equal_machine_code_has_equal_points(tmp_path):
    """4×4 results, read for each product or once into variables: the compiler makes the same of both."""
    found = []
    for text in (FOUR_BY_FOUR, ONCE):
        path = tmp_path / f"{len(found)}.py"
        path.write_text(text, encoding="utf-8")
        own = kernel_in(path)
        found.append(attempt(own.make(), own.tile(), (16, 16), keep=False))
    plain, once = found
    assert plain.costs == once.costs and plain.score == once.score > 9
    assert plain.milestones == once.milestones == 2


MADE = {"wavefronts": 1.0, "reads": 0.5, "instructions": 3.0, "compiled": True}


def test_points_follow_the_speed():
    """A kernel 1.7 times as fast has more points, whatever its counts are."""
    speeds = np.geomspace(1_200, 50_000, 60)
    scores = [Attempt("mine", (64, 64), (16, 16), Costs(0.1, 0.1, 0.5, 0, gflops=s, **MADE)).score for s in speeds]
    faster = [Attempt("mine", (8, 8), (8, 8), Costs(9, 9, 2, 0, gflops=1.7 * s, **MADE)).score for s in speeds]
    assert scores == sorted(scores) and min(scores) >= 1
    assert all(more > less or less >= OF - 2 for less, more in zip(scores, faster, strict=True))
    assert (len(LIMITS), LIMITS[0], round(LIMITS[-1])) == (OF, 1_000, 44_000)


def test_what_is_next_is_said_of_the_cost_that_is_furthest_behind():
    conflicts = Costs(0.25, 0.0156, 1, 0, wavefronts=9, reads=1, instructions=3.7, gflops=2289, compiled=True)
    found = Attempt("conflicts", (32, 32), (16, 16), replace(conflicts, advice=(("", "more"), (WAVEFRONTS, "pad"))))
    assert [band.kept(found.costs) for band in BANDS] == [2, 0, 2, 1]
    assert "furthest behind: wavefronts of shared memory, 0 of 5 limits.\nNext, by the machine code: pad" in repr(found)
    other = replace(found, costs=replace(found.costs, advice=((INSTRUCTIONS, "unsigned indices"),)))
    assert "Next, 8×8: " in repr(other)


@pytest.mark.parametrize(
    "tile, loads, told",
    [
        ((16, 16), 2.0, "let a thread compute 2×2"),
        ((64, 64), 2.0, "a thread computes 16 elements of C already, but reads elements again"),
        ((64, 64), 0.5, "a thread computes 16 elements of C. Let a thread compute 8×8"),
        ((128, 128), 0.5, "a thread computes 64 elements of C already"),
    ],
)
def test_the_hint_knows_how_many_results_a_thread_computes(tile, loads, told):
    found = Attempt("mine", tile, (16, 16), Costs(0.25, 0.01, loads, 0, unknown="it was not compiled"))
    assert told in repr(found) and "joins" not in repr(found)
    joined = replace(found.costs, wavefronts=1, reads=0.38, instructions=3, gflops=12_000, compiled=True)
    assert ("0.38 are left" in repr(replace(found, costs=joined))) == ("already" in told and loads == 2)


def test_without_machine_code_the_points_are_not_judged():
    """Neither are the costs that it has; the milestones are."""
    found = Attempt("mine", (64, 64), (16, 16), Costs(0.125, 0.008, 0.5, 0, unknown="there is no compiler"))
    assert (found.score, found.milestones) == (None, 2)
    assert repr(found).count(NOT_JUDGED) == 4 and NOT_JUDGED in found._repr_html_()
    assert Attempts((found.record(),))._cells()[1][4] == NOT_JUDGED


def test_a_kernel_of_8_by_8_is_counted():
    """Against arithmetic: 2·8·8 elements in rows of one sector, 2 reads, 2 barriers of 2 warps, for 512 products."""
    result = attempt(narrow, (8, 8), (8, 8))
    for_a_tile = 8**3 / 32
    assert result.costs.sectors == 16 / for_a_tile
    assert result.costs.loads == 2
    assert result.costs.barriers == 4 / for_a_tile
    assert (result.milestones, result.costs.overlap) == (0, 0)
    assert "Next, tiled:" in repr(result) and "Next, tiled:" in result._repr_html_()
    assert [row["score"] for row in score().attempts] == [result.score]
    assert score().points["capstone"] == (0, len(MILESTONES))
    attempt(narrow, (8, 8), (8, 8))
    assert len(attempts().rows) == 1 and "narrow" in repr(attempts()), "the same attempt is listed once"


def test_a_wrong_kernel_gets_a_verdict_and_no_score():
    wrong = attempt(unguarded, (8, 8), (8, 8))
    assert wrong.status == "failed" and wrong.hint and (wrong.points, wrong.of) == (0, OF)
    assert attempt(empty, (8, 8), (8, 8)).status == "not yet"
    assert score().attempts == [] and "No kernel has passed" in repr(attempts())


def test_what_the_model_does_not_know_is_told():
    """With the grader's remark on float64; counts are there all the same."""
    result = attempt(doubled, (8, 8), (8, 8))
    assert result.costs.gflops is None and result.costs.sectors == 5
    assert "Remark: line" in repr(result) and "Cannot time: " in repr(result)
    assert "unknown" in repr(attempts()) and "unknown" in attempts()._repr_html_()


@pytest.mark.parametrize(
    "tile, threads, told",
    [
        ((8, 8, 8), (8, 8), "tile is"),
        ("8x8", (8, 8), "tile is"),
        ((8, 0), (8, 8), "at least 1"),
        ((8, 8), 64, "threads is"),
        ((8, 8), (64, 32), "at most 1,024"),
        ((4096, 4096), (16, 16), "more elements of C for each than the 255"),
    ],
)
def test_a_launch_that_cannot_be_is_refused(tile, threads, told):
    with pytest.raises(ValueError, match=told):
        attempt(narrow, tile, threads)


def test_a_cost_keeps_limits():
    nothing, perfect = Costs(9, 0, 0, 0), Costs(0, 0.001, 0.06, 1, wavefronts=0.1, instructions=1)
    assert sum(band.kept(nothing) for band in BANDS) == 0
    assert all(band.kept(perfect) == len(band.limits) for band in BANDS)
    assert all(list(band.limits) == sorted(band.limits, reverse=True) for band in BANDS)


@compiled
def test_a_launch_that_no_gpu_can_make_is_refused_at_once(monkeypatch):
    """Of 1,024 threads with 64 results each: nothing is launched."""
    monkeypatch.setattr(module, "grade", None)
    monkeypatch.setattr(module, "costs", None)
    refused = attempt(OWN["eight_by_eight"].make(), (256, 256), (32, 32))
    assert (refused.status, refused.points, refused.of) == ("failed", 0, OF)
    assert refused.hint_id == "no-room" and "1,024 threads" in refused.hint
    assert score().attempts == [] and "capstone" not in score().points


@pytest.mark.parametrize(
    "tile, threads, doubted",
    [
        ((256, 256), (32, 32), True),  # 64 sums each
        ((128, 128), (16, 16), False),
        ((128, 256), (32, 16), False),  # 64 sums each, and as many registers beside them
        ((32, 32), (32, 32), False),
        ((240, 252), (256, 1), False),  # as many as a thread may have
    ],
)
def test_without_the_compiler_a_launch_that_may_be_impossible_has_no_milestone(tile, threads, doubted):
    doubt = room_in_doubt(tile, threads)
    assert bool(doubt) == doubted
    found = Attempt("mine", tile, threads, Costs(0.05, 0.001, 0.05, 1, unknown="no compiler", doubt=doubt))
    assert found.milestones == (0 if doubted else len(MILESTONES))
    shown = repr(found)
    assert (f"{len(MILESTONES)} milestones: {NOT_JUDGED}" in shown, "Next, " in shown) == (doubted, False)
    assert not doubted or f"{threads[0] * threads[1]:,} threads" in shown


@cuda.jit(launch_bounds=64)
def bounded(A, B, C):
    row, col = cuda.blockIdx.y * 16 + cuda.threadIdx.y, cuda.blockIdx.x * 16 + cuda.threadIdx.x
    acc = float32(0)
    for k in range(A.shape[1]):
        acc += A[row, k] * B[k, col]
    C[row, col] = acc


def test_no_repair_is_tried_for_a_launch_that_cannot_start(monkeypatch):
    monkeypatch.setattr(grades.Grading, "_is_right", None)
    refused = attempt(bounded, (16, 16), (16, 16))  # numba's own decorator takes no launch_bounds at all
    assert refused.status == "failed" and refused.hint


FOUR_BY_FOUR = """from numba import cuda, float32

TILE, THREADS = (64, 64), (16, 16)


@cuda.jit
def mine(A, B, C):
    a = cuda.shared.array((64, 16), float32)
    b = cuda.shared.array((16, 64), float32)
    acc = cuda.local.array((4, 4), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * 64, cuda.blockIdx.x * 64
    M, K = A.shape
    N = B.shape[1]
    for i in range(4):
        for j in range(4):
            acc[i, j] = float32(0)
    for start in range(0, K, 16):
        for i in range(4):
            r = top + ty + 16 * i
            a[ty + 16 * i, tx] = A[r, start + tx] if r < M and start + tx < K else float32(0)
            c = left + tx + 16 * i
            b[ty, tx + 16 * i] = B[start + ty, c] if start + ty < K and c < N else float32(0)
        cuda.syncthreads()
        for k in range(16):
            for i in range(4):
                for j in range(4):
                    acc[i, j] += a[ty * 4 + i, k] * b[k, tx * 4 + j]
        cuda.syncthreads()
    for i in range(4):
        for j in range(4):
            r, c = top + ty * 4 + i, left + tx * 4 + j
            if r < M and c < N:
                C[r, c] = acc[i, j]
"""
ONCE = FOUR_BY_FOUR.replace(
    """\
            for i in range(4):
                for j in range(4):
                    acc[i, j] += a[ty * 4 + i, k] * b[k, tx * 4 + j]
""",
    """\
            for i in range(4):
                ra[i] = a[ty * 4 + i, k]
                rb[i] = b[k, tx * 4 + i]
            for i in range(4):
                for j in range(4):
                    acc[i, j] += ra[i] * rb[j]
""",
).replace("    tx, ty =", "    ra, rb = cuda.local.array(4, float32), cuda.local.array(4, float32)\n    tx, ty =")
FILE = "from numba import cuda\n\nTILE, THREADS = (8, 8), (8, 8)\n\n\n@cuda.jit\ndef mine(A, B, C):\n    pass\n"


def test_the_command_takes_the_kernel_of_a_file(tmp_path):
    path = tmp_path / "my_kernel.py"
    path.write_text(FILE, encoding="utf-8")
    own = kernel_in(path)
    assert own.launch(17, 9, 5) == ((2, 3), (8, 8)) and own.make().__name__ == "mine"


@pytest.mark.parametrize(
    "text, told",
    [
        (None, "is no file"),
        ("", "lacks mine, TILE, THREADS"),
        ("1 / 0", "cannot be run: ZeroDivisionError"),
        (FILE.replace("(8, 8), (8, 8)", "8, (8, 8)"), "TILE is 8"),
        (FILE.replace("@cuda.jit\n", ""), "is no kernel"),
    ],
)
def test_a_file_that_holds_no_kernel_is_refused(tmp_path, capsys, text, told):
    path = tmp_path / "my_kernel.py"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    assert main(["capstone", str(path)]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.skipif(available(), reason="there is a CUDA GPU")
def test_without_a_gpu_the_command_says_so(tmp_path, capsys):
    path = tmp_path / "my_kernel.py"
    path.write_text(FILE, encoding="utf-8")
    assert main(["capstone", str(path)]) == 2
    assert capsys.readouterr().err.startswith("No CUDA GPU was found")


def test_the_command_records_several_kernels(tmp_path, monkeypatch):
    """Without a GPU here: what is measured is made up, what is written is read again."""
    paths = [tmp_path / "one.py", tmp_path / "two.py"]
    for path in paths:
        path.write_text(FILE, encoding="utf-8")
    monkeypatch.setattr(command, "require", lambda: None)
    monkeypatch.setattr(
        capstone, "beside", lambda own, *_: [{"rung": n, "gflops": 1.0} for n in ("one", "two", "tiled")]
    )
    monkeypatch.setattr(record, "describe", lambda: {"gpu": "made up"})
    assert main(["capstone", *map(str, paths), "--repeats", "3", "--output", str(tmp_path / "folder")]) == 0
    recording = measurements.load("capstone", tmp_path / "folder")
    assert [(result["rung"], result.get("text")) for result in recording.results] == [
        ("one", FILE),
        ("two", FILE),
        ("tiled", None),
    ]
    assert recording.command.startswith("python -m course_lib.gpu capstone ") and "two.py" in recording.command
    assert recording.command.endswith("--size 4096x4096x4096 --repeats 3")
