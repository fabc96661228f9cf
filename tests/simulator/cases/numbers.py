"""Complex numbers, float16, arrays without dimensions, and functions of numbers."""

import cmath
import itertools
import math

import numpy as np
from oracles import scalar
from simulator.cases import IMPORTS, Table

X = np.random.default_rng(6).random(8) + 0.25
C = (X + 1j * X[::-1])[[0, 1, 2, 3, 4, 5, 6, 7]]
SHIFTED = np.where(np.arange(8) == 3, C, np.roll(X, 1) + 1j * X[::-1])
FINITE = [complex(a, b) for a, b in itertools.product((-2.5, -1.0, -0.3, 0.5, 3.75), (-1.5, -0.2, 0.7, 2.0))]
POLAR = [(v, complex(*cmath.polar(v)), cmath.log(v, 3 - 1j), cmath.log(v)) for v in FINITE]
UNITS = np.arange(4).astype("c8") + np.complex64(1j)
HALF_WAY = np.array([np.nan, -np.inf, 65504, -65504, 0.5, -0.5, 3.5, 255.5], "f2")
HALVES = np.array([1.5, 2.5, -1.5, -2.7, 0.4, 3, np.inf, -1], "f2")
INTEGERS = np.array([0, 1, 2, 3, 100, -1, -2, 77, 5, 6, 7, 8, 9, 10, 11, 12])
SPECIAL = np.array([1, np.nan, 2.5, np.inf, 0, -1, 7, 8])
#: As an H200 converts them (numba-cuda 0.30.4): half to even, and the ends of the range. float32 would be cut off.
CONVERTED = {
    "i1": [0, -128, 127, -128, 0, 0, 4, 127], "u1": [0, 0, 255, 0, 0, 0, 4, 255],
    "i2": [0, -32768, 32767, -32768, 0, 0, 4, 256], "u2": [0, 0, 65504, 0, 0, 0, 4, 256],
    "i4": [0, -(2**31), 65504, -65504, 0, 0, 4, 256], "u4": [0, 0, 65504, 0, 0, 0, 4, 256],
    "i8": [-(2**63), -(2**63), 65504, -65504, 0, 0, 4, 256], "u8": [2**63, 0, 65504, 0, 0, 0, 4, 256],
}  # fmt: skip
#: As an H200 computes them (numba-cuda 0.30.4), in float32 through polar form.
BASES, EXPONENTS = np.array([1 + 2j, 0, 0, 3 - 1j, 0.5, 1j, -2], "c8"), np.array([1 + 1j, 0, 1, 2, 1j, 2j, 3], "c8")
POWERS = [-0.24720004200935364 + 0.6964506506919861j, 1, 0, 8 - 6j, 0.7692388892173767 - 0.6389613151550293j,
          0, -8 - 1.9079809021604888e-07j]  # fmt: skip
#: Numbers by column, and what an H200 gave as the smaller and as the larger of each pair.
PAIRS = np.array([[0.0, -0.0, 1.0, math.nan, math.nan], [-0.0, 0.0, math.nan, 1.0, math.nan]])
BY_SIGN = [[-0.0, -0.0, 1.0, 1.0, math.nan], [0.0, 0.0, 1.0, 1.0, math.nan]]
FIRST_ZERO, NAN_IF_ANY, NAN_IF_FIRST = (
    [[0.0, -0.0, *rest, math.nan]] * 2 for rest in ([1.0, 1.0], [math.nan, math.nan], [1.0, math.nan])
)
DIVISORS = np.array([3, 1j, 2 - 5j, -4 + 1j, 0.5])
FLOATS = [0.0, -0.0, 1.0, -1.5, 2.5, 7.0, -1e300, 5e-324, math.inf, math.nan, 1.7e308]
FIRST, SECOND = (np.array(part) for part in zip(*itertools.product(FLOATS, FLOATS), strict=True))
REMAINDERS = [math.nan if b == 0 or math.isinf(a) else math.remainder(a, b) for a, b in zip(FIRST, SECOND, strict=True)]
with np.errstate(all="ignore"):
    ADDED = np.array([np.roll(SECOND, 7), -FIRST * SECOND])  # the rest of the second is what a product loses
    FUSED = [[float(scalar.fused(*each)) for each in zip(FIRST, SECOND, third, strict=True)] for third in ADDED]

#: Dividends and divisors, and an H200's quotients and rests (numba-cuda 0.30.4); a CPU's rests lie between 0 and b.
DIVIDED, BY = [1e10, 1e10, 1e10, 16777217.0, 7.5, -7.5, 7.5, -7.5], [7.5, -7.5, 3.0, 0.3, math.inf, -math.inf, 0.0, 1.0]
QUOTIENTS = [1333333376.0, -1333333376.0, 3333333248.0, 55924052.0, math.nan, math.nan, math.inf, -8.0]
RESTS = [-312.5, -320.0, 256.0, 0.03333336114883423, math.nan, math.nan, math.nan, 0.5]

AS_MEASURED = Table("reference", launch="1, 8", header=IMPORTS, first="i = cuda.grid(1)\n", text="""\
# float16 becomes the nearest integer
#: h=HALF_WAY, out=zeros(8, "$to") ; to in i1 u1 i2 u2 i4 u4 i8 u8
#= out.tolist() == CONVERTED["$to"]
out[i] = h[i]
""")  # fmt: skip

NUMBERS = Table(None, launch="1, 8", header=IMPORTS, first="i = cuda.threadIdx.x\n", text="""\
# complex powers, of which one is 0.043 in Python (numba takes 1j for a zero) @ 1, 7
#: a=BASES, b=EXPONENTS, out=zeros(7, "c8")
#= close(out, POWERS, 1e-6, 2e-6)
#= (out[[1, 2, 5]].tolist(), close(out[[0, 3, 4, 6]], (a.astype("c16") ** b)[[0, 3, 4, 6]], 1e-6)) == ([1, 0, 0], True)
out[i] = a[i] ** b[i]

# complex quotients @ 1, 5 : a=np.full(5, 1 + 2j), b=DIVISORS, out=zeros(5, complex)
#= out.tolist() == [(1 + 2j) / complex(x) for x in b]
out[i] = a[i] / b[i]

# a complex division by zero ends the thread, and the launch @ 1, 5
#: a=np.full(5, 1 + 2j), b=DIVISORS * (np.arange(5) != 3), out=zeros(5, complex)
out[i] = a[i] / b[i]  #! KernelError

# float16 is rounded after each operation, powers in float32, sums with an int in float64
#: h=HALVES, out=zeros(4, 8, "f2"), wide=zeros(2, 8)
#= out[0] == [2.5, 3.5, -0.5, -1.69921875, 1.400390625, 4, np.inf, 0]
#= out[1] == [-1.5, -2.5, 1.5, 2.69921875, -0.39990234375, -3, -np.inf, 1]
#= out[2] == [1.5, 1.5, -1.5, -2.69921875, 0.39990234375, 1.5, 1.5, -1]
#= out[3] == (h.astype(float) ** 2 - 2.25).astype("f2")
#= wide == [h.astype("f4") ** 2, h.astype(float) + 1]
#= said("h[i] + 1", "int64", "float16(")
out[0, i] = h[i] + True
out[1, i] = h[i] / h[7]
out[2, i] = min(h[i], h[0])
out[3, i] = cuda.fp16.hfma(h[i], h[i], float16(-2.25))
wide[0, i] = h[i] ** 2
wide[1, i] = h[i] + 1  #? float64

# complex64 became complex128 @ 1, 4
#: c=UNITS, out=zeros(4, "c16"), factor=$factor ; factor in 2j 2.0 3
#= out == factor * c
#= said("factor", "complex128", "complex64(")
out[i] = factor * c[i]  #? float64

# complex64 remains, or complex128 is meant @ 1, 4
#: c=UNITS, out=zeros(4, "c16"), factor=np.$type(2) ; type in complex64 float32 complex128
#= (out.tolist(), run.findings) == ((factor * c).tolist(), ())
out[i] = factor * c[i]

# unwritten complex memory is found and poisoned @ 1, 4 : out=zeros(4, "c16")
#= (out[:2].tolist(), np.isnan(out[2:].real).all(), np.isnan(out[2:].imag).all()) == ([2 + 1j] * 2, True, True)
s = cuda.shared.array(4, complex64)
v = cuda.local.array(2, complex128)
if i < 2:
    s[i] = 1j
    v[1] = 2
cuda.syncthreads()
out[i] = s[i] + v[1]  #? uninitialized-read s; uninitialized-read v

# a race says whether the values agree @ 1, $threads
#: out=zeros(1, "$type"), value=np.$type(3) ; threads in 64 96 ; type in complex64 float16
#= {"the same value" in f.message for f in run.findings if f.kind == "race"} == {$threads == 64}
out[0] = value + i // 64  #? race out

# an access is as wide as the element @ 1, 32
#: a=zeros(600, "$type"), out=zeros(32, "$type"), stride=$stride ; type in f2 c8 c16 ; stride in 0 1 2 3 16
#= [(r.requests, r.bytes) for r in [traffic(op="load")]] == [(1, 32 * a.itemsize)]
#= traffic(op="load").sectors == len({(1 + i * stride) * a.itemsize // 32 for i in range(32)})
out[i] = a[1 + i * stride]

# arrays without dimensions @ 1, 32, trace=True : number=np.array(2.5, "f4"), total=np.array(1.0), out=zeros(32)
#= (out.tolist(), float(total)) == ([2.5 * i + 1 for i in range(32)], 3.5)
#= [(r.accesses, r.requests, r.sectors) for r in [traffic(array="number", op="load")]] == [(33, 2, 2)]
#= "total[()] = 1" in sentence(Timeline(run.trace, (0, 0, 0)), len(run.trace.steps), 3)
#= '"name":"number","space":"global","dtype":"float32","itemsize":4,"shape":[]' in encode(run.trace)
out[i] = number[()] * float32(i) + number.ndim + number.size
if i == 3:
    total[()] += number[()]

# complex numbers in the trace and the viewer @ 1, 2, trace=True : c=np.array([1 + 2j, 3 - 4j], "c8"), out=zeros(2)
#= [s.variables["z"] for s in run.trace.steps if "z" in s.variables][0] == c.astype("c16") * 1j
#= '"(-2+1j)","(4+3j)"' in encode(run.trace)
#= "c[1] = (3-4j); sets z = (4+3j)" in sentence(Timeline(run.trace, (0, 0, 0)), 2, 1)
z = c[i] * 1j
out[i] = z.imag

# numba negates before it widens @ 1, 1
#: a=np.array([np.iinfo("$type").min], "$type"), out=zeros(1, "i8") ; type in int8 int16 int32
#= out[0] == a[0]
out[0] = -a[0]

# powers of one half are no square roots, of -inf and of -0.0 @ 1, 3
#: a=np.array([-np.inf, -0.0, 4, 0.5]), out=zeros(3, 3)
#= (out.tolist(), np.signbit(out).any()) == ([[np.inf, 0, 2]] * 3, False)
half = a[3]
out[0, i] = a[i] ** half
out[1, i] = a[i] ** 0.5
out[2, i] = math.pow(a[i], 0.5)

# gamma at its poles and beyond, as CUDA's @ 1, 6
#: a=np.array([0.0, -0.0, -1.0, 200.0, np.inf, 1e308]), gamma=zeros(6), lgamma=zeros(6)
#= (gamma, 0)[0] == [np.inf, -np.inf, np.nan, np.inf, np.inf, np.inf]
#= lgamma == [np.inf, np.inf, np.inf, math.lgamma(200), np.inf, np.inf]
gamma[i] = math.gamma(a[i])
lgamma[i] = math.lgamma(a[i])

# all bits but those of a uint64 are reversed as 32 @ 1, 16
#: x=INTEGERS.astype("$type"), out=zeros(16, "u8"), index=zeros(16) ; type in i1 i4 u4 i8 u8
#= out.tolist() == [int(f"{int(v) % 2**b:0{b}b}"[::-1], 2) for b in [64 if "$type" == "u8" else 32] for v in x]
#= index.tolist() == [int(f"{i:04b}"[::-1], 2) for i in range(16)]
out[i] = cuda.brev(x[i])
index[i] = cuda.brev(i) >> 28

# the first set bit is a uint32, which minus an int64 is an int64 @ 1, 5
#: x=np.array([0, 1, 6, -8, 2**40]), out=zeros(5)
#= out.tolist() == [1, 0, 0, 0, 0]
out[i] = cuda.ffs(x[i]) - 1 < 0

# a uint64 moves between lanes as a float64 @ 1, 32 : x=np.arange(32).astype("u8") + np.uint64(2**60), out=zeros(32)
#= out.tolist() == [float(2**60)] * 32
out[i] = cuda.shfl_xor_sync(0xFFFFFFFF, x[i], 1)

# vectors : x=X, out=zeros(8, 6)
#= out[:5] == [(v, 2, np.float32(3.7), i, int(v * 10), -2) for i, v in enumerate(x[:5].astype("f4"))]
#= out[5:].tolist() == [[4, 3, 2, 1, 40, -2]] * 3
pair = cuda.float32x2(x[i], 2)
four = cuda.float4(pair, cuda.float32x1(3.7), i)
if i > 4:
    four = cuda.float4(4, 3, 2, 1)
whole = cuda.int32x3(four.x * 10, four.y, -2.5)
out[i, 0], out[i, 1], out[i, 2], out[i, 3] = four.x, four.y, four.z, four.w
out[i, 4], out[i, 5] = whole.x, whole.z

# values of libdevice : x=X, out=zeros(3, 8)
#= close(out[0], 1 / np.sqrt(x) + (x * x + 1), 1e-6)
#= close(out[1], np.exp(v := x.astype("f4")) + v ** np.float32(3), 1e-6)
#= close(out[2], 10**x - np.arctan2(x, 2) + [math.gamma(v) for v in x], 1e-6)
out[0, i] = libdevice.rsqrt(x[i]) + cuda.libdevice.fma(x[i], x[i], 1)
out[1, i] = libdevice.fast_expf(x[i]) + libdevice.powf(x[i], 3)
out[2, i] = libdevice.exp10(x[i]) - libdevice.atan2(x[i], 2) + libdevice.tgamma(x[i])

# tuples of libdevice : x=X, out=zeros(8, 7)
#= close(out[:, :4], [(math.sin(v), math.cos(v), *math.frexp(np.float32(v))) for v in x], 1e-15)
#= close(out[:, 4:], [(*math.modf(v), abs(k - 5) + 2) for k, v in enumerate(x)], 1e-15)
out[i, 0], out[i, 1] = libdevice.sincos(x[i])
out[i, 2], out[i, 3] = libdevice.frexpf(x[i])
out[i, 4], out[i, 5] = libdevice.modf(x[i])
out[i, 6] = libdevice.sad(i, 5, 2)

# math.remainder is IEEE's @ 1, 121 : a=FIRST, b=SECOND, out=zeros(121)
#= (out, 0)[0] == np.array(REMAINDERS)
#= np.signbit(out[~np.isnan(out)]) == np.signbit(np.array(REMAINDERS)[~np.isnan(out)])
out[i] = math.remainder(a[i], b[i])

# functions of halves : x=X.astype("f2"), out=zeros(3, 8, "f2")
#= out == np.array([1 / np.sqrt(x.astype("f4")), 1 / x.astype("f4"), 10 ** x.astype("f4")]).astype("f2")
out[0, i], out[1, i] = cuda.fp16.hrsqrt(x[i]), cuda.fp16.hrcp(x[i])
out[2, i] = cuda.fp16.hexp10(x[i])

# NumPy's functions of one complex number : x=C, out=np.$f(C) * 0, whole=np.$f(C) * 0 ; f in sin arctanh log2
#= (close(out, np.$f(x), 1e-14), whole.tolist()) == (True, out.tolist())
out[i] = np.$f(x[i])
if i == 0:
    np.$f(x, whole)

# NumPy's functions of two complex numbers
#: x=C, y=SHIFTED, out=np.$f(C, C) & False, whole=np.$f(C, C) & False ; f in less logical_and equal
#= (out.tolist(), whole.tolist()) == (np.$f(x, y).tolist(), out.tolist())
out[i] = np.$f(x[i], y[i])
if i == 0:
    np.$f(x, y, whole)

# products and sums that are rounded once @ 1, 121 : x=FIRST, y=SECOND, z=ADDED, out=zeros(2, 121)
#= str(out.tolist()) == str(FUSED)
out[0, i], out[1, i] = libdevice.fma(x[i], y[i], z[0, i]), libdevice.fma(x[i], y[i], z[1, i])

# floats divided down
#: a=np.array(DIVIDED, "f4"), b=np.array(BY, "f4"), out=zeros(4, 8)
#= str(out.tolist()) == str([QUOTIENTS, RESTS] * 2)
out[0, i], out[1, i] = a[i] // b[i], a[i] % b[i]
out[2, i], out[3, i] = divmod(a[i], b[i])

# the smaller and the larger of zeros and NaN @ 1, 5
#: a=PAIRS[0].astype("$type"), b=PAIRS[1].astype("$type"), out=zeros(8, 5) ; type,f in f4,f f8,
#= str(out.tolist()) == str(BY_SIGN + BY_SIGN + FIRST_ZERO + NAN_IF_ANY)
out[0, i], out[1, i] = min(a[i], b[i]), max(a[i], b[i])
out[2, i], out[3, i] = libdevice.fmin$f(a[i], b[i]), libdevice.fmax$f(a[i], b[i])
out[4, i], out[5, i] = np.fmin(a[i], b[i]), np.fmax(a[i], b[i])
out[6, i], out[7, i] = np.minimum(a[i], b[i]), np.maximum(a[i], b[i])

# the smaller and the larger of halves @ 1, 5 : a=PAIRS[0].astype("f2"), b=PAIRS[1].astype("f2"), out=zeros(4, 5)
#= str(out.tolist()) == str(NAN_IF_FIRST + BY_SIGN)
out[0, i], out[1, i] = min(a[i], b[i]), max(a[i], b[i])
out[2, i], out[3, i] = cuda.fp16.hmin(a[i], b[i]), cuda.fp16.hmax(a[i], b[i])

# of three floats, or of a float and an integer, as Python takes them @ 1, 5
#: a=PAIRS[0].astype("f4"), b=PAIRS[1].astype("f4"), out=zeros(3, 5)
#= str(out.tolist()) == str(NAN_IF_FIRST + NAN_IF_FIRST[:1])
out[0, i], out[1, i] = min(a[i], b[i], b[i]), max(a[i], b[i], b[i])
out[2, i] = max(a[i], 0)

# the greater of two complex numbers, and which are zero
#: x=C, y=SHIFTED, out=zeros(8, complex), whole=zeros(8, complex), none=np.ones(8, bool)
#= (out.tolist(), whole.tolist(), none.any()) == (np.maximum(x, y).tolist(), out.tolist(), False)
out[i] = np.maximum(x[i], y[i])
if i == 0:
    np.maximum(x, y, whole)
    np.logical_not(x, none)

# polar form and logarithms to a base @ 1, 20 : z=np.array(FINITE, "$type"), out=zeros(4, 20, "$type") ; type in c8 c16
#= close(out, np.transpose(POLAR), *[1e-6 if "$type" == "c8" else 1e-14] * 2)
r, phi = cmath.polar(z[i])
out[0, i], out[1, i] = cmath.rect(r, phi), complex(*cmath.polar(z[i]))
out[2, i], out[3, i] = cmath.log(z[i], 3 - 1j), cmath.log(z[i])

# real numbers become complex64, those that do not fit complex128 @ 1, 4
#: x=np.array([-4, -2, 0, 3], "$type"), out=zeros(4, "c16") ; type in i4 f4 f8 i2
#= out == np.sqrt(x.astype("c8" if "$type" in ("f4", "i2") else "c16")).astype("c16")
out[i] = cmath.sqrt(x[i])
""")  # fmt: skip

OF_NUMBA_CUDA = Table("cudasim", package="numba-cuda", alone=True, launch="1, 8",
                      arguments="x=SPECIAL, out=zeros(2, 8)", header=IMPORTS, first="i = cuda.threadIdx.x\n", text="""\
# limits of types
out[0, i] = np.finfo(np.float32).max if np.isnan(x[i]) else np.iinfo(np.uint8).max
out[1, i] = np.isfinite(x[i]) + 2 * np.isinf(x[i]) + np.finfo(x.dtype).bits

# the next number
out[0, i] = math.nextafter(x[i], 9)
""")  # fmt: skip

NEXT = Table(None, package="numba-cuda", alone=True, header=IMPORTS, text="""\
# hints for the cache @ 1, 8 : x=SPECIAL, out=zeros(8)
#= close(out, 2 * x)
i = cuda.threadIdx.x
cuda.stcs(out, i, cuda.ldcg(x, i) + cuda.ldca(x, i - 8))  #? negative-index x

# the next number of small integers is a float32, by the rules of math.fmod : x=np.array([1, 9], "i1"), out=zeros(1)
#= out[0] == np.nextafter(np.float32(1), np.float32(9))
out[0] = math.nextafter(x[0], x[1])
""")  # fmt: skip

REFUSED = Table(None, header=IMPORTS, lines=True, arguments="h=np.ones(2, 'f2'), a=np.array(1.0), x=zeros(1)", text="""\
if h[0]: pass  #! float16
h[0] = 1 if h[0] else 2  #! float16
h[0] = bool(h[0])  #! float16
h[1] = not h[0]  #! float16
h[1] = h[0] and h[1]  #! float16
while h[0]: break  #! float16
h[0] = cuda.any_sync(-1, h[0])  #! float16
cuda.atomic.add(a, (), 1)  #! cuda.atomic.add (1,)
x[0] = cuda.float32x4(1, 2, 3).x  #! cuda.float32x4() 4
x[0] = cuda.float32x4(cuda.float64x2(1, 2), 1, 2).x  #! cuda.float64x2(1, 2)
x[0] = cuda.float32x1(cuda.float32x2(1, 2)).x  #! cuda.float32x1() 1
x[0] = cuda.float32x2(1, 2).z  #! cuda.float32x2(1, 2) .z
x[0] = cmath.rect(1, x[0]).real  #! cmath.rect int64 float64
""")  # fmt: skip
