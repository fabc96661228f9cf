"""Device functions, functions that a kernel defines, functions and statements of Python."""

import numpy as np
from simulator.cases import IMPORTS, Table

X = np.random.default_rng(3).random(12)
I = np.random.default_rng(4).integers(0, 7, (64, 3))  # noqa: E741
MIXED = np.array([1, -1, 2, -2])

HIGHER = f"""{IMPORTS}
@cuda.jit(device=True)
def doubled(x):
    return x + x

@cuda.jit(device=True)
def twice(function, x):
    return function(function(x))

@cuda.jit(device=True)
def applied(function, *rest):
    return function(*rest) + len(rest)
"""
HEADER = f"""{HIGHER}
from numba import njit, types
from numba.extending import overload, register_jitable

SIX = 6

@cuda.jit(device=True)
def store_twice(a, i, value):
    if value < 0:
        return
    a[i] = 2 * value

@cuda.jit(device=True)
def positive(x):
    if x > 0:
        return x
    return None

@cuda.jit(device=True)
def falls_through(x):
    if x > 0:
        return x

@cuda.jit(device=True)
def converted(x, kind):
    return kind(x)

@cuda.jit(device=True)
def tile_of(n, kind):
    tile = cuda.local.array(4, kind)
    for k in range(4):
        tile[k] = n
    return tile[3]

@cuda.jit(device=True)
def sum_below(size):
    part = cuda.local.array(size, np.int64)
    for k in range(size):
        part[k] = k
    total = 0
    for k in range(size):
        total += part[k]
    return total

@cuda.jit(device=True)
def sum_below_through_another(size):
    return sum_below(size)

@cuda.jit(device=True)
def corner_of(shape, value):
    tile = cuda.shared.array(shape, np.float64)
    last = shape[0] - 1, shape[1] - 1
    tile[last] = value
    return tile[last] * tile.size

@cuda.jit(device=True)
def fifth(shape, wraps, index):
    tile = cuda.shared.array(shape, np.float64)
    if wraps:
        index = index % shape[0]  # a uint64 and an int64 meet: float64, which is no index
    tile[index, 0] = 5
    return tile[index, 0]

@cuda.jit(device=True)
def three(x):
    return x, x, x

@cuda.jit(device=True)
def meet():
    cuda.syncthreads()
    return 1, 2

@cuda.jit(device=True)
def itself(x):
    x[0] = 1
    return x

of_lambda = cuda.jit(device=True)(lambda x: 2 * x)
foreign = cuda.declare_device("foreign", "int32(int32)")
one, two = map(cuda.jit(device=True), (lambda x: x + 1, lambda x: x + 2))
several = dict(first=lambda ü: ü, square=lambda x: x * x, nested=(lambda k: lambda x: x * k + 1)(2), last=lambda: (1))
_, square, nested, last = map(cuda.jit(device=True), several.values())
chosen, none = map(cuda.jit(device=True), (lambda a, b, c: a + 1 if c else b, lambda: 0))

def grown(value, by):
    raise NotImplementedError

@overload(grown, target="generic")
def implementation_of_grown(value, by):
    if isinstance(value, types.Array):

        def whole(value, by):
            for i in range(value.size):
                value[i] += by

        return whole
    return (lambda value, by: value + by) if isinstance(by, types.Integer) else None

def spread(out, value, *rest, scale=2):
    raise NotImplementedError

@overload(spread, target="generic")
def implementation_of_spread(out, value, scale=2):
    def other_parameters(out, value):
        out[0] = value

    def stores(out, value, scale=2):
        out[0] = value * scale

    return other_parameters if isinstance(value, types.Float) else stores

@register_jitable
def halved(value, by=2):
    return value / by
"""

DEVICE_FUNCTIONS = Table(None, header=HEADER, text="""\
# a function that returns nothing @ 1, 4 : a=zeros(4), b=MIXED
#= a.tolist() == [2, 0, 4, 0]
i = cuda.grid(1)
store_twice(a, i, b[i])

# a function that returns on some paths, which are used @ 1, 4 : a=zeros(4), b=MIXED ; name in positive falls_through
#= a.tolist() == [1, 0, 2, 0]
i = cuda.grid(1)
$name(b[i])
if b[i] > 0:
    a[i] = $name(b[i])

# a function that returned nothing @ 1, 4 : a=zeros(4), b=MIXED ; name in positive falls_through
#= run.findings[0].threads == (((0, 0, 0), (1, 0, 0)),)
i = cuda.grid(1)
a[i] = $name(b[i])  #? uninitialized-read x2

# dtypes and functions as arguments : a=np.ones(5)
#= a.tolist() == [2, 0.5, 12, 7.5, 7]
a[0] = converted(2.75, types.int32)
a[1] = converted(a[1], float64) / 2
a[2] = twice(doubled, 3)
a[3] = tile_of(7.5, float32)
a[4] = tile_of(7.5, types.int8)

# a function that is handed itself recurses : a=zeros(1)
#! twice
a[0] = twice(twice, 1)

# NumPy's functions : a=np.array([np.nan, 2, 3], "f4"), n=np.array([5, 2]), out=zeros(7)
#= (out, run.findings)[0] == [np.nan, 2, np.sin(a[2]), 1, 20, np.hypot(a[2], a[2]), 0]
#= run.findings == ()
out[0] = np.maximum(a[0], a[1])
out[1] = np.fmax(a[0], a[1])
out[2] = np.sin(a[2])
out[3] = np.logical_and(n[0], n[1])
out[4] = np.left_shift(n[0], n[1])
out[5] = np.hypot(a[2], a[2])
out[6] = np.less_equal(n[0], n[1])

# a literal tuple gives the shape of an array : out=zeros(3)
#= (out.tolist(), run.findings) == ([48, 18, 30], ())
shape = (3, 5)
tile = cuda.local.array(shape, np.float64)
tile[shape[0] - 1, 4] = 2
out[0] = corner_of((4, 8), 1.5)
out[1] = corner_of((2, SIX), 1.5)
out[2] = tile[2, 4] * tile.size

# with the shape, a literal bool decides a branch, as in numba : out=zeros(1)
#= out[0] == 5
out[0] = fifth((4, 8), False, np.uint64(3))

# a tuple with an argument gives no shape : out=zeros(1), n=4
shape = (4, n)
tile = cuda.shared.array(shape, np.float64)  #! shape
tile[0, 0] = out[0]

# what only a launch knows gives no shape
#: out=zeros(1), n=4 ; call in corner_of((4,cuda.blockDim.x),1.0) sum_below(n) sum_below(cuda.blockDim.x)
#!
out[0] = $call

# a variable gives no shape : out=zeros(1), n=4
#! size
size = 3
if n > 3:
    size = 4
out[0] = sum_below_through_another(size)

# a device function is not launched : x=zeros(1)
#! LaunchError kernel
@cuda.jit(device=True)
def kernel(x):
    x[0] = 1

# an overload is chosen by the types : x=zeros(3)
#= x.tolist() == [3, 2, 2]
grown(x, 2)
x[0] = grown(x[0], 1)

# an overload takes names and defaults : x=zeros(2)
#= x.tolist() == [6, 15]
spread(x[1:], scale=5, value=4)
spread(x, 3)
x[1] = halved(x[1]) + halved(x[1], by=4)

# a lambda : out=zeros(1)
#= out[0] == 2
out[0] = of_lambda(1)

# lambdas that begin in one line : out=zeros(8)
#= out.tolist() == [2, 3, 9, 13, 5, 8, 0, 1]
out[0], out[1], out[2], out[3] = one(1), two(1), square(3), nested(6)
out[4], out[5], out[6], out[7] = chosen(4, 5, 1), chosen(4, 8, 0), none(), last()

# a store to an item of a tuple in a device function is watched @ 1, 64 : a=zeros(2), b=zeros(2)
@cuda.jit(device=True)
def set_first(pair, value):
    pair[0][0] = value  #? race a
@cuda.jit
def kernel(a, b):
    set_first((a, b), cuda.threadIdx.x)

# a barrier in a call whose value is known @ 1, 64 : x=np.arange(64), out=zeros(64)
#= (out.tolist(), run.findings) == ([*range(1, 64), 0], ())
i = cuda.threadIdx.x
tile = cuda.shared.array(64, int64)
tile[i] = x[i]
if len(meet()) == 2:
    out[i] = tile[(i + 1) % 64]

# every load that is written counts @ 1, 32 : x=np.arange(33), out=zeros(32)
#= traffic(op="load").accesses == 2 * 32
i = cuda.threadIdx.x
out[i] = (x[i], x[i + 1], 5)[2]
""")  # fmt: skip

REFUSED_CALLS = Table(None, header=HEADER, lines=True, arguments="x=zeros(2)", text="""\
x[0] = grown(x[0], 1.5)  #! grown
spread(x, 1.5)  #! spread
x[0] = foreign(1)  #! foreign
x[1] = itself(x).dtype.type(3)  #! itself(x).dtype
def kernel(*arrays): arrays[0][0] = 1  #! *arrays
""")  # fmt: skip

INNER_FUNCTIONS = Table("cudasim", header=HIGHER, launch="1, 8", arguments="x=X, out=zeros(8)",
                        first="i = cuda.threadIdx.x\n", text="""\
# the value of each lane
step = 1
def next_to(k):
    return x[k + step]
if i % 2:
    step = 2
out[i] = next_to(i)

# stores and defaults
def put(k, v, twofold=2):
    out[k] = twofold * v
put(i, x[i])
if i > 3:
    put(i, x[i], 7)

# a function calls another one
shift = x[2]
def moved(v):
    return v + shift
def both(v):
    return moved(v) * (lambda w: w - shift)(v)
out[i] = both(x[i])

# variables of its own
value = 3.0
def changed(v):
    value = v * 2
    rest = value + 1
    return rest
rest = 5.0
out[i] = changed(x[i]) + value + rest

# functions that read no variable, or constants alone, are arguments
y = 10
grown = lambda v: v + 1
def more(a, b):
    return a * b + y
out[i] = twice(grown, x[i]) + applied(more, x[i], 3)
out[i] += applied(lambda: y) + applied(lambda *v: v[0] + len(v), *(x[i], 2))
""")  # fmt: skip

MEETING = Table(None, header=HEADER, launch="1, 64", arguments="out=zeros(64)", text="""\
# the trace names its variables @ 1, 2, trace=True : out=zeros(2)
#= any("more" in step.variables for step in run.trace.steps)
#= any("more" in step.variables for step in loads(dumps(run)).trace.steps)
i = cuda.threadIdx.x
def grown(v):
    more = v + 1
    return more
out[i] = grown(out[i])
""")  # fmt: skip

NUMBA_REFUSES_TOO = Table("numba", header=HEADER, arguments="x=zeros(2)", text="""\
f = lambda v: v
x[0] = f(v=1)  #!

def f(v):  #! f
    return f(v) if v else 0
x[0] = f(1)

f = lambda v: v * late  #! late
late = 2
x[0] = f(late)

def f(*v):
    return v[0]
x[0] = f(1)  #! *v

@njit
def f(v):  #!
    return v
x[0] = f(1)

#! n
n = x[0]
f = lambda v: v + n
x[0] = twice(f, 1)

#! y
y = x[0]
x[1] = applied(lambda: y)
""")  # fmt: skip

OF_PYTHON = Table("cudasim", package="numba-cuda", launch="1, 64", arguments="x=I, out=zeros(64, 6)",
                  first="i = cuda.threadIdx.x\n", header=f"""{IMPORTS}
import enum

class Level(enum.IntEnum):
    LOW = 3
    HIGH = 7

class Colour(enum.Enum):
    RED = 1
    BLUE = 2

ALIAS = Colour.RED
""", text="""\
# tuples in and out
three = (x[i, 0], x[i, 1], x[i, 2])
out[i, 0], out[i, 1] = min(three), max(three)
out[i, 2] = sum(three) + sum((x[i, 0], 2.5, True), 4)
out[i, 3] = tuple(three)[1] + (0, *three, 5)[3]
out[i, 4] = len((x[i, 0], 2) * 3) + ((x[i, 0], 2) * 2)[2]
out[i, 5] = max(x.shape) - min((x.ndim,))

# operators as functions
a, b = x[i, 0], x[i, 1]
out[i, 0] = operator.add(a, operator.mul(b, 2)) - operator.truediv(a, 7)
out[i, 1] = operator.iadd(a, b) + operator.floordiv(a, 3) + operator.neg(b)
out[i, 2] = operator.lt(a, b) + 2 * operator.eq(a, b) + 4 * operator.not_(a)
out[i, 3] = operator.getitem(x, (i, 2)) + operator.add((a,), (b,))[1]
out[i, 4] = operator.and_(a, 3) | operator.lshift(b, 2)

# match
match x[i, 0]:
    case 0 | 2:
        out[i, 0] = 1
    case Level.LOW:
        out[i, 0] = 2
    case -1:
        out[i, 0] = 9
    case (4 | 5) as n if n > 4:
        out[i, 0] = 10 * n
    case n if n == x[i, 1]:
        out[i, 0] = 100 + n
    case _:
        out[i, 0] = -1
match x[i, 1] + 1:
    case 3:
        out[i, 1] = 5
    case other:
        out[i, 1] = other
match bool(x[i, 2] > 2):
    case True:
        match i:
            case 2:
                out[i, 2] = 4
    case False:
        out[i, 2] = 8
kind = None
match kind:
    case None:
        out[i, 3] = 6
    case _:
        out[i, 3] = 7

# enumerations
out[i, 0] = x[i, 0] == Level.LOW
out[i, 1] = x[i, 0] + Level.HIGH.value
out[i, 2] = (Colour.RED == Colour.BLUE) + 2 * (Colour.RED is ALIAS) + 4 * (Colour.RED != Colour.BLUE)
out[i, 3] = x[i, 0] > Level.LOW and x[i, 0] is not None
out[i, 4] = Level["HIGH"] + (Colour["RED"] is ALIAS)
""")  # fmt: skip

OF_NUMBA_CUDA = Table("cudasim", package="numba-cuda", alone=True, lines=True, arguments="x=I, out=zeros(1)",
                      header=IMPORTS, text="""\
out[0] = sum((x[0, 0], x[0, 1]))
out[0] = max((x[0, 0], x[0, 1]))
out[0] = x[0, 0].bit_count()
""")  # fmt: skip

REFUSED = Table(None, package="numba-cuda", header=IMPORTS, arguments="x=zeros(2)", text="""\
x[0] = sum(())  #!

# a variable that is None before the loop, and is used as a number ; use in x[0]=best best+=1
best = None
for k in range(2):
    if x[k] > 0:
        best = x[k]
$use  #! numba-cuda

# one that is tested alone : x=np.ones(2)
#= x[0] == 7
best = None
for k in range(2):
    if x[k] > 0:
        best = x[k]
if best is not None:
    x[0] = 7

# one for which the loop waits : x=np.ones(2)
#= x[0] == 2
best = None
k = 0
while best is None:
    if x[k] > 0:
        best = x[k]
    k += 1
x[0] = best + 1

# a division of whole numbers in place ; kind in int8 uint32 int64 ; by in n[1] 2 x.size cuda.threadIdx.x
n = cuda.local.array(2, $kind)
n[0], n[1] = 5, 2
n[0] /= $by  #! numba-cuda /= x = x / y

# of a variable
n = x.size
n /= True  #! numba-cuda /= int64 bool

# a division in place of which one number is real, or whose result is whole
#= x.tolist() == [1.25, 7]
n, m, v, w = 5, 15, x.size, 2.5
v /= 2.0
w /= 2
m //= 2
x[0], x[1] = w, m

x[0] = sum(x)  #! 1-dimensional float64

match (x[0], 1):
    case (0, n):  #! [0, n]:
        x[0] = n

match x[0]:
    case float():  #! float():
        x[0] = 1

x[0] = x[0].bit_count()  #! float64

x[0] = operator.add(x[0])  #! 2

x[0] = tuple(x)[0]  #! tuple()

x[0] = isinstance(x[0], np.ndarray)  #! ndarray

x[0] = isinstance(x[0], np.floating)  #! floating

x[0] = isinstance(x[0], type(None))  #!
""")  # fmt: skip

PUBLIC = Table(None, header=f"""{IMPORTS}
@cuda.jit(device=True)
def digits(a, b, c):
    return 100 * a + 10 * b + c
""", text="""\
# two arrays in one statement @ 1, 32 : x=np.arange(32, dtype="f4"), out=zeros(32, "f4")
#= out == 4 * x[::-1] + 2 * x
#= {row.array for row in run.traffic.rows} == {"x", "out", "a", "b", "c"}
a, (b, c) = cuda.shared.array(32, float32), (cuda.local.array(1, float32), cuda.shared.array(32, float32))
i = cuda.threadIdx.x
a[i] = x[i]
b[0] = 2 * x[i]
c[i] = 3 * x[i]
cuda.syncthreads()
out[i] = a[31 - i] + b[0] + c[31 - i]

# arguments from a tuple @ 1, 8 : x=np.arange(8), out=zeros(8, int)
#= out == 143 + 101 * x
i = cuda.threadIdx.x
both = x[i], 2
out[i] = digits(*both, 3) + digits(1, *(both[1:] + both[:1]))

# all lanes that match @ 1, 64 : x=np.where(np.arange(64) == 40, 8, 7), out=zeros(64, 2, int)
#= out.tolist() == [[0xFFFFFFFF, 1]] * 32 + [[0, 0]] * 32
i = cuda.threadIdx.x
mask, same = cuda.match_all_sync(0xFFFFFFFF, x[i])
out[i, 0], out[i, 1] = mask & 0xFFFFFFFF, same

# all of ten lanes, as in numba's own test @ 1, 10 : x=np.full(10, 7), out=zeros(10, 2, int)
#= out.tolist() == [[0b11_1111_1111, 1]] * 10
i = cuda.threadIdx.x
out[i, 0], out[i, 1] = cuda.match_all_sync(0xFFFFFFFF, x[i])

# a pause computes nothing @ 1, 8 : x=zeros(8)
#= (x.tolist(), run.findings) == ([*range(8)], ())
i = cuda.threadIdx.x
cuda.nanosleep(100 + i)
x[i] = i

# strings outside choose a branch, and numba leaves out the others : out=zeros(1) ; how,right in sum,3 product,2 other,0
#= out[0] == $right
how = "$how"
@cuda.jit
def kernel(out):
    if how == "sum":
        out[0] = 1 + 2
    elif "product" == how:
        out[0] = 1 * 2
    elif how != "other":
        out[0] = 2.5 & 1
""")  # fmt: skip

PUBLIC_AS_PYTHON = Table("cudasim", header=IMPORTS, first="i = cuda.threadIdx.x\n", text="""\
# parts of numbers @ 1, 6
#: x=np.array([0, 1, -5, 7.75, 100.5, -0.25]).astype("$t"), out=zeros(6, 6) ; t in float32 float64 int32 int8
m, e = math.frexp(x[i])
part, whole = math.modf(x[i])
out[0, i], out[1, i], out[2, i], out[3, i] = m, e, part, whole
out[4, i] = math.ldexp(x[i], -2)
out[5, i] = x.itemsize

# tuples are ordered item by item, and the shorter one comes first @ 1, 81
#: x=np.random.default_rng(5).integers(0, 3, (81, 4)), out=zeros(81, 6)
a, b = (x[i, 0], x[i, 1]), (x[i, 2], x[i, 3])
out[i, 0], out[i, 1], out[i, 2], out[i, 3] = a < b, a <= b, a > b, a >= b
out[i, 4], out[i, 5] = a < b + (0,), a + (0,) >= b
""")  # fmt: skip
