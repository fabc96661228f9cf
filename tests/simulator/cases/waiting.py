"""Threads that wait for others: in a loop for a lock, a flag or a ticket, and at a barrier of the whole grid."""

import numpy as np
from simulator.cases import IMPORTS, Table

X, Y = (np.random.default_rng(s).integers(-9, 9, 320).astype("f4") for s in (1, 2))

HEADER = f"""{IMPORTS}
from numba.cuda import cg

@cuda.jit(device=True)
def take(mutex):
    while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
        pass
    cuda.threadfence()

@cuda.jit(device=True)
def try_to_take(mutex):
    return cuda.atomic.cas(mutex, 0, 0, 1) == 0

@cuda.jit(device=True)
def give_back(mutex):
    cuda.threadfence()
    cuda.atomic.exch(mutex, 0, 0)
"""

IN_A_LOOP = Table(None, header=HEADER, first="t, b = cuda.threadIdx.x, cuda.blockIdx.x\n", text="""\
# a dot product under a lock @ 5, 64, schedule=$schedule, trace=$trace
#: a=X, b_=Y, c=zeros(1, "f4"), mutex=zeros(1, "i4") ; schedule in "in-order" "reversed" 3 ; trace in False True
#= (c[0], mutex[0], run.findings) == (X @ Y, 0, ())
#= (traffic(array="c", op="store").accesses, traffic(array="a").accesses) == (5, 5 * 64)
cache = cuda.shared.array(64, float32)
i = cuda.grid(1)
cache[t] = a[i] * b_[i]
cuda.syncthreads()
step = 32
while step > 0:
    if t < step:
        cache[t] += cache[t + step]
    cuda.syncthreads()
    step //= 2
if t == 0:
    while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
        pass
    c[0] += cache[0]
    cuda.threadfence()
    cuda.atomic.exch(mutex, 0, 0)

# a lock in a device function @ 40, 64 : count=zeros(1, "i4"), mutex=zeros(1, "i4")
#= (count[0], mutex[0], run.findings) == (40, 0, ())
if t == 0:
    take(mutex)
    count[0] += 1
    give_back(mutex)

# an attempt in a device function @ 40, 64 : count=zeros(1, "i4"), mutex=zeros(1, "i4"), attempts=zeros(40, "i4")
#= (count[0], mutex[0], run.findings) == (40, 0, ())
if t == 0:
    tried = 0
    while not try_to_take(mutex):
        tried += 1
    attempts[b] = tried
    count[0] += 1
    give_back(mutex)

# fences around a lock of blocks or of warps @ $blocks, $threads : count=zeros(1, "i4"), mutex=zeros(1, "i4")
#: ; blocks,threads,of in 6,32, 6,32,_system 1,192, 1,192,_system 1,192,_block
#= count[0] == 6
if t % 32 == 0:
    while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
        pass
    cuda.threadfence$of()
    count[0] += 1
    cuda.threadfence$of()
    cuda.atomic.exch(mutex, 0, 0)

# blocks are served in the order of their tickets @ 9, 32
#: tickets=zeros(1, "i4"), serving=zeros(1, "i4"), order=zeros(9, "i4") - 1
#= (sorted(order), run.findings) == (list(range(9)), ())
if t == 0:
    mine = cuda.atomic.add(tickets, 0, 1)
    while cuda.atomic.add(serving, 0, 0) != mine:
        pass
    cuda.threadfence()
    order[mine] = b
    cuda.threadfence()
    cuda.atomic.add(serving, 0, 1)

# blocks wait for the last one and look again only after a change @ $blocks, 32, trace=$trace
#: x=zeros(1, "i4"), flag=zeros(1, "i4"), out=zeros($blocks, "i4") ; blocks in 6 90 ; trace in False True
#= (out.tolist(), run.findings) == ([7] * ($blocks - 1) + [0], ())
#= traffic(array="flag").accesses <= 8 * $blocks
if t == 0:
    if b == cuda.gridDim.x - 1:
        x[0] = 7
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    else:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        cuda.threadfence()
        out[b] = x[0]

# a block that counts while it waits keeps no other block from its turn @ 90, 1
#: flag=zeros(1, "i4"), out=zeros(1, "i4")
#= out[0] > 0
if b == 0:
    looks = 0
    while cuda.atomic.add(flag, 0, 0) == 0:
        looks += 1
    out[0] = looks
elif b == cuda.gridDim.x - 1:
    cuda.atomic.exch(flag, 0, 1)

# blocks with barriers in their loop, of which 16 run together, wait for one that begins later @ 20, 1024
#: x=zeros(1, "i4"), flag=zeros(1, "i4"), out=zeros(20 * 1024, "i4")
#= (out.tolist(), run.findings) == ([7] * 19 * 1024 + [0] * 1024, ())
ready = cuda.shared.array(1, int32)
if b == cuda.gridDim.x - 1:
    if t == 0:
        x[0] = 7
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
else:
    if t == 0:
        ready[0] = 0
    cuda.syncthreads()
    while ready[0] == 0:
        cuda.syncthreads()
        if t == 0:
            ready[0] = cuda.atomic.add(flag, 0, 0)
            cuda.threadfence()
        cuda.syncthreads()
    out[cuda.grid(1)] = x[0]

# a scan in one pass, in which each block waits for all before it, and the last begins @ $grid
#: x=np.arange(1.0, 97.0), sums=zeros(96), flags=zeros(96, "i4"), out=zeros(96) ; grid in 6,16 96,1
#= (out.tolist(), run.findings) == (np.cumsum(x).tolist(), ())
#= traffic(array="flags").accesses <= 8 * 96
total = cuda.shared.array(1, float64)
block = cuda.gridDim.x - 1 - b
if t == 0:
    before = 0.0
    if block > 0:
        while cuda.atomic.add(flags, block - 1, 0) == 0:
            pass
        cuda.threadfence()
        before = sums[block - 1]
    total[0] = before
    for k in range(cuda.blockDim.x):
        before += x[block * cuda.blockDim.x + k]
    sums[block] = before
    cuda.threadfence()
    cuda.atomic.exch(flags, block, 1)
cuda.syncthreads()
value = total[0]
for k in range(t + 1):
    value += x[block * cuda.blockDim.x + k]
out[block * cuda.blockDim.x + t] = value

# a warp waits for another, whichever runs first @ 2, 64, schedule=$schedule : out=zeros(2, "i4"), first=$first
#: ; schedule in "in-order" "reversed" ; first in 0 1
#= (out.tolist(), run.findings) == ([42, 42], ())
flag = cuda.shared.array(1, int32)
box = cuda.shared.array(1, int32)
if t == 0:
    flag[0] = 0
cuda.syncthreads()
if t // 32 == first:
    if t % 32 == 0:
        box[0] = 42
        cuda.threadfence_block()
        cuda.atomic.exch(flag, 0, 1)
elif t % 32 == 0:
    while cuda.atomic.add(flag, 0, 0) == 0:
        pass
    cuda.threadfence_block()
    out[b] = box[0]

# arrays hold what one launch left, which begins anew when a thread is found to wait @ 4, 32
#: count=np.array([100, 1000], "i4"), mutex=zeros(1, "i4")
#= (count.tolist(), traffic(array="count", op="atomic").accesses) == ([104, 1004], 4)
if t == 0:
    cuda.atomic.add(count, 1, 1)
    while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
        pass
    count[0] += 1
    cuda.threadfence()
    cuda.atomic.exch(mutex, 0, 0)
""")  # fmt: skip

FOR_NOBODY = Table(None, header=HEADER, launch="3, 64", arguments="flag=zeros(1, 'i4'), out=zeros(256, 'i4')",
                   first="t = cuda.threadIdx.x\n", text="""\
# blocks wait together
ready = cuda.shared.array(1, int32)
if t == 0:
    ready[0] = 0
cuda.syncthreads()
while ready[0] == 0:  #! KernelError waits
    cuda.syncthreads()
    if t == 0:
        ready[0] = cuda.atomic.add(flag, 0, 0)
    cuda.syncthreads()
out[cuda.grid(1)] = 1

# a loop with barriers, whose counter stays
tile = cuda.shared.array(64, int32)
k = 0
while k < 4:  #! KernelError never
    tile[t] = t
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[63 - t]
    cuda.syncthreads()

# a loop with barriers, whose counter stays, in the warps that are left @ 3, 96, max_steps=300, schedule="$schedule"
#: out=zeros(288) ; schedule in in-order reversed
if t < 32:
    return
k = 0
while k < 4:  #! KernelError nothing
    out[cuda.grid(1)] = k
    cuda.syncthreads()

# a loop that changes nothing, with a barrier for each half of the warps @ 1, 128, max_steps=300, schedule="$schedule"
#: out=zeros(128) ; schedule in in-order shuffled
while out[0] == 0:  #! KernelError nothing
    if t < 64:
        cuda.syncthreads()
    else:
        cuda.syncthreads()
    cuda.syncthreads()

# a loop with barriers and that of the grid, whose counter begins at 1 in later blocks @ 1024, 32
#: out=zeros(32 * 1024)
#= (out.tolist(), run.findings) == ([100] * 512 * 32 + [101] * 512 * 32, ())
k = cuda.blockIdx.x // 512
end = 100 + k
while k < end:
    k += 1
    cuda.cg.this_grid().sync()
out[cuda.grid(1)] = k

# a loop with barriers, whose counter begins elsewhere in each warp
#= (out[::32].tolist(), run.findings) == ([100, 101] * 3 + [0, 0], ())
k = t // 32
while k < 100 + t // 32:
    cuda.syncthreads()
    k += 1
out[cuda.grid(1)] = k

# a loop over what nobody changes : x=np.arange(20), out=zeros(256)
low, high = 0, x.size
while low < high:  #! KernelError never
    middle = (low + high) // 2
    if x[middle] < 5:
        low = middle
    else:
        high = middle
out[cuda.grid(1)] = low

# a loop in which nothing changes
acc = 0
while acc < 1:  #! KernelError nothing
    out[0] = acc
""")  # fmt: skip

AT_THE_GRIDS_BARRIER = Table(None, header=HEADER, text="""\
# a sum over all blocks @ $grid, 4, schedule="$schedule"
#: x=np.arange(4.0 * $grid), parts=zeros($grid), out=zeros(4 * $grid) ; grid in 1 3 1000 ; schedule in in-order reversed
#= ((out == x.sum()).all(), run.findings, traffic(array="parts", op="load").accesses) == (True, (), 4 * $grid * $grid)
grid = cuda.cg.this_grid()
i = cuda.grid(1)
if cuda.threadIdx.x == 0:
    total = 0.0
    for k in range(cuda.blockDim.x):
        total += x[i + k]
    parts[cuda.blockIdx.x] = total
grid.sync()
total = 0.0
for b in range(cuda.gridDim.x):
    total += parts[b]
out[i] = total

# steps that depend on the neighbour block @ 3, 8, trace=$trace
#: a=np.arange(24) ** 3 % 17, b=zeros(24, int) ; trace in False True
#= a == [sum(math.comb(5, k) * old.a[i + k] for k in range(min(6, 24 - i))) for i in range(24)]
#= run.findings == ()
i = cuda.grid(1)
for _ in range(5):
    right = a[i + 1] if i + 1 < a.size else 0
    b[i] = a[i] + right
    cg.this_grid().sync()
    a[i] = b[i]
    cuda.cg.this_grid().sync()

# blocks reach it in different lines @ 4, 4 : x=zeros(16, "i4"), out=zeros(16, "i4")
#= (x.tolist(), run.findings) == ([10, 10, 10, 10, 3, 2, 1, 0] * 2, ())
#= out.tolist() == [*x[4:], *x[:4]]
tile = cuda.shared.array(4, int32)
t = cuda.threadIdx.x
tile[t] = t
if cuda.blockIdx.x % 2:
    cuda.syncthreads()
    x[cuda.grid(1)] = tile[3 - t]
    cuda.cg.this_grid().sync()
else:
    x[cuda.grid(1)] = 10
    cuda.cg.this_grid().sync()
out[cuda.grid(1)] = x[(cuda.grid(1) + 4) % x.size]

# one block leaves @ 4, 4 : a=zeros(16)
if cuda.blockIdx.x == 2:
    return
cuda.cg.this_grid().sync()  #! KernelError thread 0 block 0 1 of 4
a[cuda.grid(1)] = 1

# one thread leaves @ 4, 4 : a=zeros(16)
#= said("thread 1 of block 1") and run.findings[0].other_line == run.findings[0].line - 1
if cuda.grid(1) == 5:
    return
cuda.cg.this_grid().sync()  #? barrier-divergence
a[cuda.grid(1)] = 1

# a block waits for one at the barrier @ 4, 4 : flag=zeros(16, "i4")
if cuda.blockIdx.x == 0:
    while cuda.atomic.add(flag, 0, 0) == 0:  #! KernelError waits
        pass
cuda.cg.this_grid().sync()
cuda.atomic.exch(flag, 0, 1)

# a multiprocessor holds 2,048 threads, 32 blocks and 228 KiB, of which each block reserves 1 KiB @ $most + 1, $threads
#: x=zeros(1) ; threads,elements,most in 1024,1,264 32,1,4224 64,6144,528 64,2560,1320
#! LaunchError $most
tile = cuda.shared.array($elements, float64)
tile[cuda.threadIdx.x % $elements] = 1
cuda.cg.this_grid().sync()
""")  # fmt: skip

GROUPS = Table(None, header=HEADER, lines=True, arguments="x=zeros(1)", text="""\
cuda.cg.this_thread_block()  #! cuda.cg.this_thread_block
x[0] = cuda.cg.this_grid().size()  #! sync()
x[0] = cuda.cg.this_grid().sync()  #! cuda.cg.this_grid().sync()
""")  # fmt: skip
