"""Rules of the machine that a kernel breaks: kinds, lines, threads and counts; and loops that run too long."""

from simulator.cases import IMPORTS, Table

HEADER = f"""{IMPORTS}
@cuda.jit(device=True)
def kept(x, write):
    mine = cuda.local.array(2, float32)
    if write:
        mine[0] = x
    for _ in range(2):
        mine[1] = mine[0]  #? uninitialized-read mine x8
    return mine[1]
"""

RULES = Table(None, header=IMPORTS, launch="1, 64", arguments="a=zeros(64)", first="i = cuda.threadIdx.x\n", text="""\
# parts of a block at different barriers
#= {f.line for f in run.findings} | {f.other_line for f in run.findings} == {line("# first"), line("# second")}
#? barrier-divergence
if i < 40:
    a[i] = 1
    cuda.syncthreads()  # first
else:
    cuda.syncthreads()  # second
a[i] = 2

# a row that each thread fills @ (1, 2), (4, 2) : C=zeros(4, 4) ; part in C[0] C[:]
#= said("C[0] names a part of C", "give 2 indices") == ("$part" == "C[0]")
$part = cuda.threadIdx.y  #? race C (0, 0)

# an access outside an array is left out, and the kernel goes on @ 1, 8
#: a=np.arange(8.0).reshape(1, 8), out=zeros(8) - 1
#= (out.tolist(), run.findings[0].threads) == ([3, 4, 5, 6, 7, 8, 1, 1], (((0, 0, 0), (6, 0, 0)),))
out[i] = a[0, i + 2] + 1  #? out-of-bounds a (0, 8) x2

# a wait for a flag that is no atomic : out=zeros(1, "i4")
#= [f.other_line for f in run.findings if f.kind == "race" and f.array == "ready"] == [line("ready[0] = 1")]
#? race out
ready = cuda.shared.array(1, int32)
if i == 40:
    ready[0] = 1
while ready[0] != 1:  #? race ready; uninitialized-read ready
    pass
out[0] = 1

# the index, whatever the layout @ 1, 2
#: a=zeros($shape, "f4").copy("$order") ; shape in 3,1,4 1,3,4 4,3,1 1,1,5 2,3,4 ; order in C F
#= run.findings[0].index == tuple(n - 1 for n in a.shape)
for i in range(a.shape[0]):
    for j in range(a.shape[1]):
        for k in range(a.shape[2]):
            if i + 1 == a.shape[0] and j + 1 == a.shape[1] and k + 1 == a.shape[2]:
                a[i, j, k] = 1  #? race a

# a race names the last write, also after many reads of the same word, of which a log keeps one : out=zeros(2)
#= run.findings[0].other_line == line("# last")
s = cuda.shared.array(1, int32)
if i == 0:
    for k in range(3):
        if k % 2 == 0:
            s[0] = k  # last
        else:
            s[0] = -k
    for _ in range(5000):
        out[0] += s[0]
elif i == 32:
    out[1] = s[0]  #? race s

# a race within one line is told from two writes @ 1, 32 : a=zeros(32)
#= run.findings[0].other_line == run.findings[0].line and said("read")
a[i] = a[i + 1] if i < 31 else a[i]  #? race a

# a local array that is declared again for other lanes is unwritten there : out=zeros(64)
#= run.findings[0].threads[0][1] == (1, 0, 0)
for k in range(4):
    if i % 4 <= k:
        mine = cuda.local.array(1, float32)
        if k == 0:
            mine[0] = 1
        out[i] = mine[0]  #? uninitialized-read mine x96

# a thread that wraps in two dimensions counts once @ 1, 5 : a=np.arange(25.0).reshape(5, 5), out=zeros(5)
#= said("dimension 0", "to 3")
out[i] = a[i - 2, i - 3]  #? negative-index a (-2, -3) x3

# an exchange whose old value nobody uses only writes a word : out=zeros(64)
#= set(out.tolist()) == {7}
s = cuda.shared.array(2, int32)
if i < 2:
    cuda.atomic.exch(s, i, 7)
cuda.syncthreads()
out[i] = s[i % 2]
t = cuda.shared.array(2, int32)
if i == 0:
    cuda.atomic.exch(t, 0, 7)
    out[i] = min(7, cuda.atomic.exch(t, 0, 8))
    out[i] = max(7, cuda.atomic.exch(t, 1, 7) % 8)  #? uninitialized-read t (1,) x1

# a negative constant counts from the end, and is not accused : a=np.arange(6.0).reshape(2, 3), out=zeros(64)
#= (out[-2], out[-1], out[0]) == (10, 4, 3)
N = 1
row = a[-N]
if i < 1:
    out[0] = a[-1, -3]
    out[-1] = row[-2]
    cuda.atomic.add(out, -2, row[2] + row[-1])
    out[i + 1] += a[-1, i - 1]  #? negative-index a (-1, -1) x1

# a negative constant is computed, or leaves the array : a=np.arange(6.0).reshape(2, 3), out=zeros(64)
N = 0
if i == 0:
    out[3] = a[N - 1, 0]  #? negative-index a (-1, 0) x1
    out[4] = a[0, -4]  #? out-of-bounds a (0, -4) x1
    cuda.atomic.add(out, N - 1, 1)  #? negative-index out (-1,) x1

# a reader of another warp is kept beside the latest one, which writes @ 1, 64 : out=zeros(2, "i4")
#= [thread[0] for _, thread in run.findings[0].threads] == [0, 32]
s = cuda.shared.array(1, int32)
if i == 0:
    s[0] = 1
cuda.syncthreads()
if i % 32 == 0:
    out[i // 32] = s[0]
    if i == 32:
        s[0] = 2  #? race s

# the race between warps is shown rather than the one within @ 1, (8, 8), schedule=$s
#: A=np.ones((8, 8), "f4"), C=zeros(8, 8) ; s in 'in-order' 'reversed' 3
#= len({(x + 8 * y) // 32 for _, (x, y, _) in run.findings[0].threads}) == 2
#= run.findings[0].message.endswith("put cuda.syncthreads() between the two")
#? uninitialized-read s
s = cuda.shared.array((8, 8), float32)
y = cuda.threadIdx.y
s[y, i] = A[y, i]
C[y, i] = s[i, y]  #? race s

# the order in time says where a loop lacks a barrier, and the warps which one @ 1, $n : out=zeros($n)
#: ; n,wait,place in 64,cuda.syncthreads(),after 64,cuda.syncwarp(),between 32,cuda.syncwarp(),after 32,pass,between
#= said(f"put {'cuda.syncwarp() or ' * ($n == 32)}cuda.syncthreads() {'$place'}")
s = cuda.shared.array($n, float32)
s[i] = 0
cuda.syncthreads()
for k in range(3):
    s[i] = k
    $wait
    out[i] += s[$n - 1 - i]  #? race s

# no race is said to need a syncwarp alone beside one that needs more @ 1, (8, 8)
#: A=np.ones((8, 8), "f4"), C=zeros(8, 8)
#= all(f.message.endswith("; put cuda.syncthreads() between the two") for f in run.findings if f.kind == "race")
#? uninitialized-read two
one = cuda.shared.array((8, 8), float32)
two = cuda.shared.array((8, 8), float32)
y = cuda.threadIdx.y
one[y, i] = two[y, i] = A[y, i]
C[y, i] = one[y, 7 - i] + two[7 - y, i]  #? race one; race two

# between two helpers, the order in time counts @ 1, 64 : out=zeros(64)
#= said("put cuda.syncthreads() after line", "before line")
@cuda.jit(device=True)
def put(s, k):
    s[cuda.threadIdx.x] = k
@cuda.jit(device=True)
def kept(s):
    return s[63 - cuda.threadIdx.x]  #? race s
def kernel(out):
    s = cuda.shared.array(64, float32)
    for k in range(3):
        put(s, k)
        cuda.syncthreads()
        out[cuda.threadIdx.x] += kept(s)

# of warps with roles, each of which runs one of the lines @ 1, 64 : out=zeros(64)
#= said("put cuda.syncthreads() between the two, and after line", "at the end of the body of the loop in line")
s = cuda.shared.array(32, float32)
for k in range(3):
    if i < 32:
        s[i] = k
    else:
        out[i] += s[i - 32]  #? race s
""")  # fmt: skip

SYNCWARPS = Table(None, header=IMPORTS, arguments="a=np.arange(32, dtype='f4'), out=zeros(32, 'f4')",
                  first="i = cuda.threadIdx.x\ntile = cuda.shared.array(32, float32)\n", text="""\
# each quarter of a warp meets @ 1, 32, schedule=$s ; flip,tag in 7, 8,#?race ; s in 'in-order' 'reversed' 1
#= bool(run.findings) == bool("$tag")
tile[i] = a[i]
cuda.syncwarp(0xFF << (i // 8 * 8))
out[i] = tile[i ^ $flip]  $tag

# half of a warp meets, and then the whole @ 1, 32, schedule=$s ; s in 'in-order' 'reversed' 1
#= run.findings == ()
if i < 16:
    cuda.syncwarp(0xFFFF)
    tile[i] = a[i]
cuda.syncwarp()
if i >= 16:
    out[i] = tile[i - 16]

# each block passes its own number of syncwarps @ 4, 32 : out=zeros(4, 32, "i4")
#= (out == np.arange(1, 5)[:, None]).all() and run.findings == ()
b = cuda.blockIdx.x
tile[i] = 0
for _ in range(b + 1):
    cuda.syncwarp()
    mine = tile[(i + 1) % 32]
    cuda.syncwarp()
    tile[i] = mine + float32(1)
out[b, i] = tile[i]

# a syncwarp without a mask waits for every lane of the warp @ 1, $n ; n,tag in 32,#?barrier-divergence 20,
#= [(f.count, f.threads[0][1]) for f in run.findings] == [(12, (20, 0, 0))] * ($n > 20)
if i < 20:
    cuda.syncwarp()  $tag
out[i] = a[i]

# a syncwarp waits no longer for a lane that does nothing more than end @ 1, 32 : a=np.arange(40.0), out=zeros(40)
#= run.findings == ()
tile[i] = a[i]
cuda.syncthreads()
if i < 2:
    tile[i] += tile[i + 2]
    cuda.syncwarp()
if i == 0:
    out[0] = tile[0] + tile[1]

# but for one that goes on, with $what @ 1, 32 : a=np.arange(40.0), out=zeros(40)
#: ; what in out[i]=a[i] out[i]=tile[i] cuda.syncwarp() cuda.syncthreads() cuda.atomic.add(out,0,a[i])
#= [(f.count, f.threads[0][1]) for f in run.findings if f.kind == "barrier-divergence"] == [(30, (2, 0, 0))]
#? barrier-divergence
tile[i] = a[i]
cuda.syncthreads()
if i < 2:
    cuda.syncwarp()
$what

# a syncwarp without a mask waits for no lane that has returned @ 1, 32
#= run.findings == ()
if i >= 20:
    return
cuda.syncwarp()
out[i] = a[i]
""")  # fmt: skip

#: The reductions by the block that takes the last ticket, with and without their fence, are in `kernels_with_bugs`.
FENCES = Table(None, header=IMPORTS, launch="40, 1", first="t, b = cuda.threadIdx.x, cuda.blockIdx.x\n",
               arguments="a=np.arange(40), partial=zeros(40, int), tickets=zeros(2, int), out=zeros(1, int)", text="""\
# a fence before the store
#= said("threadfence() orders them only if it is between the first and an atomic")
cuda.threadfence()
partial[b] = a[b]
if cuda.atomic.add(tickets, 0, 1) == cuda.gridDim.x - 1:
    for k in range(cuda.gridDim.x):
        out[0] += partial[k]  #? race partial

# releases are passed on, and the last block has heard of the first through all others
#= (out[0], run.findings) == (a.sum(), ())
for turn in range(cuda.gridDim.x):
    if turn == b:
        cuda.atomic.add(tickets, b % 2, 1)
        out[0] += a[b]
        cuda.threadfence()
        cuda.atomic.add(tickets, (b + 1) % 2, 1)

# a fence of the block orders the warps of one block, and not those of two @ $n, 64 ; n,tag in 1, 2,#?race
#= all(f.threads[0][0] != f.threads[1][0] for f in run.findings)
for turn in range(cuda.gridsize(1) // 32):
    if turn == cuda.grid(1) // 32 and cuda.laneid == 0:
        cuda.atomic.add(tickets, 0, 1)
        out[0] += 1  $tag
        cuda.threadfence_block()
        cuda.atomic.add(tickets, 0, 1)
""")  # fmt: skip

NAMES_OF_AN_ARRAY = Table(None, header=IMPORTS, launch="1, 32", arguments="a=zeros(32, 'i4'), b=zeros(32, 'i4')",
                          first="i = cuda.threadIdx.x\n", text="""\
a[0] = i  #? race a (0,)

(a if b.size > 0 else b)[0] = i  #? race a (0,)
""")  # fmt: skip

WIDE = Table(None, header=f"""{IMPORTS}
from course_lib.kernels.vector import load2, load4
from course_lib.kernels.async_copy import commit_copies, copy4_async, copy_async, wait_copies
from course_lib.kernels.bulk_copy import init_barrier, tile_copy
copy = tile_copy(64, 64)
""", text="""\
# a vector access that begins inside and ends outside : A=zeros(1, 16, "f4"), out=zeros(1, "f4")
#= said("reads 4 elements from A[0, 14] on", "may begin in dimension 1 at 0 to 12")
a, b, c, d = load4(A, 0, 14)  #? out-of-bounds A (0, 14)
out[0] = a

# a negative index of a vector access does not wrap : A=zeros(1, 16, "f4"), out=zeros(1, "f4")
a, b, c, d = load4(A, 0, -4)  #? out-of-bounds A (0, -4)
out[0] = a

# of a vector access the threads count whose own address is no multiple of its size @ 1, 2 : A=zeros(1, 16, "f4")
load4(A, 0, 1 + 3 * cuda.threadIdx.x)  #? misaligned-access A (0, 1) x1

# two neighbours of one array or of another @ 1, 4
#: A=np.arange(8.0, dtype="f4").reshape(1, 8), B=np.ones((1, 8), "f4"), out=zeros(4, 2)
#= (out.tolist(), run.findings) == ([[0, 1], [1, 1], [4, 5], [1, 1]], ())
i = cuda.threadIdx.x
chosen = A
if i % 2:
    chosen = B
out[i, 0], out[i, 1] = load2(chosen, 0, 2 * i)

# a vector access of one index : A=zeros(4, 4, "f4")
load4(A, 0)  #! load4 2 indices

# each block copies its own row and writes the next block's, which is free @ 3, 32
#: A=zeros(6, 32, "f4"), out=zeros(3, 32, "f4")
#= run.findings == ()
s = cuda.shared.array((1, 32), float32)
t, b = cuda.threadIdx.x, cuda.blockIdx.x
copy_async(s, 0, t, A, b, t)
commit_copies()
A[b + 3, t] = 1
wait_copies(0)
out[b, t] = s[0, t]

# lanes beyond n copy zeros, and read nothing @ 1, 32 : A=np.ones((1, 128), "f4"), out=zeros(32, "f4"), n=64
#= (run.findings, out.tolist()) == ((), [1] * 16 + [0] * 16)
s = cuda.shared.array((1, 128), float32)
t = cuda.threadIdx.x
copy4_async(s, 0, 4 * t, A, 0, 4 * t, 2 * (4 * t < n))
commit_copies()
if 4 * t >= n:
    A[0, 4 * t] = 1
wait_copies(0)
out[t] = s[0, 4 * t]

# a bulk copy changes no type @ 1, 32 : A=zeros(64, 64, "u2")
tile = cuda.shared.array(4096, float32, 1024)
barriers = cuda.shared.array(1, uint64)
copy(tile, 0, A, 0, 0, barriers, 0)  #! uint16 float32

# barriers are words of uint64 @ 1, 32 : A=zeros(64, 64, "u2")
barriers = cuda.shared.array(1, float32)
init_barrier(barriers, 0, 1)  #! init_barrier uint64
""")  # fmt: skip

EACH_CALL = Table(None, header=HEADER, text="""\
# the local array of a device function is new in each call @ 1, 64 : out=zeros(64)
#= (out[:60] == 3).all()
i = cuda.threadIdx.x
out[i] = kept(float32(1), True)
out[i] += kept(float32(2), i < 60)
""")  # fmt: skip

LONG_LOOPS = Table(None, header=IMPORTS, text="""\
# nobody sets the flag @ 1, 1, max_steps=50 : flag=zeros(1, "i4")
while flag[0] == 0:  #! KernelError 50
    pass

# a while loop @ 1, 1, max_steps=3000 : out=zeros(1, "i4")
while out[0] >= 0:  #! KernelError 3000
    out[0] += 1

# a for loop : out=zeros(1, "i8")
for k in range(10**12):  #! KernelError
    out[0] = k

# a for loop of many iterations @ 1, 8, max_steps=30 : a=zeros(40), out=zeros(8, "i8")
for k in range(10**12):  #! KernelError 30
    if a[k] > 0:
        break
out[0] = k

# lanes that go on in some iterations @ 1, 4 : out=zeros(4, "i4")
#= out.tolist() == [2500] * 4
i = cuda.threadIdx.x
steps = 0
while out[i] < 2500:
    if steps % 2 == 1:
        out[i] += 1
    steps += 1

# tickets : counter=zeros(1, "i4"), out=zeros(1, "i4")
#= out[0] == 2201
while cuda.atomic.add(counter, 0, 1) < 2200:
    pass
out[0] = counter[0]

# loops that change only what is the thread's own : x=zeros(500), out=zeros(3, "i4")
#= out.tolist() == [101 * 64, 5000, 5]
own = cuda.local.array(1, int32)
own[0], i, t = 0, -1, (0, 1)
while i < 100:
    k = 0
    while k < 64:
        k += 1
        own[0] += 1
    i += 1
while t[0] < 5000:
    t = t[0] + 1, k
while x.size > 5:
    x = x[1:]
out[0], out[1], out[2] = own[0], t[0], x.size

# a long range that is left early costs what it runs @ 1, 8
#: a=np.arange(20), n=$n, out=zeros(8, "i8") ; n in 10**12 np.uint64(2**63-1)
#= out.tolist() == [*range(1, 9)]
i = cuda.grid(1)
for k in range(n):
    if a[k] > i:
        break
out[i] = k
""")  # fmt: skip

#: Coordinates that are 0 in every thread of the launch.
ROW = f"""{IMPORTS}
from course_lib.kernels.vector import store4
@cuda.jit(device=True)
def row():
    return cuda.grid(2)[1]
TWO = 2
"""
DIMENSIONS = Table(None, header=ROW, arguments="C=zeros(4, 6, 'f4')", text="""\
# a kernel of two dimensions in a launch of one @ 2, 8
#= said("20", "24", "cuda.grid(2)") and (C != 0).sum() == 4
i, j = cuda.grid(2)
if i < C.shape[0] and j < C.shape[1]:
    C[i, j] = 1  #? missing-dimension C

# the coordinates one by one, in any order of the array @ 1, 32 : C=zeros(4, 6, "f4").copy("$order") ; order in C F
#= said("cuda.blockIdx.y")
y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
if cuda.threadIdx.x < C.shape[1]:
    C[y, cuda.threadIdx.x] += 1  #? missing-dimension C

# a kernel of three dimensions in a launch of two @ (1, 1), (8, 4) : C=zeros(3, 4, 8, "f4")
#= said("cuda.grid(3)", "two dimensions")
x, y, z = cuda.grid(3)
if z < C.shape[0]:
    cuda.atomic.add(C, (z, y, x), 1)  #? missing-dimension C

# a size of 1 that was given is meant @ $launch : C=zeros(4, 6, 8, "f4") ; launch in 1,(8,1,4) (4,1,8),(2,1,1) (1,1,1),8
#= run.findings == ()
x, y, z = cuda.grid(3)
if z < C.shape[0] and y < C.shape[1] and x < C.shape[2]:
    C[z, y, x] = 1

# a device function reads the coordinate @ 1, 8
#= said("cuda.grid(2)")
if cuda.threadIdx.x < 6:
    C[row(), cuda.threadIdx.x] = 1  #? missing-dimension C

# four elements in a store, up to the end of a row @ 1, 2 : C=zeros(4, 8, "f4")
#= said("24 of the 32") and (C != 0).sum() == 8
one = float32(1)
store4(C, cuda.threadIdx.y, 4 * cuda.threadIdx.x, (one, one, one, one))  #? missing-dimension C

# four elements in a store, up to the end of the array @ 1, 8 : C=zeros(4, 8, "f4")
#= run.findings == () and (C != 0).all()
i, one = cuda.threadIdx.x + cuda.threadIdx.y, float32(1)
store4(C, i // 2, 4 * (i % 2), (one, one, one, one))

# a number of the thread for any shape of the block, and a column that is always the first @ 1, 4
#= run.findings == ()
t = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
C[t, 0] = 1

# such a number, of which the kernel leaves all threads but the first @ 1, 4
#= run.findings == ()
t = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
if t > 0: return
for j in range(6):
    C[t, j] = j

# a coordinate that passes through variables, and a loop @ 1, 4
first = cuda.threadIdx.y * 2
for j in range(first, first + 1):
    C[cuda.threadIdx.x, j] = 1  #? missing-dimension C

# one row and one column need no second dimension @ 1, 8 : C=zeros($shape, "f4") ; shape in 1,6 6,1
#= run.findings == ()
i, j = cuda.grid(2)
if i < C.shape[0] and j < C.shape[1]:
    C[i, j] = 1
elif j < C.shape[0] and i < C.shape[1]:
    C[j, i] = 1

# a loop over the second dimension @ 1, 8
#= run.findings == ()
x, y = cuda.grid(2)
if x < C.shape[1]:
    for j in range(y, C.shape[0], cuda.gridsize(2)[1]):
        C[j, x] = 1

# one thread, and one along x, are meant @ $launch ; launch in 1,1 1,(1,6) (1,6),1
#= run.findings == ()
x, y = cuda.grid(2)
C[x, y] = 1

# a launch of two dimensions that is too small @ (1, 1), (2, 2)
#= run.findings == ()
i, j = cuda.grid(2)
C[i, j] = 1

# rows of an array of one dimension, one after another @ 1, 32 : C=zeros(24, "f4")
#= said("18 of the 24", "cuda.grid(2)")
x, y = cuda.grid(2)
if x < 6 and y < 4:
    C[y * 6 + x] = 1  #? missing-dimension C

# such rows, computed from block and thread @ 1, 32 : C=zeros(24, "f4")
x, y = cuda.threadIdx.x, cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
if x < 6 and y < 4:
    C[y * 6 + x] = 1  #? missing-dimension C

# the number of dimensions has a name, inside or outside the kernel @ 1, 32 : C=zeros(4, 6, "f4") ; name in TWO own
#= said("cuda.grid($name)")
own = 2
x, y = cuda.grid($name)
if x < C.shape[1] and y < C.shape[0]:
    C[y, x] = 1  #? missing-dimension C

# one dimension has a name @ 1, 32 : C=zeros(4, 6, "f4")
#= run.findings == ()
ONE = 1
i = cuda.grid(ONE)
if i < C.shape[1]:
    C[0, i] = 1

# rows of an array of one dimension, of which $why @ 1, 32 : C=zeros($size, "f4")
#: ; why,size,row in all,6,y a_part,16,y a_launch_stores_one,24,(first+y) a_launch_stores_one,24,later
#= run.findings == ()
x, y = cuda.grid(2)
first = C.size - 24
later = first + y
if x < 6 and y < 4:
    C[$row * 6 + x] = 1

# an array of one dimension @ 1, 8 : C=zeros(8, "f4")
#= run.findings == ()
x, y = cuda.grid(2)
C[x] = y
""")  # fmt: skip
