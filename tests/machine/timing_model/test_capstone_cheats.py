"""Kernels that only seem to be what the capstone asks for: each gets a verdict, or what it is worth."""

from pathlib import Path

import pytest
from nightly import every

from course_lib.exercises.capstone import Attempt, attempt
from course_lib.exercises.capstone_costs import Costs, costs
from course_lib.machine import machine_code
from course_lib.machine.gpu.capstone import kernel_in
from course_lib.machine.timing_model.error_bound import largest_error

compiled = pytest.mark.skipif(not machine_code.available(), reason="the compiler is not installed")

HONEST = """
from numba import cuda, float32

TILE, THREADS = (8, 8), (8, 8)


@cuda.jit
def mine(A, B, C):
    A_tile = cuda.shared.array((8, 8), float32)
    B_tile = cuda.shared.array((8, 8), float32)
    (M, K), N = A.shape, B.shape[1]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * 8 + ty, cuda.blockIdx.x * 8 + tx
    acc = float32(0)
    unused = float32(0)
    for start in range(0, K, 8):
        A_tile[ty, tx] = A[row, start + tx] if row < M and start + tx < K else float32(0)
        B_tile[ty, tx] = B[start + ty, col] if start + ty < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(8):
            acc += A_tile[ty, k] * B_tile[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
"""
STORE = "        C[row, col] = acc\n"
LOADS = HONEST[HONEST.index("        A_tile[ty, tx] =") : HONEST.index("        cuda.syncthreads()\n        for")]
SUMS = "        for k in range(8):\n"
#: The store, of a sum to which another one is added, and a line that adds to that: both have an effect.
ADD = STORE.replace("acc", "acc + min(unused, float32(0))")
MORE = "            unused += A_tile[ty, tx] * B_tile[tx, ty]\n"
LOOP = HONEST[HONEST.index("    for start") : HONEST.index("    if row < M and col < N:\n        C")]


def kernel(tmp_path, *changes):
    text = HONEST
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = tmp_path / "my_kernel.py"
    path.write_text(text, encoding="utf-8")
    return kernel_in(path).make()


@pytest.mark.parametrize(
    "change",
    every(
        2,
        {
            "wrong if 48 divides K": (STORE, STORE.replace("acc", "acc if K % 48 else float32(0)")),
            "sums 200 terms": ("range(0, K, 8)", "range(0, min(K, 200), 8)"),
            "wrong for one block": (STORE, STORE.replace("acc", "acc if cuda.gridDim.x > 1 else float32(0)")),
            "wrong beyond two tiles of rows": (STORE, STORE.replace("acc", "acc if row < 16 else float32(0)")),
            "sums 400 terms": ("range(0, K, 8)", "range(0, min(K, 400), 8)"),
            "sums 400 terms of whole tiles": ("range(0, K, 8)", "range(0, K if M % 8 or K % 8 else min(K, 400), 8)"),
            "reads the first thousand again": ("A[row, start + tx]", "A[row, (start + tx) % 1000]"),
            "half of the terms of a long sum": ("range(0, K, 8)", "range(0, K, 8 if K < 1000 else 16)"),
            "sums 2000 terms": ("range(0, K, 8)", "range(0, min(K, 2000), 8)"),
            "sums 4000 terms": ("range(0, K, 8)", "range(0, min(K, 4000), 8)"),
            "the rest of K by 2048": ("range(0, K, 8)", "range(0, K & 2047, 8)"),
            "stops after 3000 terms": (SUMS, f"        if start >= 3000:\n            break\n{SUMS}"),
            "skips terms after 2000": (
                SUMS,
                f"        if start >= 2000 and start % 16 == 0:\n            continue\n{SUMS}",
            ),
            "stores zeros of a long sum": (STORE, STORE.replace("acc", "acc if K < 2000 else float32(0)")),
            "reads the first 2000 again": ("A[row, start + tx]", "A[row, (start + tx) % 2000]"),
        }.items(),
    ),
    ids=lambda change: change[0],
)
@pytest.mark.parametrize("timed", [pytest.param(True, marks=compiled), False], ids=["machine code", "source"])
def test_a_kernel_that_is_wrong_for_some_sizes_is_wrong(tmp_path, change, timed):
    """With the compiler a long sum is one of the machine code, without it one of the source."""
    result = attempt(kernel(tmp_path, change[1]), (8, 8), (8, 8), keep=False, timed=timed)
    assert not isinstance(result, Attempt) and result.status == "failed"


@pytest.mark.parametrize(
    "change",
    {
        "tiles of float16": (
            "A_tile = cuda.shared.array((8, 8), float32)",
            "A_tile = cuda.shared.array((8, 8), float16)",
        ),
        "a sum in float16": ("            acc += A_tile", "            acc = float32(float16(acc)); acc += A_tile"),
        "fractions of 11 bits": (
            "            acc += A_tile[ty, k] * B_tile[k, tx]",
            "            big = A_tile[ty, k] * float32(8193)\n"
            "            acc += (big - (big - A_tile[ty, k])) * B_tile[k, tx]",
        ),
    }.items(),
    ids=lambda change: change[0],
)
def test_less_than_float32_is_wrong(tmp_path, change):
    """Float16 and TF32 hold 11 bits of a number; errors of 1e-4 of the sum of absolute products."""
    own = kernel(tmp_path, ("import cuda, float32", "import cuda, float32\nfrom numpy import float16"), change[1])
    result = attempt(own, (8, 8), (8, 8), keep=False, timed=False)
    assert not isinstance(result, Attempt) and result.status == "failed"


@pytest.mark.parametrize("seed", every(1, range(3)))
def test_float32_in_another_order_is_right(tmp_path, seed):
    """From the last term of a tile to the first."""
    pairs = [(SUMS, "        for back in range(8):\n            k = 7 - back\n")]
    assert isinstance(attempt(kernel(tmp_path, *pairs), (8, 8), (8, 8), keep=False, seed=seed, timed=False), Attempt)


EARLY = "            unused += A[row, start + 8 + tx] if row < M and start + 8 + tx < K else float32(0)\n"


@pytest.mark.parametrize(
    "changes",
    {
        "a load that nobody needs": [(SUMS, f"{EARLY[4:]}{SUMS}"), (STORE, STORE.replace("acc", "acc + unused * 0"))],
        "loads early, and again": [(SUMS, f"{EARLY[4:]}{SUMS}"), (STORE, ADD)],
        "reads a word while it loads": [(LOADS, f"{LOADS}        unused += A_tile[ty, tx]\n")],
    }.items(),
    ids=lambda change: change[0],
)
def test_two_buffers_are_those_whose_elements_are_needed(tmp_path, changes):
    assert costs(kernel(tmp_path, *changes[1]), (8, 8), (8, 8)).overlap == 0


def test_two_buffers_of_a_kernel_that_loads_ahead_count(tmp_path):
    ahead = LOADS.replace("        A_tile[ty, tx] =", "    a =").replace("        B_tile[ty, tx] =", "    b =")
    later = ahead.replace("    a =", "        a =").replace("    b =", "        b =").replace("start", "(start + 8)")
    stores = "        A_tile[ty, tx] = a\n        B_tile[ty, tx] = b\n"
    loop = ("    for start in range(0, K, 8):\n", ahead.replace("start + ", "") + "    for start in range(0, K, 8):\n")
    own = kernel(tmp_path, loop, (LOADS, stores), (SUMS, later + SUMS))
    assert costs(own, (8, 8), (8, 8)).overlap > 0.9


@compiled
@pytest.mark.parametrize(
    "change, told",
    [
        ((ADD, ADD.replace("acc", "acc if K != 96 else float32(0)")), "wrong for a K of 96"),
        (
            (LOOP, LOOP.replace("K, 8", "K // 16 * 8, 8") + LOOP.replace("range(0,", "range(K // 16 * 8,")),
            "in one loop",
        ),
        ((SUMS, f"        for again in range(8 if M > 999 else 0):\n    {MORE}{SUMS}"), "of 4,096 rows"),
    ],
)
def test_what_is_simulated_is_what_the_large_launch_does(tmp_path, change, told):
    found = costs(kernel(tmp_path, (STORE, ADD), change), (8, 8), (8, 8))
    assert told in found.unknown and found.gflops is None


@compiled
def test_dead_multiply_adds_make_no_kernel_faster(tmp_path):
    plain = costs(kernel(tmp_path), (8, 8), (8, 8)).gflops
    dead = costs(kernel(tmp_path, (SUMS, SUMS + MORE)), (8, 8), (8, 8)).gflops
    slower = costs(kernel(tmp_path, (SUMS, SUMS + MORE), (STORE, ADD)), (8, 8), (8, 8)).gflops
    assert dead < 1.02 * plain and slower < plain


@compiled
def test_results_at_an_index_that_only_the_launch_knows_cost_time(tmp_path):
    """They are in local memory, which has an address, as registers have none."""
    array = ("    acc = float32(0)\n", "    acc = cuda.local.array(2, float32)\n    acc[0] = acc[1] = 0\n")
    sums = ("            acc += A_tile", "            acc[start // 8 & 1] += A_tile")
    found = costs(kernel(tmp_path, array, sums, (STORE, STORE.replace("acc", "acc[0] + acc[1]"))), (8, 8), (8, 8))
    assert found.gflops < costs(kernel(tmp_path), (8, 8), (8, 8)).gflops


@compiled
@pytest.mark.nightly
def test_registers_that_are_spilled_cost_time():
    """16×14 results have fewer loads for a multiplication than 8×8, whose kernels are predicted above 25,000."""
    own = kernel_in(Path(__file__).with_name("capstone_spilled.py"))
    found = costs(own.make(), own.tile(), (8, 8))
    assert found.loads < 0.25 and found.gflops < 15_000 and "spills" in found.advice[0][1]


@compiled
def test_the_machine_code_says_what_to_change(tmp_path):
    """Signed indices cost instructions of addresses; with unsigned ones that advice is gone."""
    signed = costs(kernel(tmp_path), (8, 8), (8, 8)).advice
    assert "uint32(cuda.threadIdx.x)" in signed[0][1]
    fast = Costs(0.05, 0.001, 0.05, 1, wavefronts=0.1, instructions=1, gflops=30_000, compiled=True, advice=signed)
    shown = repr(Attempt("mine", (8, 8), (8, 8), fast))
    assert "Next, by the machine code: the inner loop has" in shown
    assert f"30,000 ± {100 * largest_error():.0f} %" in shown
