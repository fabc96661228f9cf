"""Right answers to the exercises on plain functions, in many styles: nothing a student would honestly write is refused.

By exercise: functions of any name, each a text; those of one exercise are parted by a line of dashes.
"""

HONEST = {
    "which-bank": '''
def bank_of(row, col, width):
    """Return the bank of an element."""
    return (row * width + col) & 31
---
BANKS = 32

def bank_of(row: int, col: int, width: int) -> int:
    word = row * width
    word += col
    bank, _ = word % BANKS, None
    return bank
---
def bank_of(row, col, width):
    address = 4 * (row * width + col)  # bytes
    return (address // 4) % 32
---
def bank_of(row, col, width):
    word = row * width + col
    while word >= 32:
        word -= 32
    return word
---
def bank_of(row, col, width):
    return divmod(row * width + col, 32)[1]
---
def bank_of(row, col, width):
    word = lambda r, c: r * width + c
    return int(bin(word(row, col))[2:].zfill(5)[-5:], 2)
---
def bank_of(row, col, width):
    import numpy as np
    return np.mod(np.arange(width * (row + 1) + col + 1), 32)[row * width + col]
---
def bank_of(row, col, width, *, banks=32):
    return (lambda word: word - banks * (word // banks))(row * width + col)
''',
    "free-paddings": """
def free_paddings(T, most):
    count = 0
    for p in range(most + 1):
        banks = set()
        for row in range(T):
            banks.add(row * (T + p) % 32)
        if len(banks) == T:
            count += 1
    return count
---
import math

def free_paddings(T, most):
    return sum(T <= 32 // math.gcd(T + p, 32) for p in range(most + 1))
---
import numpy as np

def free_paddings(T, most):
    found = [p for p in range(0, most + 1) if np.unique(np.arange(T) * (T + p) % 32).size == T]
    return len(found)
---
def free_paddings(T, most):
    def is_free(p):
        seen = [False] * 32
        for i in range(T):
            bank = i * (T + p) % 32
            if seen[bank]:
                return False
            seen[bank] = True
        return True

    return len(list(filter(is_free, range(most + 1))))
---
def free_paddings(T, most):
    total = 0
    p = 0
    while True:
        if p > most:
            break
        counts = {}
        for i in range(T):
            bank = (i * (T + p)) % 32
            counts[bank] = counts.get(bank, 0) + 1
        if max(counts.values()) > 1:
            p += 1
            continue
        total, p = total + 1, p + 1
    return total
---
import numpy as np

def free_paddings(T, most):
    free = 0
    for p in range(most + 1):
        rows = np.zeros(32, dtype=int)
        for i in range(T):
            rows[i * (T + p) % 32] += 1
        free += int(rows.max() == 1)
    return free
---
def free_paddings(T, most):
    return sum(all(a % 32 != b % 32 for n, a in enumerate(rows) for b in rows[:n])
               for rows in ([i * (T + p) for i in range(T)] for p in range(most + 1)))
""",
    "useful-share": """
def useful_share(mix):
    total = 0
    for name in mix:
        total += mix[name]
    return mix["FFMA"] / total
---
def useful_share(mix):
    ffma = mix.get("FFMA", 0)
    others = sum(count for name, count in mix.items() if name != "FFMA")
    return ffma / (ffma + others)
---
import numpy as np

def useful_share(mix):
    return mix['FFMA'] / np.sum(list(mix.values()))
---
def useful_share(mix):
    names, counts = zip(*mix.items())
    return counts[names.index("FFMA")] / sum(counts)
---
def useful_share(mix):
    useful = [v for k, v in mix.items() if k.startswith("FFMA")]
    assert len(useful) == 1, f"there are {len(useful)}"
    return float(useful[0]) / float(sum([*mix.values()]))
---
def useful_share(mix):
    try:
        ffma = mix["FFMA"]
    except KeyError:
        return 0.0
    total = sum(mix.values())
    return round(ffma / total, 12)
""",
    "blocks-that-fit": """
import math

def blocks_that_fit(threads, registers, shared):
    warps = math.ceil(threads / 32)
    per_warp = math.ceil(registers * 32 / 256) * 256
    limits = [
        4 * (65536 // 4 // per_warp) // warps,
        (228 * 1024) // (shared + 1024),
        64 // warps,
        32,
    ]
    return min(limits)
---
def round_up(n, m):
    return (n + m - 1) // m * m

def blocks_that_fit(threads, registers, shared):
    limits = {"blocks": 32}
    warps = round_up(threads, 32) // 32
    limits["warps"] = 2048 // 32 // warps
    limits["registers"] = 4 * (16384 // round_up(32 * registers, 256)) // warps
    limits["shared"] = 228 * 2**10 // (shared + 1024)
    return sorted(limits.values())[0]
""",
    "written-buffer": """
def written_in(iteration, buffers):
    following = iteration + 1
    return following - buffers * (following // buffers)
---
def written_in(iteration, buffers):
    order = list(range(buffers))
    for _ in range(iteration + 1):
        order = order[1:] + order[:1]
    return order[0]
---
def written_in(iteration, buffers):
    now = 0
    for step in range(iteration):
        now = now + 1 if now + 1 < buffers else 0
    return (now + 1) % buffers
---
import itertools

def written_in(iteration, buffers):
    cycle = itertools.cycle(range(buffers))
    for _ in range(iteration + 1):
        next(cycle)
    return next(cycle)
---
import numpy as np

def written_in(iteration, buffers):
    return np.roll(np.arange(buffers), -(iteration + 1))[0]
""",
    "busy-cycles": """
def busy_cycles(warps, work, latency):
    share = work * warps / (work + latency)
    if share > 1:
        return 1
    else:
        return share
---
import numpy as np

def busy_cycles(warps, work, latency):
    return np.minimum(1.0, np.float64(warps) * work / (work + latency))
---
def busy_cycles(warps, work, latency):
    share = warps * work / (work + latency)
    return 1.0 if share >= 1.0 else share
---
def busy_cycles(warps, work, latency):
    period = work + latency
    return sorted([1, warps * work / period])[0]
---
from numpy import clip

def busy_cycles(warps, work, latency):
    return float(clip(warps * work / (work + latency), 0, 1))
""",
    "requests-in-flight": """
from math import ceil

def requests_in_flight(cycles, bytes_per_cycle, request_bytes):
    return ceil(cycles * bytes_per_cycle / request_bytes)
---
import numpy as np

def requests_in_flight(cycles, bytes_per_cycle, request_bytes):
    return int(np.ceil(cycles * bytes_per_cycle / request_bytes))
---
def requests_in_flight(cycles, bytes_per_cycle, request_bytes):
    needed, requests = cycles * bytes_per_cycle, 0
    while needed > 0:
        needed -= request_bytes
        requests += 1
    return requests
---
def requests_in_flight(cycles, bytes_per_cycle, request_bytes):
    whole, rest = divmod(cycles * bytes_per_cycle, request_bytes)
    return whole + bool(rest)
---
def requests_in_flight(cycles, bytes_per_cycle, request_bytes):
    total = cycles * bytes_per_cycle
    return len(range(0, total, request_bytes))
---
def requests_in_flight(cycles, bytes_per_cycle, request_bytes):
    def count(left):
        return 0 if left <= 0 else 1 + count(left - request_bytes * 8) + 7
    total = cycles * bytes_per_cycle
    return sum(1 for start in range(0, total, request_bytes))
""",
    "more-buffers": """
def last_cycle(pairs, work, latency, buffers):
    ends = []
    for i in range(pairs):
        free = ends[-1] if ends else 0
        if buffers == 1:
            start = free + latency
        else:
            loaded = latency if i < buffers - 1 else ends[i - buffers + 1] - work + latency
            start = max(free, loaded)
        ends.append(start + work)
    return ends[-1]
---
def last_cycle(pairs, work, latency, buffers):
    memo = {}

    def begins(i):
        if i in memo:
            return memo[i]
        if buffers == 1:
            memo[i] = latency if i == 0 else begins(i - 1) + work + latency
        else:
            arrives = latency + (begins(i - buffers + 1) if i >= buffers - 1 else 0)
            memo[i] = arrives if i == 0 else max(arrives, begins(i - 1) + work)
        return memo[i]

    return begins(pairs - 1) + work
""",
    "gain": """
def gain(executed_before, busy_before, executed_after, busy_after):
    speed = lambda executed, busy: busy / executed
    return speed(executed_after, busy_after) / speed(executed_before, busy_before)
---
def gain(executed_before, busy_before, executed_after, busy_after):
    def product(*numbers, start=1):
        for number in numbers:
            start *= number
        return start

    return product(executed_before, busy_after) / product(*(busy_before, executed_after))
---
import numpy as np

def gain(executed_before, busy_before, executed_after, busy_after):
    executed, busy = np.array([executed_before, executed_after]), np.array([busy_before, busy_after])
    times = executed / busy
    return times[0] / times[1]
---
def gain(executed_before, busy_before, executed_after, busy_after):
    before, after = [b / e for e, b in ((executed_before, busy_before), (executed_after, busy_after))]
    return after / before
""",
    "fewest-reads": """
def fewest_reads(registers, sets, others):
    best = float("inf")
    for h in (4, 8, 16, 32, 64, 128):
        for w in [4, 8, 16, 32, 64, 128]:
            used = h * w + sets * (h + w) + others
            if used <= registers and (h + w) / (h * w) < best:
                best = (h + w) / (h * w)
    return best
---
import itertools

def fewest_reads(registers, sets, others):
    sides = [1 << n for n in range(2, 8)]
    fitting = [(h, w) for h, w in itertools.product(sides, repeat=2) if h * w + sets * (h + w) + others <= registers]
    h, w = min(fitting, key=lambda shape: 1 / shape[0] + 1 / shape[1])
    return 1 / h + 1 / w
---
import numpy as np

def fewest_reads(registers, sets, others):
    sides = 2 ** np.arange(2, 8)
    h, w = sides[:, None], sides[None, :]
    reads = (h + w) / (h * w)
    return reads[h * w + sets * (h + w) + others <= registers].min()
""",
    "rate": '''
def rate(M, N, K, milliseconds):
    flop = 2 * M * N * K
    seconds = milliseconds * 1e-3
    return flop / seconds * 1e-9
---
def flop_of(M, N, K):
    """Multiplications and additions."""
    return 2 * M * N * K


def rate(M, N, K, milliseconds):
    print(f"{flop_of(M, N, K) / milliseconds / 1e6:,.1f} GFLOP/s of {M}x{N}x{K}")
    return flop_of(M, N, K) / milliseconds / 1e6
---
import numpy as np

def rate(M, N, K, milliseconds):
    return np.prod([2, M, N, K]) / (milliseconds * 10**6)
---
import math

def rate(M: int, N: int, K: int, milliseconds: float = 1.0) -> float:
    assert milliseconds > 0, "a time is positive"
    gflop: float = math.prod((2, M, N, K)) / 1e9
    return gflop / (milliseconds / 1000)
---
def rate(M, N, K, milliseconds):
    if milliseconds <= 0:
        raise ValueError("the time must be positive: {}".format(milliseconds))
    total = 0
    for size in [M]:
        total += 2 * size * N * K
    return total / milliseconds / 1e6
---
from functools import reduce

def rate(M, N, K, milliseconds):
    return reduce(lambda a, b: a * b, [M, N, K], 2) / milliseconds / 1_000_000
''',
    "same-result": """
import numpy as np

def same(C, want):
    if C.shape != want.shape:
        return False
    difference = np.abs(C.astype(np.float64) - want)
    return bool(np.all(difference <= 1e-5 * np.linalg.norm(want)))
---
import numpy as np

def same(C, want):
    try:
        error = np.sqrt(np.sum((C - want) ** 2))
    except ValueError:
        return False
    return C.shape == want.shape and not np.isnan(error) and float(error) <= 1e-5 * float(np.sqrt((want ** 2).sum()))
---
def same(C, want):
    if C.shape != want.shape:
        return False
    largest = max(abs(float(x)) for x in want.flatten())
    for c, w in zip(C.ravel().tolist(), want.ravel().tolist()):
        if not abs(c - w) <= 1e-5 * largest:
            return False
    return True
---
import numpy as np

def same(C, want):
    return C.shape == want.shape and np.allclose(C, want, rtol=0, atol=1e-5 * np.abs(want).max())
---
import numpy as np

def same(C, want):
    if C.ndim != want.ndim or C.size != want.size or C.shape[0] != want.shape[0]:
        return False
    error = np.max(np.abs(C - want)) / np.max(np.abs(want))
    return bool(error < 1e-5) and not np.any(np.isnan(C))
---
import numpy as np

def same(C, want):
    if np.shape(C) != np.shape(want):
        return False
    rows, columns = want.shape
    errors = np.zeros((rows, columns))
    for row in range(rows):
        for col in range(columns):
            errors[row, col] = abs(C[row, col] - want[row, col])
    return (errors <= 1e-5 * np.linalg.norm(want)).all()
""",
    "typical": """
import statistics

def typical(milliseconds, warmups):
    return statistics.median(milliseconds[warmups:])
---
def typical(milliseconds, warmups):
    rest = sorted(milliseconds[warmups:])
    n = len(rest)
    if n % 2 == 1:
        return rest[n // 2]
    return (rest[n // 2 - 1] + rest[n // 2]) / 2
---
from numpy import median

def typical(milliseconds, warmups):
    times = [t for i, t in enumerate(milliseconds) if i >= warmups]
    return median(times)
---
import numpy as np

def typical(milliseconds, warmups):
    return np.percentile(np.asarray(milliseconds)[warmups:], 50)
---
def typical(milliseconds, warmups):
    times = milliseconds.copy()
    for _ in range(warmups):
        times.pop(0)
    times.sort()
    while len(times) > 2:
        times = times[1:-1]
    return sum(times) / len(times)
---
def typical(milliseconds, warmups):
    def middle(values):
        return values[0] if len(values) == 1 else sum(values) / 2 if len(values) == 2 else middle(values[1:-1])

    del milliseconds[:warmups]
    return middle(sorted(milliseconds, reverse=True))
---
import numpy as np

def typical(milliseconds, warmups=0):
    _, *times = [0.0, *milliseconds][warmups:]
    return np.quantile(times, q=0.5)
""",
    "times-as-fast": """
def times_as_fast(a, b):
    ratios = [x / y for x, y in zip(a, b)]
    faster = len([r for r in ratios if r > 1])
    slower = sum(map(lambda r: r < 1, ratios))
    if max(faster, slower) / len(ratios) < 0.9:
        return 1.0
    ratios.sort()
    half, odd = divmod(len(ratios), 2)
    return ratios[half] if odd else (ratios[half - 1] + ratios[half]) / 2
---
import numpy as np

def times_as_fast(a, b):
    ratios = np.divide(a, b)
    share = max(np.count_nonzero(ratios > 1), np.count_nonzero(ratios < 1)) / ratios.size
    return np.where(share >= 0.9, np.median(ratios), 1.0).item()
---
from statistics import median

def times_as_fast(a, b):
    wins = {"a": 0, "b": 0}
    ratios = []
    for i in range(len(a)):
        ratios.append(a[i] / b[i])
        if a[i] > b[i]:
            wins["b"] += 1
        elif a[i] < b[i]:
            wins["a"] += 1
    return median(ratios) if any(10 * w >= 9 * len(a) for w in wins.values()) else 1
""",
    "busy": """
import math

def busy(tiles, at_once):
    waves = math.ceil(tiles / at_once)
    return tiles / (waves * at_once)
---
def busy(tiles, at_once):
    left, waves = tiles, 0
    while left > 0:
        left, waves = left - at_once, waves + 1
    return tiles / waves / at_once
---
def busy(tiles, at_once):
    def waves(left):
        return 0 if left <= 0 else 1 + waves(left - at_once)

    return tiles / (at_once * waves(tiles))
---
def busy(tiles, at_once):
    slots = at_once
    while slots < tiles:
        slots += at_once
    return tiles / slots
""",
    "lane-of": """
def lane_of(row, column):
    group = row if row < 8 else row - 8
    thread = column if column < 4 else column - 4
    return group * 4 + thread
---
def lane_of(row, column):
    lanes = {}
    for lane in range(32):
        q, t = lane // 4, lane % 4
        for r in (q, q + 8):
            for c in (t, t + 4):
                lanes[r, c] = lane
    return lanes[(row, column)]
---
def lane_of(row, column):
    return [lane for lane in range(32) if row in (lane // 4, lane // 4 + 8) and column in (lane % 4, lane % 4 + 4)][0]
---
import numpy as np

def lane_of(row, column):
    lanes = np.tile(np.arange(32).reshape(8, 4), (2, 2))
    return lanes[row, column]
---
def lane_of(row, column):
    return ((row & 7) << 2) | (column & 3)
""",
    "swizzled-place": """
def swizzled_place(row, k):
    piece, inside = divmod(k, 4)
    return row * 32 + (piece ^ (row % 8)) * 4 + inside
---
def swizzled_place(row, k):
    places = [32 * row + 4 * (p ^ (row & 7)) + j for p in range(8) for j in range(4)]
    return places[k]
---
import numpy as np

def swizzled_place(row, k):
    return 32 * row + 4 * np.bitwise_xor(k // 4, row % 8) + k % 4
""",
    "stages": """
def stages(rows, columns, depth, itemsize, shared):
    a = rows * depth * itemsize
    b = columns * depth * itemsize
    count = 0
    while (count + 1) * (a + b) <= shared:
        count += 1
    return count
---
from math import floor

def stages(rows, columns, depth, itemsize, shared):
    return floor(shared / ((rows + columns) * depth * itemsize))
---
def stages(rows, columns, depth, itemsize, shared):
    pair = sum(side * depth * itemsize for side in (rows, columns))
    return max(n for n in range(100) if n * pair <= shared)
""",
    "plan": """
def plan(height, width):
    return 1 / height + 1 / width
---
def plan(height, width):
    loads, products = height + width, height * width
    return loads / products
---
def plan(height, width):
    return sum(1 / side for side in {"h": height, "w": width}.values())
---
import numpy as np

def plan(height, width):
    shape = np.array([height, width], dtype=np.float64)
    return shape.sum() / shape.prod()
---
def plan(height, width):
    match_ = (height, width)
    h, w = map(float, match_)
    return (lambda *sides: sum(sides) / (sides[0] * sides[-1]))(h, w)
""",
}
