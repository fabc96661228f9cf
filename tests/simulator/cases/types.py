"""Types that nobody asked for: float64 by accident, and the casts of signatures in decorators."""

from simulator.cases import IMPORTS, Table

HEADER = f"""{IMPORTS}
@cuda.jit(device=True)
def half(n):
    return n / 2

@cuda.jit(device=True)
def added(x, y):
    return x + y
"""

BY_ACCIDENT = Table(None, header=HEADER, arguments="x=np.ones(8, 'f4'), n=3", text="""\
# a quotient through a device function
#= said("n / 2", "int64 and int64")
x[0] = x[1] + half(n)  #? float64

# a quotient handed to a device function
#= said("x + y", "n / 2")
#? float64
x[0] = added(x[1], n / 2)

# a quotient in a tuple
#= said("n / 2", "float32(n) / float32(2)")
pair = (n / 2, 1)
x[0] = x[1] + pair[0]  #? float64

# a function of an integer ; of in math.sqrt math.erf math.lgamma math.exp math.floor cuda.cbrt
#= said("$of(n), math of int64,", "$of(float32(n))")
x[0] = x[1] + $of(n)  #? float64

# atan2 of integers is no quotient
#= said("int64 and int64") and not said("quotient")
x[0] = x[1] + math.atan2(n, n)  #? float64

# fma
#= said("cuda.fma(x[1], x[2], n)")
x[0] = cuda.fma(x[1], x[2], n)  #? float64

# an accumulator, a literal and an argument name themselves @ 1, 4
#: x=np.ones(4, "f4"), n=np.int32(3), out=zeros(4, "f4")
#= said("acc", "0.0", "0.5", "n is int32")
i = cuda.grid(1)
acc = 0.0
acc += x[i]  #? float64
half_of = x[i] * 0.5  #? float64
count = x[i] * n  #? float64
out[i] = acc + half_of + count

# a variable and where its type is from, without those in between
#= said("because v is float64: the literal 2.5;", "because w is float64: the literal 2.5;") and not said("64: v is")
v = x[0] * 2.5  #? float64
for k in range(2):
    v = v * x[k]  #? float64
w = v + x[1]  #? float64
x[2] = w - x[3]  #? float64
""")  # fmt: skip

#: No operand is a float32, and what is computed goes to an element that is no float64.
STORED = Table(None, header=HEADER, arguments="x=np.ones(8, 'f4'), k=np.ones(8, 'i4'), d=np.ones(8), n=3", text="""\
# a function of an integer
#= said("math.sin(float32(n))")
x[0] = math.sin(n)  #? float64

# a quotient, stored to floats and to integers ; to in x k
#= said("$to[0]", "float32(n) / float32(2)")
$to[0] = n / 2  #? float64

# a literal and an integer, in arithmetic of several steps
#= said("(float32(k[1]) + float32(n) / float32(2)) * float32(0.1)")
x[0] = (k[1] + n / 2) * 0.1  #? float64

# a variable, and its sign
v = k[1] * 0.5
x[0] = v  #? float64
x[1] = -v  #? float64

# a sum of integers times a literal
#= said("0.0")
s = 0.0
for i in range(4):
    s += k[i] * 0.1
x[0] = s  #? float64

# a quotient of a device function
x[0] = half(n)  #? float64

# a constant that a loop adds to
c = 2 * math.pi
for i in range(n):
    c += k[i] * 0.1
x[0] = c  #? float64

# shared memory, and an atomic sum
tile = cuda.shared.array(1, float32)
tile[0] = n / 2  #? float64
cuda.atomic.add(x, 0, n / 2)  #? float64

# a part of an array
x[2:4] = n / 2  #? float64
""")  # fmt: skip

#: Double precision that is meant, costs nothing, or has been told.
NOT_TOLD = Table(None, header=HEADER, arguments="x=np.ones(8, 'f4'), k=np.ones(8, 'i4'), d=np.ones(8), n=3", text="""\
# a literal is converted by the compiler ; value in 0.5 (1/3) -2.5
#= run.findings == ()
x[0] = $value

# one of two literals
#= run.findings == ()
x[0] = 0.5 if n > 2 else 1.5

# arithmetic of constants, which the compiler does ; value in 2*math.pi 180.0/math.pi math.sqrt(2) max(1.5,2.5)*2
#= run.findings == ()
x[0] = $value
c = $value / 3
x[1] = c

# the array asks for it
#= run.findings == ()
d[0] = n / 2
d[1] = math.sin(n)
x[0] = d[0] * 0.5
cuda.atomic.add(d, 0, n / 2)

# a conversion in the source
#= run.findings == ()
x[0] = float32(n / 2)
x[1] = float(n) / 2

# an index
#= run.findings == ()
x[int(n / 2)] = n

# arithmetic with a float32 is told where it is done, and not again where it is stored @ 1, 1
#= len(run.findings) == 1
v = x[0] * 0.5  #? float64
x[0] = v
x[1] = v + n / 2
""")  # fmt: skip

ASKED_FOR = Table(None, header=HEADER, arguments="x=np.ones(8, 'f4'), d=np.ones(8), n=3", text="""\
# one operand, where the other one is float64 by accident, and their sum was asked for
#= run.findings == ()
x[0] = x[1] + (d[0] + n / 2)

# one side
#= run.findings == ()
x[0] = x[1] + (d[0] if n > 2 else n / 2)
x[2] = x[1] + max(d[0], n / 2)
x[3] = x[1] + (d[0] or n / 2)

# a conversion
#= run.findings == ()
x[0] = x[1] + float64(n)
x[2] = x[1] + float(n)
x[3] = x[1] + float32(n / 2)

# divmod divides the first by the second, and loads each once
#: a=zeros(2, "i8"), b=np.array([$first, 3]) ; first in 7 -7
#= (a.tolist(), traffic(op="load").accesses) == ([*divmod($first, 3)], 2)
a[0], a[1] = divmod(b[0], b[1])
""")  # fmt: skip

#: numba's own `cuda.jit` asks for a driver when it is given a signature.
SIGNED = Table(None, header="""
from types import SimpleNamespace

from numba import float32, int32, int64, void

class Jitted:
    def __init__(self, function):
        self.py_func = function

class cuda:
    jit = staticmethod(lambda *signature, **options: Jitted)
""", text="""\
# arguments and result of a device function are cast : a=np.array([1.9], "f4"), out=zeros(1)
#= (out[0], run.findings) == (3, ())
@cuda.jit("int32(int32, int32)", device=True)
def added(x, y):
    return x + y + 0.75
def kernel(a, out):
    out[0] = added(a[0], 2.9)

# a result of float32 is no accident : a=np.ones(2, "f4"), n=3
#= (a[0], run.findings) == (2.5, ())
@cuda.jit("float32(int64)", device=True)
def half(n):
    return n / 2
def kernel(a, n):
    a[0] = a[1] + half(n)

# arguments of a kernel are cast : a=zeros(1, "f4"), n=$n ; n in 2.9 2**32+2
#: ; signature in "void(float32[:],int32)" void(float32[:],int32) (float32[:],int32)
#= a[0] == 2
@cuda.jit($signature)
def kernel(a, n):
    a[0] = n

# the best of several signatures : a=np.array([2.5], "f4"), b=np.array([7], "i2"), out=zeros(3)
#= out.tolist() == [2.5, 7, 9.5]
@cuda.jit(["int32(int32)", "float32(float32)"], device=True)
def same(x):
    return x
def kernel(a, b, out):
    out[0] = same(a[0])
    out[1] = same(b[0])
    out[2] = same(b[0] + a[0])

# a device function that returns what its signature does not say : a=zeros(1, "i8")
#: ; result in x,x x*1j
@cuda.jit("int64(int64)", device=True)
def returns(x):  #! signature
    return $result
def kernel(a):
    a[0] = returns(a[0])

# arrays of another type : a=zeros(1), n=1
#! LaunchError kernel
@cuda.jit("void(float32[:], int32)")
def kernel(a, n):
    a[0] = n

# an array of another order than the signature's : a=np.zeros((2, 3), "f4", order="$order")
#: ; order,rows,columns in F,:,::1 C,::1,:
#! LaunchError order
@cuda.jit("void(float32[$rows,$columns])")
def kernel(a):
    a[0, 0] = 1

# of several signatures, that of the array's order : a=np.zeros((2, 3), "f4", order="$order") ; order in C F
#= a[1, 2] == 1
@cuda.jit(["void(float32[:,:])", "void(float32[:,::1])", "void(float32[::1,:])"])
def kernel(a):
    a[1, 2] = 1

# a signature of an array that is changed, and one that is read-only : a=np.broadcast_to(np.float32(1), 1)
#! LaunchError read-only
@cuda.jit("void(float32[:])")
def kernel(a):
    a[0] = 1

# two signatures are equally near : a=zeros(1, "i8")
@cuda.jit(["int64(int64, float64)", "int64(float64, int64)"], device=True)
def first(x, y):
    return x
def kernel(a):
    a[0] = first(a[0], a[0])  #! first

# no signature : a=zeros(1) ; signature in void(float32[:] void(teleport) 7
#! $signature
@cuda.jit("$signature")
def kernel(a):
    a[0] = 1

# a signature with a type that no kernel has : a=zeros(1)
#! unicode_type
@cuda.jit("void(unicode_type)")
def kernel(a):
    a[0] = 1
""")  # fmt: skip
