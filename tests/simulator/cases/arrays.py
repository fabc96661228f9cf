"""Views, other forms and whole parts of arrays: what NumPy gives, at the true addresses."""

import numpy as np
from simulator.cases import IMPORTS, Table

M = np.random.default_rng(3).integers(0, 99, (5, 7)).astype("f4")
W = np.random.default_rng(3).integers(0, 99, (64, 24)).astype("f8")
X = np.random.default_rng(8).normal(size=24).astype(np.float32)
POSITIVE = np.random.default_rng(3).random(64).astype(np.float32)
SMALL = np.random.default_rng(2).integers(0, 9, (2, 3, 2))
LINE = np.linspace(-2, 2, 12).reshape(3, 4) * (np.arange(12) != 4).reshape(3, 4)
ROW = np.array([0.5, -1.0, 0.0, 1.5])

HEADER = f"""{IMPORTS}
CONSTANT = np.array([0.5, -1.0, 0.0, 1.5])

@cuda.jit(device=True)
def total(window):
    acc = float32(0)
    for i in range(window.shape[0]):
        for j in range(window.shape[1]):
            acc += window[i, j]
    return acc

@cuda.jit(device=True)
def fill(row, value):
    for j in range(len(row)):
        row[j] = value + j

@cuda.jit(device=True)
def clear(row):
    row[:] = 0
"""

AS_NUMPY = Table("cudasim", header=HEADER, text="""\
# a window of a stencil @ 1, (8, 8) : A=M, B=zeros(5, 7)
#= traffic(op="load", array="A").accesses == 9 * 3 * 5
i, j = cuda.grid(2)
if 0 < i < A.shape[0] - 1 and 0 < j < A.shape[1] - 1:
    B[i, j] = total(A[i - 1 : i + 2, j - 1 : j + 2])

# a window that is clipped at the edges @ 1, 8 : A=np.arange(1, 9), B=zeros(8)
#= traffic(op="load").accesses == 22
i = cuda.grid(1)
window = A[max(i - 1, 0) : i + 2]
acc = 0
for k in range(len(window)):
    acc += window[k]
B[i] = acc + 1000 * window.size

# stores, atomics and loops through views : A=zeros(4, 4), B=M, counts=zeros(4)
fill(A[1], 10)
fill(A[:, 2], 100)
fill(A.T[0, ::-1], 1000)
cuda.atomic.add(counts[1:], 1, 5)
n = 0
for row in B:
    for value in row:
        n, row = n + value, B[0]
counts[0] = n
A[3][1:][0] += 1

# new dimensions @ 1, (5, 7) : A=M, B=zeros(5, 7), out=zeros(5, 7), sizes=zeros(5)
i, j = cuda.grid(2)
column, rows = A[:, None], A[np.newaxis, 1:, None, 2]
out[i, j] = column[i, 0, j] + 10 * A[i, None][0, j] + 100 * A[..., None, ::-1][i, 0, j]
B[:, None][i, 0, j] += A[i, j]
if i == j == 0:
    sizes[0], sizes[1], sizes[2] = rows.shape
    sizes[3], sizes[4] = rows[0, 2, 0], column.strides[0] + column.strides[1]

# an array or a part of one : A=np.arange(8), B=zeros(1), n=$n ; n in 1 5
part = A
if n > 3:
    part = A[2:]
B[0] = part[0]

# rows that threads of a warp choose @ 1, 5 : A=M, B=zeros(5)
i = cuda.grid(1)
row = A[0]
if i % 2:
    row = A[i]
B[i] = row[i]

# sizes and forms of arrays that threads choose @ 2, 40 : A=M, B=W.astype('f4'), out=zeros(80, 8)
i = cuda.grid(1)
m = A if i % 3 else B[:, 4:10]
out[i, 0], out[i, 1] = m.shape
out[i, 2] = m.size + m.ndim + len(m)
out[i, 3] = m.T[i % 5, i % 4] + m[i % 4][i % 3] + m[1:, ::2][i % 3, 2]
n = A if i % 3 else A.T[:5, :5]
out[i, 4] = n.strides[0] + n.strides[1]
for v in m[i % 4]:
    out[i, 5] += v
out[i, 6] = m[i % 2].sum()
flat = A if i % 2 else B
out[i, 7] = flat.reshape(-1)[i % 35] + flat.flat[i % 9]

# parts of arrays that threads choose are filled and added to @ 2, 40 : A=zeros(80, 4), B=zeros(80, 6)
i = cuda.grid(1)
row = A[i] if i % 2 else B[i, 2:]
row[:] = i
row[1:3] = 2
if i % 5 == 0:
    row.fill(row[0])

# atomics on arrays that threads choose @ 2, 40 : a=zeros(7, "i4"), b=zeros(5, "i4"), out=zeros(80, "i4")
#= traffic(array="a", op="atomic").accesses == 27 and traffic(array="b", op="atomic").accesses == 53
i = cuda.grid(1)
counts = b if i % 3 else a
cuda.atomic.add(counts, i % counts.size, i)

# an array chosen from a tuple, and tuples of arrays @ 2, 40
#: a=X.astype(float), b=-X.astype(float), out=zeros(80)
i = cuda.grid(1)
arrays = (a, b, a)
out[i] = arrays[i % 3][i % 20]
one, other = (a, b) if i % 7 else (b, a)
out[i] += one[i % 24] * 2 + other[1]

# arrays that a device function returns @ 2, 40 : a=X, b=-X, out=zeros(80)
@cuda.jit(device=True)
def larger(x, y, k):
    if x[k] > y[k]:
        return x
    return y
@cuda.jit
def kernel(a, b, out):
    i = cuda.grid(1)
    out[i] = larger(a, b, i % 24)[i % 24]
    out[i] += larger(a[1:], b[1:], i % 7)[i % 5]

# two buffers that threads exchange at different times @ 2, 40 : a=zeros(80), b=zeros(80), n=X, out=zeros(80)
i = cuda.grid(1)
old, new = a, b
for k in range(i % 6):
    new[i] = old[i] + n[k]
    old, new = new, old
out[i] = old[i]

# a part reshaped @ 1, 32 : x=X, y=X.copy(), out=zeros(24)
i = cuda.grid(1)
part = x.reshape(4, 6)[1:3].reshape(12)
row = y.reshape(4, 6)[3].reshape((2, 3))
if i < 12:
    part[11 - i] += 1
    out[i] = y[i:].reshape(-1)[2]
if i < 6:
    out[12 + i] = row[i // 3, i % 3]

# transposed @ 1, 32 : y=X, out=zeros(24)
i = cuda.grid(1)
turned = y.reshape(4, 6).transpose()
if i < 24:
    out[i] = turned[i // 4, i % 4] + turned.T[i // 6, i % 6]

# flat @ 1, 32 : x=X, y=X.copy(), out=zeros(24)
i = cuda.grid(1)
part = x.reshape(4, 6)[1:, ::2]
if i < len(part.flat):
    out[i] = y.reshape(4, 6)[1:, ::2].flat[i]
    part.flat[-1 - i] = -i  #? negative-index x
if i == 20:
    for v in y.reshape(4, 6)[1:, ::2].T.flat:
        out[23] += v

# bits @ 1, 32 : x=X, out=zeros(24)
i = cuda.grid(1)
whole = x.view(np.int32)
if i < 12:
    out[i] = whole[i] >> 23
    whole[i] = whole[i] & 0x7FFFFFFF
elif i < 24:
    out[i] = (x[i].view(np.int32) >> 4) + (whole[12:].view(np.float32).view(np.int32)[i - 12] >> 4)

# sizes : x=X, out=zeros(8)
wide = x.reshape(4, 6)
out[0], out[1] = wide.strides
out[2], out[3] = wide[::2, ::-3].strides
out[4], out[5] = wide.T.strides
out[6] = wide[1:, 2:4].nbytes
out[7] = wide.view(np.int32).strides[0]

# a number into parts of an array, in rows of which each thread has one @ 1, 32 : A=np.full((6, 8), 9.0, "f4")
#= (run.findings, traffic(op="load").accesses, run.traffic.requests) == ((), 0, 8 + 6 + 3 + 1)
#= traffic(op="store").accesses == 6 * (8 + 6 + 3 + 1)
i = cuda.grid(1)
if i < A.shape[0]:
    A[i] = i
    A[i, 1:-1] = 10 + i
    A[i][::3] = 0.5
    row = A[i, i:]
    row[-1:] = -1

# an index from a tuple @ 1, 2 : x=np.arange(12.0).reshape(2, 2, 3), out=zeros(2)
i = cuda.threadIdx.x
place = (i, 1)
out[i] = x[(0, *place)] + x[(*place[:1], 0, 0)]

# NumPy's functions store in an array, and broadcast
#: A=LINE, row=ROW, out=zeros(3, 4), turned=zeros(4, 3, "f4"), angle=zeros(2)
#= traffic(op="load", array="row").accesses == 24
np.fmax(A, row, out)
np.arctan2(2.0, row, turned.T)
np.logical_not(A[1:, 0], angle)
""")  # fmt: skip

SUMS = Table("numba", header=HEADER, text="""\
# a sum of all elements, in the type in which numba adds @ 1, 4 : x=(np.arange(24) * $of).astype("$kind").reshape(4, 6)
#: , out=zeros(4, 3) ; kind,of in int8,11 uint8,11 int32,2**27 uint64,3 float32,.1 float64,.1 bool,1
i = cuda.grid(1)
row = x[i]
out[i, 0] = x.sum() / 2
out[i, 1] = row.sum() / 2
out[i, 2] = x[1:i, ::2].sum() / 2

# complex numbers, and no elements : x=np.arange(3) * (1 + 2j), out=zeros(3)
total = x.sum()
out[0], out[1], out[2] = total.real, total.imag, x[3:].sum().real
""")  # fmt: skip

OVER_ALL_INDICES = Table("cudasim", header=HEADER, package="numba-cuda", alone=True, text="""\
# loops over all indices : x=SMALL.reshape($shape), out=zeros(2, 20) ; shape in 3,4 2,3,2 12
k = 0
for index in np.ndindex(x.shape):
    out[0, k] = x[index]
    k += 1
k = 0
for index, value in np.ndenumerate(x):
    out[1, k] = value + 100 * index[0] + index[-1]
    k += 1

# loops over all indices of what the body assigns anew : x=np.ones((2, 3)), y=zeros(2, 3), out=zeros(4, 3)
n = 2
for i, j in np.ndindex(n, 3):
    out[i, j] += 1
    n = 1
z = x
for (i, j), value in np.ndenumerate(z):
    out[2 + i, j] += value
    z = y

# loops over an array without elements : x=zeros(0, 3), out=zeros(1)
for index, value in np.ndenumerate(x):
    out[0] = 1
for index in np.ndindex(x.shape):
    out[0] = 2
""")  # fmt: skip

ACCESSES = Table(None, header=HEADER, text="""\
# threads choose between arrays, one of which is too short @ 1, 32 : a=zeros(32), b=zeros(24), out=zeros(32)
#= [f.threads[0][1][0] for f in run.findings] == [25]
i = cuda.grid(1)
x = b if i % 2 else a
out[i] = x[i]  #? out-of-bounds b (25,)

# threads choose between arrays, in one of which nobody wrote @ 1, 32 : out=zeros(32)
i = cuda.grid(1)
a = cuda.local.array(2, float64)
b = cuda.local.array(3, float64)
a[1] = i
x = b if i < 7 else a
out[i] = x[1]  #? uninitialized-read b (1,)

# threads choose between arrays and store to one word @ 1, 32 : out=zeros(32), b=zeros(4)
i = cuda.grid(1)
x = b if i % 2 else out
x[i // 8] = i  #? race b (0,); race out (0,)

# one request of each array that the threads choose @ 1, 32 : a=zeros(64, "f4"), b=zeros(64, "f4"), out=zeros(32)
#= [(t.requests, t.accesses, t.sectors) for t in (traffic(array=n) for n in "ab")] == [(1, 8, 1), (1, 24, 3)]
i = cuda.grid(1)
x = a if i < 8 else b[16:]
out[i] = x[i] + 1

# threads choose parts of one array, which is one request @ 1, 32 : a=zeros(64, "f4"), out=zeros(32)
#= (traffic(array="a").requests, traffic(array="a").sectors) == (1, 2)
i = cuda.grid(1)
x = a[1:]
if i % 2:
    x = a.reshape(8, 8)[1]
out[i] = x[i // 4]

# threads choose a constant @ 1, 32 : a=X.astype(float), out=zeros(32)
#= (out == 1 + np.where(np.arange(32) % 2, np.resize(a[:4], 32), np.resize(ROW, 32))).all()
i = cuda.grid(1)
x = a if i % 2 else CONSTANT
out[i] = x[i % 4] + 1

# threads store to what is a constant for some @ 1, 32 : out=zeros(32)
#! LaunchError CONSTANT
i = cuda.grid(1)
x = out if i % 2 else CONSTANT
x[i % 4] = 1

# a loop changes another array in each thread, and ends @ 1, 32 : a=zeros(32, "i4"), b=zeros(32, "i4"), out=zeros(32)
#= (out == 40).all()
i = cuda.grid(1)
x = a if i % 2 else b
while x[i] < 40:
    x[i] += 1
out[i] = x[i]

# sectors of rows, at their true addresses @ 2, 32 : A=W, out=zeros(64)
#= out == W.sum(1)
#= [(r.requests, r.sectors) for r in run.traffic.rows if r.array == "A"] == [(48, 24 * 64)] * 2
i = cuda.grid(1)
row = A[i]
acc = other = 0.0
for k in range(row.shape[0]):
    acc += row[k]
for k in range(A.shape[1]):
    other += A[i, k]
out[i] = acc if acc == other else -1

# parts of shared and local arrays @ 1, (7, 5) : A=M, B=zeros(5, 7)
#= B == A + A[:, ::-1] + np.arange(7) + 2
#= (run.findings, traffic(space="shared", op="load").accesses) == ((), 70)
tile = cuda.shared.array((5, 7), float32)
own = cuda.local.array((2, 3), int32)
i, t = cuda.threadIdx.y, cuda.threadIdx.x
mine = tile[i]
mine[t] = A[i, t]
fill(own[1], t)
cuda.syncthreads()
B[i, t] = tile.T[t][i] + tile[i, ::-1][t] + float32(own[1, 2])

# column accesses of a tile that was cut from one piece of shared memory have its conflicts @ 1, (32, 32)
#: x=W.ravel()[:1024].reshape(32, 32).astype("f4")
#= x == old.x.T
#= [(row.wavefronts, row.requests) for row in run.traffic.rows if row.space == "shared"] == [(32 * 32, 32), (32, 32)]
whole = cuda.shared.array(1024, float32)
tile = whole.reshape((32, 32))
i, j = cuda.threadIdx.x, cuda.threadIdx.y
tile[i, j] = x[j, i]
cuda.syncthreads()
x[j, i] = tile[j, i]

# outside a dimension that is new : A=M
A[:, None][1, 1, 0] = 0  #? out-of-bounds A (1, 0)

# outside a view but inside its array @ 1, 4 : A=np.arange(8), B=zeros(4)
#= "view" in run.findings[0].message
i = cuda.grid(1)
row = A[1:3]
B[i] = row[i]  #? out-of-bounds A (3,) x2

# a negative index wraps within the view @ 1, 3 : A=np.arange(8), B=zeros(3)
#= B.tolist() == [3, 2, 1]
B[cuda.grid(1)] = A[1:4][-1 - cuda.grid(1)]  #? negative-index A x3

# the bounds are those of the form : x=zeros(24)
x.reshape(4, 6)[3, 6] = 1  #? out-of-bounds x (24,)

# shared and local arrays and arguments are filled @ 1, 4 : out=zeros(4)
#= (out.tolist(), run.findings) == ([20001.5, 21101.0, 22200.5, 23300.0], ())
t = cuda.threadIdx.x
tile = cuda.shared.array((4, 8), float32)
own = cuda.local.array(5, int32)
tile[t, ...] = t
own[:] = 2.9
own[1:3].fill(t)
clear(own[3:])
cuda.syncthreads()
out[t] = 0
for k in range(5):
    out[t] = 10 * out[t] + own[k]
out[t] += tile[3 - t, 7] / float32(2)

# threads that fill one array race @ 1, 64 : tile=zeros(8)
tile[:] = 0  #? race tile

# compare and swap of elements viewed as another type, for the largest of positive floats @ 1, 64
#: x=POSITIVE, best=zeros(1, "f4")
#= (best[0], run.findings) == (x.max(), ())
i = cuda.grid(1)
bits = best.view(np.int32)
old = bits[0] if i < 0 else 0
mine = np.float32(x[i]).view(np.int32)
while mine > old:
    seen = cuda.atomic.cas(bits, 0, old, mine)
    if seen == old:
        break
    old = seen

# the largest of positive floats in dynamic shared memory of two types @ 1, 64, 0, 16, trace=True
#: x=POSITIVE, best=zeros(1, "f4")
#= (best[0], run.findings) == (x.max(), ())
memory = cuda.shared.array(0, np.float32)
bits = cuda.shared.array(0, np.int32)
t = cuda.threadIdx.x
if t == 0:
    memory[0] = 0
cuda.syncthreads()
cuda.atomic.max(bits, 0, np.float32(x[t]).view(np.int32))
cuda.syncthreads()
if t == 0:
    best[0] = memory[0]
""")  # fmt: skip

REFUSED = Table(None, header=HEADER, lines=True,
                arguments="a=zeros(24, 'f4'), A=zeros(2, 4), I=zeros(2, 4, 'i4')", text="""\
a[0:2] = a[2:4]  #! a[0:2] a[2:4] float32
a[0] = a[:: a.shape[0] - 24][0]  #! KernelError 0
a[0] = a[1j:][0]  #! 1j complex128
a[0] = a[1, :]  #! a[1, :] 1
a.reshape(5, 5)[0, 0] = 1  #! KernelError a 24 25
a.reshape(-1, -1)[0, 0] = 1  #! KernelError a 24 1
a.reshape(-1, 7)[0, 0] = 1  #! KernelError a 24 7
a[::2].reshape(3, 4)[0, 0] = 1  #! a
a.reshape(4, 6).T.reshape(24)[0] = 1  #! a
a.view(np.uint8)[0] = 1  #! float32 4 uint8 1
a.reshape(shape=(4, 6))[0, 0] = 1  #! reshape()
a[0] = len(a.reshape(()))  #! len() 0-dimensional
f = a.reshape; f(24)[0] = 1  #! a.reshape
for i, v in np.ndenumerate(A, A): a[0] = v  #! np.ndenumerate()
A[:] = I  #! A[:] I 2-dimensional int32
A[0] = A[1]  #! A[0] A[1] 1-dimensional float64
A[0, :3] = (1, 2, 3)  #! A[0, :3] (1, 2, 3)
A[1:] += 1  #! A[1:]
cuda.atomic.add(A, 0, 1)  #! A[0]
A[:] = 2j  #! complex128 float64
np.sin(A[0, 0], I)  #! np.sin float64 I int32
np.sin(A, I[0])  #! A 2-dimensional float64 1-dimensional
A[0, 0] = np.sin(A[0, 0], A)  #! np.sin(A[0, 0], A) A
np.sin(A[0, 0], 2)  #! np.sin() 1 2 int64
np.sin(a, A)  #! KernelError a 24 A 4
""")  # fmt: skip

#: An array that only some paths have made, read behind them: numba's own compiler keeps one place for it.
MADE_ON_SOME_PATHS = Table(None, launch="1, 8", header=HEADER, arguments="out=np.zeros(8, 'i4')", text="""\
# a local array of a loop, read behind it ; n in 1 3
#= (out == $n - 1).all() and run.findings == ()
for k in range($n):
    mine = cuda.local.array(2, int32)
    mine[0] = k
out[cuda.grid(1)] = mine[0]

# a local array of a loop that runs no iteration
for k in range(out.shape[0] - 8):
    mine = cuda.local.array((2, 2), int32)
    mine[1, 0] = k
out[cuda.grid(1)] = mine[1, 0]  #? uninitialized-read mine x8

# a while loop that some threads never enter
i = cuda.grid(1)
while i < 6:
    mine = cuda.local.array(1, int32)
    mine[0] = i
    i += 6
out[cuda.grid(1)] = mine[0]  #? uninitialized-read mine x2

# a shared array of a branch that all threads take
#= (out == np.arange(8)).all() and run.findings == ()
i = cuda.grid(1)
if out.shape[0] > i:
    tile = cuda.shared.array(8, int32)
    tile[i] = 7 - i
cuda.syncthreads()
out[i] = tile[7 - i]

# a view of a branch that some threads take
i = cuda.grid(1)
if i < 5:
    part = out[i : i + 1]
part[0] = 1  #? uninitialized-read part x3

# a view of a branch that no thread takes, given to a device function
if out.shape[0] > 8:
    part = out[1:]
clear(part)  #? uninitialized-read part x8
""")  # fmt: skip
