"""The exercises of the lesson on the model of waiting: busy cycles, bytes in flight, and where prefetching helps."""

from ..grading.exercise import FILL_IN
from ..grading.explain import Explanation
from ..grading.routines import Case, routine

#: In which share of the cycles a scheduler starts an instruction.
BUSY_CYCLES = routine(
    "busy-cycles",
    ("warps", "work", "latency"),
    Case((1, 20, 80), 0.2, "an iteration takes work + latency cycles: here 100."),
    Case((2, 20, 80), 0.4, "each warp adds its own share, so multiply by `warps`."),
    Case((5, 20, 80), 1.0, "five warps with a share of 0.2 each use every cycle."),
    Case((16, 20, 80), 1.0, "no share exceeds 1: take the smaller one, with min."),
    Case((3, 10, 190), 0.15, "work and latency are arguments, on any GPU."),
    Case((1, 7, 0), 1.0, "without a latency a single warp uses every cycle."),
    kind=FILL_IN,
)


#: How many requests must be under way to use all of a bandwidth.
REQUESTS_IN_FLIGHT = routine(
    "requests-in-flight",
    ("cycles", "bytes_per_cycle", "request_bytes"),
    Case((100, 8, 128), 7, "800 bytes are 6.25 requests: round up."),
    Case((100, 128, 128), 100, "one request in each of the cycles."),
    Case((128, 1, 128), 1, "128 bytes are exactly one request, not two."),
    Case((600, 16, 512), 19, "larger requests: divide by request_bytes."),
    Case((1, 1, 128), 1, "a part of a request is a request."),
    kind=FILL_IN,
)


#: Why prefetching gains nothing where few cycles are empty.
WHERE = Explanation(
    name="where-prefetching-pays",
    model="With 64 warps another warp runs while one waits for its load: few cycles are empty, and the instructions "
    "for the second buffer cost time. Where warps wait for global memory and no other part of the multiprocessor "
    "is nearly full, prefetching makes the kernel faster. With few resident warps that is so, because there is often "
    "no other warp to run.",
    ideas=(
        "few cycles are empty, because other warps hide the latency already",
        "prefetching costs instructions of its own",
        "where warps wait for global memory and no other part is nearly full, it gains",
    ),
)


#: The cycle at which a warp is done, with any number of buffers.
MORE_BUFFERS = routine(
    "more-buffers",
    ("pairs", "work", "latency", "buffers"),
    Case((4, 200, 600, 1), 3200, "with one buffer nothing happens at the same time: a pair takes latency + work."),
    Case((4, 200, 600, 2), 2600, "the load of a pair starts when the multiplications of the pair before begin."),
    Case((4, 200, 600, 3), 1600, "pairs 0 and 1 are loaded from cycle 0 on, and pair 2 when pair 0 is multiplied."),
    Case((9, 200, 600, 9), 2400, "no pair but the first waits here. Only one pair is multiplied at a time."),
    Case((10, 50, 600, 4), 2450, "a load starts when the pair buffers - 1 earlier begins: pair 3's at cycle 600."),
    Case((1, 200, 600, 5), 800, "a single pair is loaded, then multiplied, with any number of buffers."),
)

EXERCISES = (BUSY_CYCLES, REQUESTS_IN_FLIGHT, WHERE)
OPTIONAL = (MORE_BUFFERS,)
