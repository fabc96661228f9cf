"""Control flow, memory, warps: values, counts and findings equal those of the reference, thread by thread."""

import numpy as np
from simulator.cases import IMPORTS, Table

RNG = np.random.default_rng(5)
X = RNG.integers(-9, 10, 64).astype(np.int32)
F = (RNG.integers(-40, 40, 64) / 4).astype(np.float32)
M = (RNG.integers(-40, 40, (7, 9)) / 4).astype(np.float32)
A = np.random.default_rng(3).integers(-20, 20, 120)
EDGES = np.array([0, 0.7, -0.7, 127.5, 128, -129, 255, 256.5, 300, 32768, -32769, 70000, 2147483520, 2147483648,
                  -2147483648, 3e9, -3e9, 4294967296, 9.3e18, -9.3e18, 1.9e19, np.inf, -np.inf, np.nan])  # fmt: skip
LARGE = np.random.default_rng(7).random(100) * 2e9
WITH_NAN = np.array([np.nan, 3, np.nan, 5, 2])
LOWEST = np.where(np.arange(40) % 3, -(2**63), 2**63 - 1)

HEADER = f"""{IMPORTS}
T, SHAPE, FULL = 4, (3, 5), 0xFFFFFFFF
WEIGHTS, PRIMES = (3, -1, 2), (2, 3, 5)
PAIRS = ((0, 5), (2, 1), (4, 3))

@cuda.jit(device=True)
def gcd(a, b):
    while b != 0:
        a, b = b, a % b
    return a

@cuda.jit(device=True)
def clipped(value, low, high):
    if value < low:
        return low
    if value > high:
        return high
    return value

@cuda.jit(device=True)
def twice_clipped(value, low):
    return 2 * clipped(value, low, 10)

@cuda.jit(device=True)
def inner(X, k, scale):
    if k < 0:
        return X[0]
    return X[k] * scale

@cuda.jit(device=True)
def outer(X, k):
    total = inner(X, k, 2)
    for r in range(k % 3):
        total += inner(X, r, 1) + inner(X, k - 1, 3)
    return total

@cuda.jit(device=True)
def two_results(p, q):
    return p + q, p * q

@cuda.jit(device=True)
def first_divisor(n, limit):
    for k in range(2, limit):
        if k * k > n:
            break
        if n % k == 0:
            return k
    else:
        return -1
    return n

@cuda.jit(device=True)
def rotate(tile, i):
    cuda.syncthreads()
    value = tile[(i + 1) % 48]
    cuda.syncthreads()
    return value
"""

ONE_NUMBER_A_THREAD = Table("reference", launch="3, 40", arguments="a=A, out=zeros(120, int)",
                            header=HEADER, first="i = cuda.grid(1)\n", text="""\
# functions
out[i] = gcd(abs(a[i]), 12) + 100 * twice_clipped(a[i], -3)
""")  # fmt: skip

PYTHONS_INTEGERS = Table("cudasim", launch="3, 40", arguments="a=A, out=zeros(120, int)",
                         header=HEADER, first="i = cuda.grid(1)\n", text="""\
# items of tuples that are chosen at run time
out[i] = WEIGHTS[i % 3] * 10 + PAIRS[a[i] % 3][i % 2] + (i, a[i])[a[i] % 2] + WEIGHTS[-1 - i % 3]
if a[i] in WEIGHTS:
    out[i] += 1000
if (a[i] % 2, i % 3) == (1, 2) or (i, 1) != (i, a[i] % 2):
    out[i] += 500
t = WEIGHTS[:2] + (i, 7)
for k in range(len(t)):
    out[i] += k * t[k] + t[1:][k % 3]

# constant expressions
nothing = None
out[i] = (2**-1) * 4 + ~True + (nothing is None) * 7 + (a is not None) + (-7 // 2) + a[i] * (1 + 2 * 3)
if nothing is not None:
    out[i] = 0
""")  # fmt: skip

TWO_NUMBERS_A_THREAD = Table("reference", launch="2, 32", arguments="x=X, out=zeros(64, 2)",
                             header=HEADER, first="i = cuda.grid(1)\n", text="""\
# atomics return the old value @ 1, 40 : x=X, y=F, out=zeros(13)
if i == 0:
    out[0] = cuda.atomic.add(x, 1, 5)
    out[1] = cuda.atomic.sub(x, 1, 2)
    out[2] = cuda.atomic.max(x, 2, 50)
    out[3] = cuda.atomic.min(x, 2, -50)
    out[4] = cuda.atomic.exch(x, 3, 9)
    out[5] = cuda.atomic.cas(x, 3, 9, 11)
    out[6] = cuda.atomic.cas(x, 3, 9, 13)
    out[7] = cuda.atomic.and_(x, 4, 6)
    out[8] = cuda.atomic.or_(x, 4, 8)
    out[9] = cuda.atomic.xor(x, 4, 3)
    out[10] = cuda.atomic.add(y, 0, 0.1)
    out[11] = cuda.atomic.add(y, 0, 1)
    out[12] = y[0]

# atomics where all lanes meet, a warp a block @ 4, 25
#: x=LARGE.astype("$t"), to=np.array([3], "$t"), out=zeros(100, "$t") ; t in i4 u4 i8 u8 f4 f8 ; f in add sub max nanmin
if i % 3:
    out[i] = cuda.atomic.$f(to, 0, x[i])

# atomic extremes leave a NaN that is there, or replace it, and one that is offered never counts @ 1, 5
#: x=WITH_NAN.astype("$t"), kept=np.full(8, $b, "$t"), out=zeros(4, 5, "$t") ; t in f4 f8 ; b in np.nan 4
cuda.atomic.max(kept, 0, x[i])
cuda.atomic.min(kept, 1, x[i])
cuda.atomic.nanmax(kept, 2, x[i])
cuda.atomic.nanmin(kept, 3, x[i])
out[0, i] = cuda.atomic.max(kept, 4, x[i])
out[1, i] = cuda.atomic.min(kept, 5, x[i])
out[2, i] = cuda.atomic.nanmax(kept, 6, x[i])
out[3, i] = cuda.atomic.nanmin(kept, 7, x[i])

# local memory in two dimensions @ 2, 20 : A=M, out=zeros(40)
w = cuda.local.array(SHAPE, float32)
for r in range(3):
    for c in range(5):
        w[r, c] = A[r, c] * float32(i)
total = float32(0)
for c in range(5):
    total += w[i % 3, c]
out[i] = total

# constants
total = 0
for k in range(3):
    total += PRIMES[0] * x[(i + k) % x.shape[0]]
out[i, 0] = total + PRIMES[1] - PRIMES[2]
out[i, 1] = math.pi * T

# device functions
out[i, 0] = outer(x, i % x.shape[0])
s, p = two_results(x[i], 3)
out[i, 1] = s - p

# shuffles @ 1, 64 : x=$array, out=zeros(64, 2) ; array in X F
value = x[i]
step = 16
while step > 0:
    value += cuda.shfl_xor_sync(FULL, value, step)
    step //= 2
out[i, 0] = value
out[i, 1] = cuda.shfl_up_sync(FULL, x[i], 3) - cuda.shfl_down_sync(FULL, x[i], 5)
out[i, 0] -= cuda.shfl_sync(FULL, x[i] * 2, i % 7)

# counting barriers @ 1, 60 : x=X, out=zeros(60, 4)
out[i, 0] = cuda.syncthreads_count(int(x[i] > 0))
out[i, 1] = cuda.syncthreads_and(int(x[i] > -99)) + 2 * cuda.syncthreads_or(int(x[i] > 99))
out[i, 2] = cuda.syncthreads_and(int(i > 0)) + 2 * cuda.syncthreads_or(int(i > 58))

# integers : x=X, out=zeros(64, 2, int)
out[i, 0] = x[i] // 3 + x[i] % 3 - (-x[i]) // 4 + abs(x[i]) ** 2
out[i, 1] = (x[i] & 12 | 3) ^ (x[i] << 2) + (~x[i] >> 1)

# floats beyond the integers @ 1, 24 : x=EDGES.astype("f4"), y=EDGES, a=zeros(24, "i1"), out=zeros(24, 6, int)
a[i] = x[i]
out[i, 0] = int32(x[i]) + uint8(x[i] * 3)
out[i, 1] = uint32(x[i])
out[i, 2] = int64(x[i])
out[i, 3] = int32(y[i]) - int8(y[i])
out[i, 4] = int64(y[i])
out[i, 5] = y[i]

# powers with literals : x=F / np.float32(3), y=F / 7.0, out=zeros(64, 2)
out[i, 0] = x[i] ** 3 + x[i] ** 5
out[i, 1] = y[i] ** 7 - y[i] ** -3

# a tuple of two types : x=F, y=F.astype(float) / 7, out=zeros(64, 2)
t = (i, x[i])
if i % 3:
    t = (x.shape[0], y[i])
for _ in range(i % 4):
    t = (t[0] + 1, t[1] * y[i])
    if t[0] > 5:
        break
else:
    t = (t[1], t[0])
out[i, 0] = t[0]
out[i, 1] = t[1]

# a chain that guards a load
if 0 <= i - 3 < x.shape[0] - 5 < x[i + 2] + 58 <= x[i - 3] + 70:
    out[i, 0] = 1
out[i, 1] = x[i] < (i > 3 and x[i - 4]) <= (i < 60 and x[i + 4] or 7)

# returns from the else of a loop
for a in range(4):
    for b in (1, 2, int64(x[i])):
        if b == a:
            break
        if b * a > 10:
            out[i, 0] = -b
            return
    else:
        if a == 3:
            return
        out[i, 1] += a
        continue
    out[i, 0] += 10 * a
else:
    out[i, 1] += 1000

# early returns of a device function
total = 0
for k, w in enumerate((3, 5, 2)):
    if x[i] > w:
        total += first_divisor(i + 2, x[i] + k) * w
    elif total < 0 and first_divisor(total, 3):
        break
out[i, 0] = total

# the lowest integer @ 1, 40 : n=LOWEST, out=zeros(40, 4, int)
out[i, 0] = n[i] // (i % 5 - 2)
out[i, 1] = n[i] % (i % 5 - 2) + n[i] // -1
out[i, 2] = (i % 5 - 2) ** (i % 7 - 3)
out[i, 3] = -n[i] + abs(n[i]) - n[i] * 3

# shifts beyond the bits @ 1, 64 : x=X, out=zeros(64, 2, int)
out[i, 0] = x[i] << i
out[i, 1] = (x[i] << 40) >> (i + 20)

# shared memory through a device function with a barrier @ 1, 48 : x=X, out=zeros(48, "i4")
tile = cuda.shared.array(48, int32)
tile[i] = x[i]
tile[i] = rotate(tile, i)
out[i] = rotate(tile, i)

# a negative index wraps @ 1, 8 : x=X[:8], out=zeros(8)
#= [(f.severity, f.index, f.count) for f in run.findings] == [("warning", (-1,), 1)]
out[i] = x[i - 1]
""")  # fmt: skip

NAMED_RESULTS = Table(None, header=HEADER, text="""\
# special functions, within rounding @ 2, 32 : x=F, out=zeros(64, 2)
#= close(out[:, 0], np.sqrt(abs(x) + 1) * np.floor(x) + np.ceil(abs(x) + 1), 1e-6)
#= close(out[:, 1], np.exp(-(v := abs(x) + 1)) + np.sin(v) * np.arctan2(v, x) + v**1.5, 1e-6)
i = cuda.grid(1)
value = math.fabs(x[i]) + float32(1)
out[i, 0] = math.sqrt(value) * math.floor(x[i]) + math.ceil(value)
out[i, 1] = math.exp(-value) + math.sin(value) * math.atan2(value, x[i]) + math.pow(value, 1.5)

# lanes with different masks vote apart, and a lane may not take from the other group @ 1, 32 : out=zeros(4, 32, "i4")
#= out.tolist() == [[0x11111111, 0x22222222] * 16, [0, 1] * 16, [1] * 32, [i ^ 2 for i in range(32)]]
i = cuda.threadIdx.x
group = cuda.match_any_sync(FULL, math.nan if i % 2 else 0.0)
out[0, i] = cuda.ballot_sync(group, i % 4 < 2)
out[1, i] = cuda.match_all_sync(group, 0.0 if i % 4 else -0.0)[1]
out[2, i] = cuda.eq_sync(group, i + 1)
out[3, i] = cuda.shfl_xor_sync(group, i, 32 + 2)
cuda.shfl_xor_sync(group, i, 3)  #? uninitialized-read x32

# atomics return the old value once to each thread @ 4, 25
#: counter=zeros(1, "i4"), out=zeros(100, "i4"), ends=zeros(3, "i4")
#= (sorted(out), counter[0], ends.tolist()) == (list(range(0, 200, 2)), 200, [-5, 198, 1])
i = cuda.grid(1)
out[i] = cuda.atomic.add(counter, 0, 2)
cuda.atomic.min(ends, 0, i - 5)
cuda.atomic.max(ends, 1, out[i])
cuda.atomic.cas(ends, 2, 0, i + 1)

# an atomic counter begins anew after its bound, one that counts down after 0 @ 1, 8
#: a=np.array([2, 2], "u4"), out=zeros(2, 8, "u4")
#= (out.tolist(), a.tolist()) == ([[2, 3, 0, 1] * 2, [2, 1, 0, 3] * 2], [2, 2])
i = cuda.threadIdx.x
out[0, i] = cuda.atomic.inc(a, 0, 3)
out[1, i] = cuda.atomic.dec(a, 1, 3)

# a tuple is true if it has items : out=zeros(2)
#= out.tolist() == [1, 2]
out[0] = 1 if PAIRS else 0
out[1] = 0 if PAIRS[3:] else 2

# two buffers that swap names @ 1, 64 : a=F, out=zeros(64)
#= out == np.roll(F, -3)
front = cuda.shared.array(64, float32)
back = cuda.shared.array(64, float32)
i = cuda.threadIdx.x
front[i] = a[i]
for _ in range(3):
    cuda.syncthreads()
    back[i] = front[(i + 1) % 64]
    front, back = back, front
cuda.syncthreads()
out[i] = front[i]

# what follows an endless loop has the types of its breaks : a=np.array([1.5, 3], "f4"), n=np.int32(1), out=zeros(1)
#= (out[0], run.findings) == (4.5, ())
w = n
while True:
    w = a[0]
    if n > 0:
        break
out[0] = w * a[1]

# a type that changes in a loop which every lane has left @ 1, 2 : out=zeros(1)
#= out[0] == 0
v = 1
w = 0
for _ in range(1):
    if 1 != w < 19:
        return
    v = uint8(1)
out[0] = v

# other names for what is known when the kernel is compiled @ 2, 8 : out=zeros(16)
#= out == np.gcd(np.arange(16), 12) + np.float32(0.1)
index, width = cuda.threadIdx, cuda.blockDim
function = gcd
number = float32
i = index.x + width.x * cuda.blockIdx.x
out[i] = function(i, 12) + number(0.1)

# a function of cuda is an item of a tuple @ 1, 3 : total=zeros(1, "i4"), count=zeros(3)
#= (total[0], count.tolist()) == (9, [3, 3, 3])
functions = (cuda.atomic.add, cuda.atomic.sub, cuda.syncthreads_count)
functions[0](total, 0, 5)
functions[1](total, 0, 2)
count[cuda.threadIdx.x] = functions[2](1)

# an index beyond a tuple @ 1, 8 : out=zeros(8)
i = cuda.grid(1)
if i < 5:
    out[i] = WEIGHTS[i]  #! KernelError WEIGHTS[i] 3

# defaults and names of a device function, in the order in which they are written : out=zeros(9)
#= out[0] == 6 + 100 * (1 + 7 * 0) + 1000
@cuda.jit(device=True)
def chosen(a, b, c=None, scale=3):
    if c is None:
        return a + scale * b
    return c
@cuda.jit
def kernel(out):
    i = cuda.grid(1)
    out[i] = chosen(i, 2) + 100 * chosen(b=cuda.atomic.add(out, 8, 1), a=cuda.atomic.add(out, 8, 1), scale=7)
    out[i] += chosen(i, i, 1000)

# the type of an array @ 1, 32
#: a=np.arange(32).astype("$type"), out=zeros(32, "$type") ; type in bool int8 int32 int64 uint64 float32 float64
#= out == a
#= traffic(space="shared", op="load").bytes == 32 * a.itemsize
known = np.dtype("$type")
@cuda.jit
def kernel(a, out):
    tile = cuda.shared.array(32, a.dtype)
    mine = cuda.local.array(1, known)
    i = cuda.threadIdx.x
    tile[i] = a[i]
    mine[0] = tile[i]
    out[i] = mine[0]

# rounding to digits goes through an integer of 64 bits : out=zeros(3)
#= out.tolist() == [2.0**63 / 100, -(2.0**63) / 10, 1e17]
out[0] = round(1e20, 2)
out[1] = round(-1e20, 1)
out[2] = round(1e17, 1)

# elements of an array that a loop goes over @ 1, 40 : a=np.arange(10) * 3, out=zeros(40)
#= out == [min(a[a > i], default=0) + (a * range(10)).sum() for i in range(40)]
#= traffic(op="load", array="a").accesses == sum(i // 3 + 2 for i in range(27)) + 13 * 10 + 400
i = cuda.grid(1)
for v in a:
    if v > i:
        out[i] = v
        break
for k, v in enumerate(a):
    out[i] += k * v

# blocks choose between arrays @ 4, 32 : a=np.arange(128.0), b=-np.arange(128.0), out=np.full(128, 1000.0)
#= out == 1000 + np.where(np.arange(128) // 32 % 2, b, a)
#= traffic(array="out", op="store").accesses == 128
source = a if cuda.blockIdx.x % 2 == 0 else b
i = cuda.grid(1)
out[i] += source[i]

# blocks choose between views @ 4, 32 : a=np.arange(128.0), b=-np.arange(128.0), out=np.full(128, 1000.0)
#= out[1:] == 1000 + np.where(np.arange(127) // 32 % 2, b[1:], a[1:])
#= traffic(array="out", op="store").accesses == 127
source = a[1:]
if cuda.blockIdx.x % 2:
    source = b[1:]
i = cuda.grid(1)
if i < out.size - 1:
    out[i + 1] += source[i]

# tuples of functions : out=zeros(2)
#= out.tolist() == [1006, 16]
@cuda.jit(device=True)
def one_more(x):
    return x + 1
@cuda.jit(device=True)
def twice(x):
    return 2 * x
@cuda.jit(device=True)
def applied(both, x):
    return both[1](both[0](x))
@cuda.jit
def kernel(out):
    functions = (one_more, twice)
    out[0] = functions[0](5) + 100 * functions[1](5)
    out[1] = applied(functions, 7)

# a function beside a number in a tuple : out=zeros(1)
both = (gcd, 3)  #! both
out[0] = both[1]

# an array without dimensions : out=zeros(1) ; space in shared local
box = cuda.$space.array((), float32)  #! $space 1
out[0] = box[()]

# a barrier in a function that is called in a branch, which is in the kernel @ 1, 64 : out=zeros(64)
#= [f.other_line for f in run.findings] == [line("if i < 32")]
@cuda.jit(device=True)
def all_meet():
    cuda.syncthreads()  #? barrier-divergence
@cuda.jit
def kernel(out):
    i = cuda.threadIdx.x
    if i < 32:
        all_meet()
    out[i] = 1

# a comment in the first column : out=zeros(1)
#= (out[0], [row.line for row in run.traffic.rows]) == (2, [line("= 2")])
if True:
    def kernel(out):
# out[0] = 1
        out[0] = 2

# all of the static shared memory @ 1, 32 : out=zeros(32, "f4")
#= out.tolist() == [*range(32)]
tile = cuda.shared.array(12288, float32)
i = cuda.threadIdx.x
tile[i] = i
out[i] = tile[i]

# a third dimension of grid and block @ (3, 2, 2), (2, 2, 3) : out=zeros(6, 4, 6, "i8")
#= out == np.broadcast_to(1 + (z := np.arange(6)) % 3 + 10 * (z // 3), out.shape)
x = cuda.grid(3)
out[x[0], x[1], x[2]] += 1 + cuda.threadIdx.z + 10 * cuda.blockIdx.z

# lanes beyond a guard do not count @ 1, 64 : a=np.arange(64, dtype="f4"), out=zeros(64, "f4")
#= ((load := traffic(op="load")).accesses, load.requests, load.sectors) == (22, 2, 8)
#= run.traffic.per_thread(op="load")[0].tolist() == [i % 3 == 0 for i in range(64)]
i = cuda.grid(1)
if i % 3 == 0:
    out[i] = a[i]

# idle lanes of a half warp, whose words 8·i are three in each of banks 0, 8, 16 and 24 @ 1, 32 : out=zeros(32)
#= traffic(space="shared", op="load").wavefronts == 3
tile = cuda.shared.array(64, float64)
i = cuda.threadIdx.x
tile[i] = i
tile[i + 32] = i
cuda.syncthreads()
if i < 12:
    out[i] = tile[4 * i]

# atomics and local arrays have rows of their own @ 2, 32 : a=np.arange(64, dtype="i4") % 4, bins=zeros(4, "i4")
#= (bins == 16).all() and traffic(op="atomic", array="bins").accesses == 64
#= [traffic(space="local", op=op, array="seen").accesses for op in ("store", "load")] == [64, 64]
seen = cuda.local.array(2, int32)
i = cuda.grid(1)
seen[0] = a[i]
cuda.atomic.add(bins, seen[0], 1)
""")  # fmt: skip

#: Numbers and arrays that may be None; the arrays of the kernels hold all signs, so that some threads have none.
OR_NONE = Table(
    "numba",
    launch="2, 40",
    arguments="x=F, n=X, out=zeros(80, 3)",
    header=f"""{IMPORTS}
@cuda.jit(device=True)
def positive(value):
    if value > 0:
        return value

@cuda.jit(device=True)
def double(value):
    if value is None:
        return -1.0
    return value * 2.0
""",
    first="i = cuda.grid(1)\n",
    text="""\
# a number or None
best = None
if x[i % 64] > 0:
    best = x[i % 64]
if best is None:
    out[i, 0] = -1
else:
    out[i, 0] = best
    out[i, 1] = best + 1 - best * best // 2
    out[i, 2] = -best if best < 3 or 7 < best <= 9 else abs(best)

# which is None before the loop
best, place = None, None
for k in range(i % 9):
    if best is None or x[k] > best:
        best, place = x[k], k
if place is not None:
    out[i, 0], out[i, 1] = best, place
    out[i, 2] += best

# whose type the loop finds late
total = None
for k in range(i % 9):
    if k == 0:
        total = x[0]
    else:
        total = total + n[k]
out[i, 0] = -1 if total is None else total

# which a loop waits for
found, k = None, i % 50
while found is None:
    if x[k % 64] > 0:
        found = k
    k += 1
out[i, 0] = found

# of several types
value = None
if x[i % 64] > 2:
    value = n[i % 64]
elif x[i % 64] < -2:
    value = x[i % 64]
other = value
if other is not None and other != 3:
    out[i, 0] = other
out[i, 1] = (other == None) + 2 * (value != None)
other = None
out[i, 2] = other is None

# an array or None
row = None
if i % 3:
    row = x[i % 7 :]
elif i % 2:
    row = x
if row is not None:
    out[i, 0] = row[i % 5] + len(row) + row.size + row.shape[0]
    for value in row[:3]:
        out[i, 1] += value
other = x if row is None else row[1:]
out[i, 2] = other[0]

# what a device function returns and takes
value = positive(x[i % 64])
out[i, 0] = double(value)
if positive(n[i % 64]) is not None:
    out[i, 1] = positive(n[i % 64]) + 1
pair = (value, 2)
if pair[0] is not None:
    out[i, 2] = pair[0] * pair[1]

# a bool or None
flag = None
if x[i % 64] > 0:
    flag = x[i % 64] > 3
if flag is not None and flag:
    out[i, 0] = 1
elif flag is not None and not flag:
    out[i, 1] = 1

# a choice of None
value = x[i % 64] if n[i % 64] > 0 else None
other = None if i % 2 else value
if other is not None:
    out[i, 0] = other
    other += 1
    out[i, 1] = math.sqrt(abs(other)) + round(other)
out[i, 2] = 7 if value is None else int(value)
""",
)

NONE_IS_NO_NUMBER = Table(
    None,
    launch="1, 32",
    arguments="x=F, out=zeros(32)",
    first="""\
i = cuda.grid(1)
value = None
if i > 7:
    value = x[i]
""",
    header=IMPORTS,
    text="""\
# a thread computes with None ; expression in value+1 -value value<3 value==3 math.sqrt(abs(value)) int(value)
#= run.findings[0].threads[0][1][0] == 0 and said("value", "None")
out[i] = $expression  #? uninitialized-read value x8

# a store, an update and an atomic ; statement in out[i]=value out[i]+=value cuda.atomic.add(out,0,value) value+=1
$statement  #? uninitialized-read value x8

# only some threads, behind a test that is wrong
if i > 5:
    out[i] = value  #? uninitialized-read value x2

# an array that is None
row = None
if i > 3:
    row = x
out[i] = row[i]  #? uninitialized-read row x4
""",
)

REFUSED_OR_NONE = Table(
    "numba",
    arguments="x=F, out=zeros(32)",
    first="""\
i = cuda.grid(1)
value, place, pair = None, None, None
if x[i] > 0:
    value, place = x[i], i
""",
    header=IMPORTS,
    lines=True,
    text="""\
out[i] = x[place]  #! int place
out[place] = 1  #! int place
out[i] = float32(value)  #!
out[i] = float(value)  #!
out[i] = bool(value)  #!
if value: out[i] = 1  #! None
out[i] = value and 1  #!
""",
)
