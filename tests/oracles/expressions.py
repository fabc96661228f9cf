"""Small kernels that assign a variable `v`, one way of typing each: expressions, meeting paths, loops."""

import numpy as np

from oracles.sources import import_kernel

ARRAYS = {
    "F": np.float32, "D": np.float64, "I": np.int32, "L": np.int64, "U": np.uint32, "V": np.uint64,
    "B": np.uint8, "S": np.int16, "T": np.int8, "W": np.uint16, "H": np.float16, "C": np.complex64, "Z": np.complex128,
}  # fmt: skip
SCALARS = {
    "n": np.int32(3),
    "u": np.uint32(5),
    "x": np.float32(0.5),
    "k": 4,
    "a": 1.5,
    "h": np.float16(1.5),
    "c": np.complex64(1 + 2j),
    "z": 2 - 1j,
}
HEADER = """import math
import numba
import numpy as np
from numba import complex64, complex128, cuda, float32, float64, int8, int32, int64, uint8, uint32, uint64
from numba.types import float16
COUNT = 7
PAIR = (4, 5)
NESTED = ((1, 2), (3, 4))
RATIO = 1.5
SMALL = np.float32(2.5)
INT32 = np.int32(5)
FLAG = True
TURN = 1j
SPIN = np.complex64(1 + 1j)
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

COMPLEX = words("""c z C[0] 2j 1+2j -2j TURN SPIN TURN.imag SPIN.real c+1 c+c c-z c*2.0 c*x c*n c*h c*c z*c 2*z c+True
c+B[0] c+S[0] c+T[0] c+W[0] c+V[0] c/z c/2 c/x 1/c c**2 c**-1 c**n c**x c**c z**2 2**c x**c pow(c,2) 1j*c x*1j SPIN*c
TURN*c -c +c abs(c) abs(z) abs(-c) c.real c.imag z.imag c.conjugate() z.conjugate().imag x.real x.imag n.real
n.conjugate() C[0].real (c*c).real 1j.imag complex(x,x) complex(n,x) complex(1,2) complex(B[0],x) complex(x)
complex(c) complex(a) complex64(1) complex64(z) complex64(h) complex64(n) complex64(True) complex128(c) complex128(x)
np.complex64(c) bool(c) c_and_c c_or_x not_c c_if_c_else_z c_if_n_else_x n_if_n_else_c c==z c==1 c!=n z==c c==x
c_in_(1,2) round(x,2) round(a,n) round(n,1) round(B[0],2) round(u,k) round(x,True)""")
HALF = words("""h H[0] h+h h-1 h+1.0 h*x h*B[0] h*T[0] h*S[0] h*W[0] h*True h*n h*u h/h h/2 h/T[0] h//h h%h h//B[0]
h**2 h**-1 h**h h**n h**0.5 2**h B[0]**h -h +h abs(h) h_if_n_else_x h_if_n_else_n h_if_n_else_B[0] h<h h<x h<1 h==0
h<=B[0] h!=S[0] float16(x) float16(n) float16(1) float16(1.5) float16(True) float16(B[0]) float16(a) np.float16(x)
float32(h) float64(h) int32(h) int64(h) uint8(h) int8(h) int(h) float(h) round(h) round(h,2) h.real h.imag math.sqrt(h)
math.sin(h) math.exp(h) math.log2(h) math.floor(h) math.fabs(h) math.trunc(h) math.tan(h) math.tanh(h) math.isnan(h)
math.isinf(h) math.pow(h,h) math.atan2(h,h) math.atan2(h,n) math.hypot(h,B[0]) math.copysign(h,x) math.degrees(h)
cuda.shfl_sync(-1,h,0)""")
HALF_FUNCTIONS = words("""hadd(h,h) hsub(h,h) hmul(h,x) hdiv(h,1) hneg(h) habs(h) hfma(h,h,1) hmax(h,h) hmin(h,h)
heq(h,h) hne(h,h) hlt(h,h) hle(h,h) hgt(h,h) hge(h,h) hsin(h) hcos(h) hexp(h) hexp2(h) hlog(h) hlog2(h) hlog10(h)
hsqrt(h) hfloor(h) hceil(h) htrunc(h) hrint(h)""")
#: By day too: no rule of one operation says these types.
TUPLES = words("""sum((F[0],F[1]),0)+F[0]*F[1] sum((T[0],T[1]),0)+T[0]*B[0] sum((F[0],F[1]),0)+F[0]*L[0]
math.frexp(h)[0]+math.modf(h)[1] math.frexp(x)[0]+math.modf(x)[1] math.frexp(a)[0]+math.modf(a)[1]
math.frexp(T[0])[0]+math.modf(T[0])[1] math.frexp(W[0])[0]+math.modf(W[0])[1] math.frexp(L[0])[0]+math.modf(L[0])[1]""")
#: What numba refuses.
REFUSED = words("""c<z c>=1 1<c<z c//c c%c c&1 ~c c<<1 float(c) int(c) float32(c) int32(c) float16(c) round(c)
round(c,2) divmod(c,c) complex(c,c) complex(x,c) complex(h,h) complex(h) complex(n>1,x) complex64(1,2) (n>1).real
(n>1).conjugate() math.sqrt(c) math.floor(c) math.atan2(c,x) math.isnan(c) math.exp2(h) cuda.shfl_sync(-1,c,0)
cuda.shfl_xor_sync(-1,z,1) cuda.all_sync(-1,c) cuda.eq_sync(-1,c) cuda.match_any_sync(-1,c) cuda.syncthreads_count(c)
cuda.fma(c,c,c) cuda.selp(n>0,c,c) cuda.selp(n>0,h,h) cuda.atomic.add(C,0,c) cuda.atomic.add(Z,0,1)
cuda.atomic.exch(C,0,c) cuda.atomic.cas(C,0,c,c) cuda.atomic.add(H,0,h) cuda.atomic.max(H,0,h) cuda.atomic.exch(H,0,h)
cuda.atomic.cas(H,0,h,h) F[c] F[h] h&1 ~h h<<1 cuda.fp16.hadd(c,h)""")

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
    "w = x\nif n > 9:\n    w = c\nv = w",
    "w = W[0]\nif n > 9:\n    w = c\nv = w",
    "w = n\nif n > 9:\n    w = h\nv = w",
    "w = B[0]\nif n > 9:\n    w = h\nv = w",
    "w = h\nif n > 9:\n    w = x\nv = w",
    "w = h\nif n > 9:\n    w = c\nv = w",
    "w = 0\nfor i in range(n):\n    w += c\nv = w",
    "w = complex64(0)\nfor i in range(n):\n    w += c * x\nv = w",
    "w = float16(0)\nfor i in range(n):\n    w += h * h\nv = w",
    "w = 0.0\nfor i in range(n):\n    w += h * h\nv = w",
    "C[0] += 1\nC[1] *= x\nC[2] = h\nZ[0] = c\nC[3] = z\nC[4] = n\nv = C[0] + Z[0]",
    "H[0] = x\nH[1] = n\nH[2] += 1\nI[0] = H[0]\nB[0] = h\nF[0] = h\nv = H[0]",
    "v = 2\nif c:\n    v = 1",
    "s = cuda.shared.array(4, complex64)\ns[0] = c\nv = s[0] * s[0]",
    "s = cuda.local.array(4, complex128)\ns[n] = c\nv = s[n]",
    "s = cuda.shared.array(4, float16)\ns[0] = x\nv = s[0] * s[0]",
    "p = (0, x)\nfor i in range(n):\n    p = (c, z)\nv = p[0] * p[1]",
    "for v in (c, c):\n    pass",
    "for v in C:\n    pass",
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
    return (
        expression.replace("_not_in_", " not in ")
        .replace("_in_", " in ")
        .replace("_is_", " is ")
        .replace("not_", "not ")
    )


BODIES = [
    *(f"v = {written(expression)}" for expression in BUILTINS + EXPRESSIONS + COMPLEX + HALF),
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
