"""The exercises of the lesson on waiting: busy cycles, occupancy, and when prefetching pays."""

from ..grading.exercise import FILL_IN
from ..grading.explain import Explanation
from ..grading.routines import Case, routine

#: In which share of the cycles a scheduler starts an instruction.
BUSY_CYCLES = routine(
    "busy-cycles",
    ("warps", "work", "latency"),
    Case((1, 20, 80), 0.2, "an iteration takes work + latency cycles, here 100, and works in 20: the share is 0.2."),
    Case((2, 20, 80), 0.4, "each warp adds its own share, so multiply by `warps`."),
    Case((5, 20, 80), 1.0, "five warps with a share of 0.2 each use every cycle."),
    Case((16, 20, 80), 1.0, "no share exceeds 1: where the formula gives more, the answer is 1, by min(1, …)."),
    Case((3, 10, 190), 0.15, "work and latency are arguments, on any GPU."),
    Case((1, 7, 0), 1.0, "without a latency a single warp uses every cycle."),
    kind=FILL_IN,
)


#: Why prefetching gains little where many warps are resident.
WHERE = Explanation(
    name="where-prefetching-pays",
    model="With 64 warps another warp runs while one waits for its load, so few waits are left to shorten. The path to "
    "shared memory is nearly full, and no kernel can be faster than its busiest part allows. Where warps wait for "
    "global memory, issue slots are empty and no part is nearly full, prefetching gains more: for example with few "
    "resident warps.",
    ideas=(
        "other warps hide the latency already",
        "the busiest part, here the path to shared memory, limits every gain",
        "where warps wait for global memory and no other part is nearly full, it gains",
    ),
    advice="The measurement is right: what else hides the latency where prefetching gains little?",
)


#: The cycle at which a warp is done, with any number of buffers.
MORE_BUFFERS = routine(
    "more-buffers",
    ("pairs", "work", "latency", "buffers"),
    Case((4, 200, 600, 1), 3200, "with one buffer nothing happens at the same time: a pair takes latency + work."),
    Case(
        (4, 200, 600, 2),
        2600,
        "with 2 buffers the load of a pair starts when the multiplications of the pair before begin.",
    ),
    Case((4, 200, 600, 3), 1600, "pairs 0 and 1 are loaded from cycle 0 on, and pair 2 when pair 0 is multiplied."),
    Case(
        (9, 200, 600, 9),
        2400,
        "no pair but the first waits here, and only one is multiplied at a time: a buffer more saves no fixed time. Go "
        "from pair to pair: one begins when the pair before it is done and its own load has arrived.",
    ),
    Case((10, 50, 600, 4), 2450, "a load starts when the pair buffers - 1 earlier begins: pair 3's at cycle 600."),
    Case((1, 200, 600, 5), 800, "a single pair is loaded, then multiplied, with any number of buffers."),
)

RESIDENT = Explanation(
    name="resident",
    model="Many resident warps are one way to hide latency: while one waits, another works. The other way is that a "
    "warp has much independent work of its own. A thread of the fastest kernel keeps 128 results in registers. "
    "While a load is under way it has many multiplications that do not need the value, and it reads little for each. "
    "The registers that hold the results are the reason why so few warps fit.",
    ideas=(
        "occupancy hides latency: other warps work while one waits",
        "a warp can have independent work of its own",
        "the registers hold the many results",
    ),
)

#: The blocks that are resident, by four limits.
BLOCKS_THAT_FIT = routine(
    "blocks-that-fit",
    ("threads", "registers", "shared"),
    Case((256, 16, 0), 8, "the 64 warps are used up first: a block of 256 threads has 8."),
    Case((32, 16, 0), 32, "at most 32 blocks are resident, however small they are."),
    Case((64, 56, 4096), 18, "the registers are used up first: a file holds 9 warps of 32·56, and 4 files hold 36."),
    Case((32, 16, 8192), 25, "shared memory is used up first: each block takes 1 KiB more than it asks for."),
    Case((128, 34, 0), 12, "34·32 registers of a warp are rounded up to a multiple of 256: 1,280."),
    Case((80, 40, 0), 16, "a file holds 12 warps of 32·40 registers, and 4 files 48. 80 threads are 3 whole warps."),
    Case((96, 104, 0), 5, "a warp gets 3,328 registers, all in one file of 16,384: 4 warps a file, 16 in all."),
    Case((288, 176, 0), 0, "a file holds 2 warps of 32·176 registers: 4 files hold 8, and a block has 9."),
)

EXERCISES = (BUSY_CYCLES, WHERE, RESIDENT)
OPTIONAL = (BLOCKS_THAT_FIT, MORE_BUFFERS)
