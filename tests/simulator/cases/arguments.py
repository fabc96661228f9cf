"""What kernels take besides arrays and numbers, and what they say: tuples, dynamic shared memory, assertions."""

from collections import namedtuple

import numpy as np
from simulator.cases import IMPORTS, Table

Point = namedtuple("Point", "x y")
A = np.linspace(-1, 1, 8, dtype="f4")

HEADER = f"""{IMPORTS}
from simulator.cases.arguments import Point

TABLE = np.array([3, 1, 4, 1, 5])
ORIGIN = Point(2, 3)

@cuda.jit(device=True)
def length2(p):
    return p.x * p.x + p.y * p.y
"""

ARGUMENTS = Table(None, header=HEADER, text="""\
# tuples and named tuples @ 1, 8 : pair=(np.arange(4), zeros(4)), point=Point(1, 2), shape=(4,)
#= (pair[1].tolist(), run.findings) == ([i + 5 + 1 + i * i + 13 for i in range(4)], ())
#= traffic(op="load", array="pair[0]").accesses == 4
a, b = pair
i = cuda.grid(1)
if i < shape[0]:
    b[i] = a[i] + length2(point) + length2(Point(1, y=i)) + length2(ORIGIN)

# out of bounds in a tuple @ 1, 4 : point=Point(zeros(2), 1)
#= said("point.x[2]")
point.x[cuda.grid(1)] = 1  #? out-of-bounds

# an accidental float64 in a tuple : a=np.ones(2, "f4"), pair=(0.5, 1)
#= said("pair[0]", "Python float")
a[0] = a[1] * pair[0]  #? float64

# an array from outside cannot be written : a=zeros(1, "i8")
TABLE[0] = a[0]  #! TABLE

# an index outside a constant : a=zeros(1, "i8")
#= said("TABLE[6]")
a[0] = TABLE[a.size + 5]  #? out-of-bounds

# two types of one size name the dynamic shared memory @ 1, 8, 0, 32 : a=A, bits=zeros(8, "i4")
#= (bits[:7].tolist(), run.findings) == (a.view("i4")[1:].tolist(), ())
i = cuda.threadIdx.x
first = cuda.shared.array(0, float32)
whole = cuda.shared.array(0, int32)
second = whole[1:]
first[i] = a[i]
cuda.syncthreads()
if i < 7:
    bits[i] = second[i]

# several sizes name the dynamic shared memory, as in CUDA's manual @ 1, 8, 0, 80 : a=zeros(8), b=zeros(16, "i4")
#= (b.tolist(), b.view("f8").tolist(), run.findings) == (a.view("i4").tolist(), a.tolist(), ())
i = cuda.threadIdx.x
large = cuda.shared.array(0, float64)
last = cuda.shared.array(0, int16)[32:]
small = cuda.shared.array(0, int32)
large[i] = i + 0.25
last[i] = i
cuda.syncthreads()
a[i] = large[i] + last[i] - i
b[2 * i] = small[2 * i]
b[2 * i + 1] = small[2 * i + 1]

# the dynamic shared memory, as numba's manual writes it @ 1, 1, 0, 8
#= close([float(line) for line in run.printed.split()], [3.14, 1], 1e-6)
f32 = cuda.shared.array(0, dtype=np.float32)
i32 = cuda.shared.array(0, dtype=np.int32)[1:]
f32[0] = 3.14
i32[0] = 1
print(f32[0])
print(i32[0])

# two names of the dynamic shared memory race @ 1, 32, 0, 4 * 33 : out=zeros(32)
#? race; uninitialized-read
t = cuda.threadIdx.x
f32 = cuda.shared.array(0, dtype=np.float32)
i32 = cuda.shared.array(0, dtype=np.int32)[1:]
f32[t] = 1
out[t] = i32[t]

# two names of the dynamic shared memory are taken for two memories @ 1, 8, 0, 64
#: a=A, out=zeros(8) ; kind in int32 float32
#= said("sums", "counts")
i = cuda.threadIdx.x
sums = cuda.shared.array(0, float32)
counts = cuda.shared.array(0, $kind)
sums[i] = a[i]
counts[i] = i
cuda.syncthreads()
out[i] = sums[7 - i] / (1 + counts[i])  #? aliased-memory sums

# two names of one memory, which is meant @ 1, 8, 0, 64
#: a=A, out=zeros(8) ; why,begin,bits in behind,8,out[i] behind,8,counts[i] one_after_the_other,0,counts[i]
#= run.findings == ()
i = cuda.threadIdx.x
sums = cuda.shared.array(0, float32)
whole = cuda.shared.array(0, int32)
counts = whole[$begin:]
sums[i] = a[i]
out[i] = sums[i]
cuda.syncthreads()
counts[i] = i
cuda.syncthreads()
out[i] += $bits

# one memory under two names, whose values are taken as another type and back @ 1, 8, 0, 64 : a=A, out=zeros(8)
#= run.findings == () and np.array_equal(out, -a[:8])
i = cuda.threadIdx.x
numbers = cuda.shared.array(0, float32)
bits = cuda.shared.array(0, int32)
numbers[i] = a[i]
bits[i] = bits[i] ^ int32(-2147483648)
out[i] = numbers[i]

# one memory under two names, of which one clears what the other has read @ 1, 8, 0, 64 : a=A, out=zeros(8)
#= run.findings == () and not out.any()
i = cuda.threadIdx.x
tile = cuda.shared.array(0, float32)
flat = cuda.shared.array(0, float32)
tile[i] = a[i]
tile[i] = tile[i] + tile[i]
out[i] = tile[i]
flat[i] = 0
out[i] = tile[i]

# one memory under two names, one after the other @ 1, 8, 0, 64 : a=A, out=zeros(8)
#= run.findings == ()
i = cuda.threadIdx.x
first = cuda.shared.array(0, float32)
then = cuda.shared.array(0, float32)
for k in range(3):
    first[i] = a[i]
    out[i] += first[i]
    then[i] = k
    cuda.atomic.add(then, i, 1)
    out[i] += then[i]

# a large element of the dynamic shared memory has the banks of its bytes @ 1, 32, 0, 512 : a=zeros(32)
#= run.traffic.select(space="shared", op="load").wavefronts == 4 and run.traffic.bank_conflicts == 2
i = cuda.threadIdx.x
small = cuda.shared.array(0, int32)
large = cuda.shared.array(0, float64)
large[i] = i
large[i + 32] = i
cuda.syncthreads()
a[i] = large[i * 2]

# an atomic on a large element of the dynamic shared memory @ 1, 8, 0, 64 : a=zeros(8)
small = cuda.shared.array(0, int32)
large = cuda.shared.array(0, float64)
small[0] = 1
cuda.atomic.add(large, 0, 1.0)  #! use one size

# dynamic shared memory of no size @ 1, 1, 0, 0 : a=zeros(1)
memory = cuda.shared.array(0, float32)  #!
memory[0] = a[0]

# a size that cannot be @ 1, 1, 0, $size : a=zeros(1) ; size,limit in 49153,49152 -1,0 1.5,1.5
#! LaunchError $limit
memory = cuda.shared.array(0, float32)
memory[0] = a[0]
""")  # fmt: skip

WORDS = Table(None, header=HEADER, text="""\
# arguments by position alone : a=np.full(1, 7.0), out=zeros(1)
#= out[0] == 7
@cuda.jit
def kernel(a, /, out):
    out[0] = a[0]

# any number of arguments : a=zeros(1)
#! name each argument
@cuda.jit
def kernel(*arrays):
    arrays[0][0] = 1

# a device function divides by its own options : x=np.array([0.0, 1, 0])
#= x[0] == np.inf
@cuda.jit(device=True)
def plain(a, b):
    return a / b
@cuda.jit(debug=True, opt=False)
def kernel(x):
    x[0] = plain(x[1], x[2])

# a careful device function of a kernel that is not : x=np.array([0.0, 1, 0])
#! KernelDivisionError divides by zero
@cuda.jit(device=True, debug=True, opt=False)
def careful(a, b):
    return a / b
@cuda.jit
def kernel(x):
    x[0] = careful(x[1], x[2])

# a constant divisor of zero : x=np.ones(1)
@cuda.jit(debug=True, opt=False)
def kernel(x):
    x[0] = x[0] / 0  #! KernelDivisionError divides by zero

# an exception says what a GPU does @ 1, 2 : x=np.array([1, -1]) ; debug,word in True,raises False,silently
#= said("$word")
@cuda.jit(debug=$debug, opt=not $debug)
def kernel(x):
    if x[cuda.grid(1)] < 0:
        raise ValueError  #? raised-exception

# branches that are not taken divide nothing @ 1, 3 : x=np.array([0, 2, 4]), out=zeros(3)
#= out.tolist() == [5, 6, 0.25]
@cuda.jit(debug=True, opt=False)
def kernel(x, out):
    i = cuda.grid(1)
    out[i] = 1 / x[i] if x[i] != 0 else 5
    if x[i] != 0 and 4 // x[i] == 2:
        out[i] = 6

# an assertion that fails ends its threads @ 2, 3 : a=np.arange(6), b=zeros(6)
#= (b.tolist(), run.findings[0].threads) == ([1, 1, 1, 0, 0, 0], (((1, 0, 0), (0, 0, 0)),))
#= said("assert a[i] < 3, 'too large'")
i = cuda.grid(1)
assert a[i] < 3, "too large"  #? failed-assertion x3
b[i] = 1

# an exception in a device function @ 1, 4 : a=np.array([4, -1, 2, -5], "f4"), b=zeros(4, "f4")
#= (b[0], b[2], {f.threads for f in run.findings}) == (2, 1, {(((0, 0, 0), (1, 0, 0)),)})
#= said("raise ValueError('negative {}')")
@cuda.jit(device=True)
def root(x):
    if x < 0:
        raise ValueError("negative {}")  #? raised-exception x1
    return x * float32(0.5)
@cuda.jit
def kernel(a, b):
    i = cuda.grid(1)
    if i < 3:
        b[i] = root(a[i])  #? uninitialized-read

# a raise on every path : a=zeros(1)
#= a[0] == 1
a[0] = 1
raise RuntimeError  #? raised-exception
""")  # fmt: skip

UNSAID = Table(None, header=HEADER, lines=True, arguments="a=zeros(1)", text="""\
print(a)  #! a a[i]
print(a[0], end='')  #! print()
raise  #!
print(a[0] > 1)  #! bool
""")  # fmt: skip
