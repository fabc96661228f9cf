"""Small kernels that assign a variable `v`, one way of typing each: expressions, meeting paths, loops."""

import numpy as np

from oracles.sources import import_kernel

ARRAYS = {
    "F": np.float32, "D": np.float64, "I": np.int32, "L": np.int64, "U": np.uint32, "V": np.uint64,
    "B": np.uint8, "S": np.int16, "T": np.int8, "W": np.uint16,
}  # fmt: skip
SCALARS = {"n": np.int32(3), "u": np.uint32(5), "x": np.float32(0.5), "k": 4, "a": 1.5}
HEADER = """import math
import numba
import numpy as np
from numba import cuda, float32, float64, int8, int32, int64, uint8, uint32, uint64
COUNT = 7
PAIR = (4, 5)
NESTED = ((1, 2), (3, 4))
RATIO = 1.5
SMALL = np.float32(2.5)
INT32 = np.int32(5)
FLAG = True
"""

def words(text):
    """Return the entries of a list that is written with spaces between them."""
    return text.split()


BUILTINS = words("""cuda.threadIdx.x cuda.blockIdx.y cuda.blockDim.z cuda.gridDim.x cuda.grid(1) cuda.gridsize(1)
cuda.laneid len(A) A.shape[1] A.size A.ndim A[0,0] I[0] U[1] COUNT RATIO SMALL INT32 FLAG n u x k a
cuda.shfl_sync(-1,x,0) cuda.shfl_sync(-1,n,0) cuda.shfl_sync(-1,u,0) cuda.shfl_sync(-1,k,0)
cuda.shfl_down_sync(-1,a,1) cuda.shfl_xor_sync(-1,B[0],1) cuda.shfl_up_sync(-1,1,1)
cuda.all_sync(-1,True) cuda.any_sync(-1,True) cuda.ballot_sync(-1,True)
cuda.atomic.add(F,0,1) cuda.atomic.max(I,0,2) cuda.atomic.add(U,0,1) cuda.atomic.cas(I,0,1,2)
cuda.atomic.exch(I,0,1) cuda.atomic.sub(D,0,1) cuda.atomic.min(L,0,1)
cuda.syncthreads_count(1) cuda.syncthreads_or(0) cuda.syncthreads_and(1)""")
EXPRESSIONS = words("""x*2 x*2.0 x/2 x**2 x**-1 x**n x**0.5 x*COUNT x*SMALL x*INT32 x*RATIO x+True x+S[0] x+B[0] x+W[0]
x*n x*u x*k x*a -x +x abs(x) x//x x%x x//2 x<1 1<x<3 x+x*x
n+1 n*n n/n n//n n%n n**2 n**n 2**n -n +n ~n abs(n) n&1 n|u n^u n<<1 n>>u n*x n/2 n//2 n%2
u+1 u+u u-u u*n u/u u//u u//n u%u u**2 u**u -u ~u u>>1 u<<n u&u u|1 u^n
T[0]+T[0] T[0]*B[0] B[0]+B[0] B[0]+1 W[0]*W[0] V[0]+L[0] V[0]+V[0] V[0]*n V[0]/2 L[0]//2 S[0]*x W[0]*x
True+True True*x (n>1)+(n<4) (n>1)&(n<4) (n>1)*x ~(n>1) -(n>1)
float32(n) float32(1)*2 int32(x) int32(1)*2 int32(1)*int32(2) np.float32(1) np.int8(5) numba.uint8(9) uint64(n)+u
int64(x) float64(x)*x int(n) int(L[0]) int(B[0]) float(n) float(x) bool(x)
math.sqrt(x) math.sqrt(n) math.sqrt(a) math.floor(x) math.ceil(x) math.floor(n) math.exp(x) math.sin(x)
math.pi math.fabs(x) math.isnan(x) math.log(n) math.cos(u) math.tanh(x)
x_if_n_else_0.0 x_if_n_else_1 n_if_n_else_1 n_if_n_else_u n_if_n_else_x x_if_n_else_x 1_if_n_else_2.0
x_and_1 n_or_u n_and_x (x>1)_and_(x<2) not_x not_n x_or_x n_and_n a_and_n_or_n n_and_x_or_k (a_or_n)_and_n n_and_n_and_a
n_or_(x_and_B[0]) (n>1)_and_x (n>1)_and_u (n>1)_or_n n>1_and_a V[0]_or_L[0] (n_and_a)_or_(n_and_u) a_and_n>1 True_and_n
not_(n_and_x) COUNT_and_x
PAIR[n%2] PAIR[0] PAIR[1:][0] NESTED[1][0] (n,x)[1] (PAIR+(x,))[2] len(PAIR) n_in_PAIR n_not_in_(1,2)
(n,k)==(3,4) x_is_None 2**-1 ~True -True 2**63 True+True 7/7 1<n<k (n,(x,k))[1][0]
-1 1 1.0 True 3/2 7//2 2**3 1<<40 0xffffffff 1e10""")

MERGES = [
    "v = 0\nif n > 9:\n    v = 1.0\nv = v",
    "v = 0\nfor i in range(n):\n    v += x",
    "v = float32(0)\nfor i in range(n):\n    v += x",
    "v = float32(0)\nfor i in range(n):\n    v += x * 2",
    "w = x\nif n > 9:\n    w = n\nv = w",
    "w = n\nif n > 9:\n    w = u\nv = w",
    "w = n\nif n > 9:\n    w = 0\nv = w",
    "w = u\nif n > 9:\n    w = 0\nv = w",
    "w = u\nwhile w > 0:\n    w = w - 1\nv = w",
    "w = u\nwhile w > 0:\n    w >>= 1\nv = w",
    "w = n\nwhile w > 0:\n    w >>= 1\nv = w",
    "w = V[0]\nif n > 9:\n    w = n\nv = w",
    "w = B[0]\nif n > 9:\n    w = n\nv = w",
    "w = x\nif n > 9:\n    w = B[0]\nv = w",
    "w = True\nif n > 9:\n    w = x\nv = w",
    "w = n\nif n > 9:\n    w = x\nelif n > 8:\n    w = u\nv = w",
    "w = x\nw = n\nv = w",
    "w = int32(1)\nw = w * 2\nv = w",
    "w = int32(1)\nv = w\nw = x",
    "w = 5\nfor w in range(n):\n    pass\nv = w",
    "w = n\nfor i in range(3):\n    v = w\n    w = w * x",
    "w = 0\ny = 1.0\nfor i in range(3):\n    w = y\n    y = i\nv = w",
    "w = n\nwhile True:\n    w = x\n    if n > 0:\n        break\nv = w",
    "w = n\nif n > 9:\n    w = x\n    return\nv = w",
    "w = n\nfor i in range(4):\n    if i == 2:\n        continue\n    w = w + u\nv = w",
    "w, y = n, x\nw, y = y, w\nv = w",
    "w = cuda.threadIdx.x\nwhile w < n:\n    w += cuda.blockDim.x\nv = w",
    "n = n * 2\nv = n",
    "x = x * 2.0\nv = x",
    "w = n\nif n > 9:\n    w = x\nw = u\nv = w",
    "w = A[0, 0]\nfor i in range(3):\n    w = w / 2\nv = w",
    "w = u\nfor i in range(3):\n    if n > 9:\n        w = n\nv = w",
    "w = n\nfor i in range(3):\n    v = w\n    if n > 9:\n        w = x\n        break",
    "w = n\nfor i in range(3):\n    if n > 9:\n        w = x\n        break\nv = w",
    "w = n\nfor i in range(3):\n    if n > 9:\n        w = x\n        break\nelse:\n    w = u\nv = w",
    "w = n\nfor i in range(3):\n    pass\nelse:\n    w = x\nv = w",
    "w = n\nwhile w < 9:\n    w = w + u\n    if w > 5:\n        break\nelse:\n    w = B[0]\nv = w",
    "w = n\nfor j in range(2):\n    for i in range(3):\n        w += u\n    else:\n        w = x\n        break\nv = w",
    "for v in PAIR:\n    pass",
    "for v in (x, x):\n    pass",
    "for v in A.shape:\n    pass",
    "for v in F:\n    pass",
    "for v, i in enumerate(F):\n    pass",
    "for i, v in enumerate(F):\n    pass",
    "for i, v in enumerate(B, n):\n    pass",
    "for v, i in enumerate(PAIR, u):\n    pass",
    "for i, v in zip(PAIR, (x, x, x)):\n    pass",
    "for v, i in zip(range(n), F):\n    pass",
    "for v, i in zip(range(k), F):\n    pass",
    "for i, (j, v) in enumerate(zip(PAIR, NESTED[1])):\n    pass",
]

RANGES = ["n", "k", "u", "V[0]", "B[0]", "S[0]", "3", "A.shape[0]", "cuda.blockDim.x", "1, n", "n, k", "0, n, 2",
          "1, u", "n, -1, -1", "0, n, cuda.blockDim.x", "cuda.threadIdx.x, n, cuda.blockDim.x",
          "cuda.grid(1), n", "int32(0), n, int32(2)", "n + 1", "np.int32(4)", "V[0], u, u", "n, u"]  # fmt: skip


def written(expression):
    """Return an entry of the lists above as Python source."""
    for word in ("if", "else", "and", "or"):
        expression = expression.replace(f"_{word}_", f" {word} ")
    return expression.replace("_not_in_", " not in ").replace("_in_", " in ").replace("_is_", " is ").replace(
        "not_", "not ")


BODIES = [
    *(f"v = {written(expression)}" for expression in BUILTINS + EXPRESSIONS),
    *MERGES,
    *(f"for v in range({bounds}):\n    F[0] = v" for bounds in RANGES),
]


def arguments():
    """Return fresh arguments for a kernel made by `kernel_with`."""
    arrays = [np.arange(1, 9).astype(dtype) for dtype in ARRAYS.values()]
    return [*arrays, np.ones((4, 8), np.float32), *SCALARS.values()]


def kernel_with(body, folder):
    """Return a kernel of this body; its parameters are ARRAYS, A and SCALARS."""
    indented = "\n".join("    " + line for line in body.splitlines())
    return import_kernel(f"{HEADER}\n\ndef kernel({', '.join([*ARRAYS, 'A', *SCALARS])}):\n{indented}\n", folder)


def threads(body):
    """Return the block to launch: a whole warp where lanes speak to each other."""
    return 32 if "_sync(" in body else 1
