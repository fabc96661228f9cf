"""What a kernel cannot say, refused at its line; the names and numbers of the message, of what is wrong or to write."""

from simulator.cases import IMPORTS, Table

GIVEN = {
    "judge": None,
    "launch": "1, 4",
    "arguments": "a=np.ones(8, 'f4')",
    "header": f"""{IMPORTS}
SIZE = 4
VALUES, LIST, HALVES, WIDTH = np.ones(3), [], (2.5, 3), np.int64(4)

def plain_helper(x):
    return x

@cuda.jit(device=True)
def scaled(x, factor=2):
    return x * factor

@cuda.jit(device=True)
def recursive(n):
    return recursive(n - 1) if n > 0 else 0

@cuda.jit(device=True)
def tail(a):
    return a[1:]
""",
}

LINES = Table(**GIVEN, lines=True, text="""\
a[0] = np.sqrt(a[1])  #! np.sqrt() math.sqrt
with a: pass  #!
name = "x"; a[0] = name  #! 'x'
values = [1, 2]; a[0] = values[0]  #! cuda.local.array
a[0] = sum(x for x in range(3))  #!
a[0] = LIST[0]  #! LIST
a[0] = cuda.blockdim.x  #! 'blockdim' cuda.blockDim
a[0] = np.random.rand()  #! np.random.rand()
a[0] = plain_helper(1)  #! plain_helper @cuda.jit(device=True)
return a[0]  #!
a[0] = missing  #! 'missing' define
syncthreads()  #! 'syncthreads' cuda.syncthreads
a[0, 1] = 1  #! a 1 2
tile = cuda.shared.array(SIZE * 2, float32); tile[0] = 1  #! SIZE * 2
tile = cuda.shared.array(a.shape[0], float32); tile[0] = 1  #! a.shape[0]
tile = cuda.shared.array(HALVES, float32); tile[0, 0] = 1  #! HALVES
for v in (1, 2.5): a[0] = v  #! (1, 2.5) int64 float64
for k in reversed(range(3)): a[0] = k  #! reversed(...) range(n - 1, -1, -1)
for k in 3: a[0] = k  #! int64 range(3)
pair = (1, 2.5); a[0] = pair[cuda.threadIdx.x % 2]  #! pair int64 float64
a[0] = (1, 2) < 3  #! (1, 2) < 3
t = (1, 2) * a.size; a[0] = t[3]  #! (1, 2) * a.size
t = (1, 2); t[0] = 3  #! t[0]
a[0] = a[0] is a[1]  #! a[0] a[1] None == !=
a[0] = 1.0 in a  #! 1.0 in a
v = cuda.local.array(3, float); v[0] = a[0]  #! float float64
a[0] = a[0] + 1j  #! complex128 float32 .real .imag abs()
if a[0] * 1j < 2: a[0] = 0  #! .real a[0] * 1j < 2
a[0] = (n := a[1]) + n  #! :=
cuda.cg.this_block().sync()  #! cuda.cg.this_block cuda.cg.this_grid()
a[0] = math.comb(4, 2)  #! math.comb
a[0] = a.mean()  #! .mean
a[0] = a.sum(0)  #! a.sum() loop
a[0] = cuda.grid(ndim=1)  #! cuda.grid()
a[0] = scaled()  #! scaled x, factor missing 'x'
a[0] = scaled(1, scale=3)  #! scaled 'scale'
a[0] = scaled(1, x=3)  #! scaled 'x'
a[0] = scaled(*a)  #! *a float32
cuda.atomic.add(a, (0,), 1)  #! 0
cuda.syncthreads(1); a[0] = 1  #! cuda.syncthreads()
cuda.syncwarp(0xFFFFFFFF, 1); a[0] = 1  #! cuda.syncwarp() 1
a[cuda.grid(1, 2)] = 1  #! cuda.grid()
tile = cuda.shared.array(4, float32, 16, 1); tile[0] = a[0]  #! cuda.shared.array()
a[0] = cuda.match_any_sync(0xFFFFFFFF)  #! cuda.match_any_sync() 2 1
a[0] = cuda()  #! cuda
a[0] = round(a[1], ndigits=2)  #! round() 1 2 ndigits
a[0] = math.log(a[1], 2)  #! math.log() 1 2
a[cuda.threadIdx] = 1  #! cuda.threadIdx cuda.threadIdx.x .y .z
a[0] = a  #! a 1-dimensional float32 a[i]
tile = cuda.shared.array((2, 2), float32); i = 1; a[0] = tile[i, :]  #! 1-dimensional float32 tile[i, j]
for k in a.shape[0]: a[k] = 1  #! a.shape[0] range(a.shape[0])
first, *_ = (1, 2, 3); a[0] = first  #! *
a[0] = a[0] @ a[1]  #! @ a[0] a[1]
a[0] = 1 << 100  #! 1267650600228229401496703205376 64
print(f"a is {a[0]}")  #! f-string print
yield a[0]  #!
a[0] = VALUES.sum()  #! VALUES.sum() ndarray
a[0] = SIZE.bit_length()  #! SIZE.bit_length() int
LIST.append(1)  #! LIST.append() list
a[0] = 1; cuda.syncthreads  #! cuda.syncthreads cuda.syncthreads()
cuda.syncthread()  #! 'syncthread' cuda.syncthreads
n = SIZE * 2; v = cuda.local.array(n, float32); a[0] = v[0]  #! n local literal
scaled[1, 4](a)  #! scaled function device launch
x = a[1]; x.fill(2)  #! x float32 array .fill
a[0] = math.sqroot(a[0])  #! 'sqroot' math.sqrt
tile = cuda.shared.array(4, SIZE, float32); tile[0] = a[0]  #! cuda.shared.array((4, SIZE), float32)
tile = cuda.local.array((WIDTH, 2), float32); tile[0, 0] = a[0]  #! (WIDTH, 2) int
a[cuda.threadIdx.x / 2] = 1  #! cuda.threadIdx.x // 2
a[a[0] / 2] = 1  #! int(a[0] / 2)
for v in numba.literal_unroll((1, 2.5)): a[0] = v  #! numba.literal_unroll()
assert a[0] > 0, f"a is {a[0]}"  #! f-string
""")  # fmt: skip

STATEMENTS = Table(**GIVEN, text="""\
try:  #!
    a[0] = 1
finally:
    a[0] = 2

tile = cuda.shared.array((2, 2), float32)
a[0] = tile[0]  #! tile[0] tile[0][i]

index = cuda.threadIdx
if a[0] > 1:
    index = cuda.blockIdx
a[index.x] = 1  #! 'index'

index = cuda.threadIdx.w  #! cuda.threadIdx 'w' cuda.threadIdx.x .y .z
a[index] = 1

v = a
if a[0] > 0:
    v = 1
a[0] = v  #! 'v'

#! recursive, which calls recursive
a[0] = recursive(3)

# an array that is not an argument is not returned
#! argument
a[0] = tail(a)[0]

# an array without dimensions is no number : a=np.array(4.0), out=zeros(1)
out[0] = a  #! a a[()]
""")  # fmt: skip
