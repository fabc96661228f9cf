"""Small kernels of independent threads, for common errors in types and masks: values equal those of numba's own code.

Every twenty-fourth of them by day, all with `--nightly`. Their names: F, D, I, L, U (1-D arrays of float32, float64,
int32, int64, uint32), A (2-D, float32), n, u, x (scalars of int32, uint32, float32), out (float64), i (the thread).
"""

import numpy as np
from simulator.cases import IMPORTS, Table

NUMBERS = np.arange(24)
F = np.linspace(-3, 3, 24).astype(np.float32)
D = np.linspace(-2, 2, 24)
A = np.arange(20, dtype=np.float32).reshape(4, 5)
GIVEN = {
    "judge": "numba",
    "step": 24,
    "launch": "1, 24",
    "first": "i = cuda.grid(1)\n",
    "arguments": "F=F, D=D, I=(NUMBERS - 7).astype('i4'), L=NUMBERS * 3 - 20, U=NUMBERS.astype('u4'), A=A, "
    "n=np.int32(3), u=np.uint32(5), x=np.float32(0.5), out=zeros(24)",
    "header": f"""{IMPORTS}
T = (2, 3, 5)
NESTED = ((1, 2), (3, 4))
N = 4

@cuda.jit(device=True)
def two(p, q):
    return p + q, p * q

@cuda.jit(device=True)
def first(t):
    return t[0] + t[1]
""",
}

LINES = Table(**GIVEN, lines=True, text="""\
out[i] = 9223372036854775807 + i
out[i] = (i - 5) << 3
out[i] = (i - 5) >> 1
out[i] = u >> 1
out[i] = 1 << (i % 20)
out[i] = I[i] // (i % 3 - 1)
out[i] = I[i] % (i % 3 - 1)
out[i] = F[i] / 0.0
out[i] = F[i] // (i % 2)
out[i] = F[i] % 0.7
out[i] = F[i] % -0.7
out[i] = D[i] // 0.3
out[i] = D[i] % (i % 2)
out[i] = I[i] / (i % 2)
out[i] = I[i] // 2.5
out[i] = I[i] % 2.5
out[i] = L[i] % -7 + L[i] // -7
out[i] = u // 3 - u % 3 + (u - 7) % 5
out[i] = U[i] - 10
out[i] = U[i] * -1
out[i] = -U[i]
out[i] = U[i] > -1
out[i] = uint64(U[i]) > L[i]
out[i] = uint64(5) - uint64(i)
out[i] = I[i] == F[i]
out[i] = min(I[i], 3) if i else max(F[i], 1)
out[i] = abs(I[i] - 5) + abs(F[i]) + abs(-3)
out[i] = round(D[i] * 2.5)
out[i] = round(F[i] * 2.5)
out[i] = round(-2.5) + round(0.5) + round(1.5)
out[i] = int(D[i] * 10) + int(-0.5)
out[i] = math.floor(D[i] * 10) + math.ceil(D[i] * 10) * 100
out[i] = (i > 3) + (i > 5) * 2 - (i > 7)
out[i] = (i > 3) - True
out[i] = (i > 3) / 2
out[i] = (i > 3) & (i < 7) | (i == 9) ^ True
out[i] = ~(i > 3)
out[i] = (I[i] and F[i]) or D[i]
out[i] = I[i] or U[i] and x
out[i] = not (I[i] and F[i] > 0)
out[i] = first(two(i, n)) + first((x, n))
out[i] = T[i % 3] + T[-(i % 3) - 1] + NESTED[i % 2][n % 2]
out[i] = I[i] * I[i] * I[i]
out[i] = x * x - x / 3
out[i] = F[i] * F[i] + x
out[i] = D[i] ** 2 + F[i] ** 3 + I[i] ** 2
out[i] = 2 ** i
out[i] = math.fabs(I[i]) + math.sqrt(i)
out[i] = 7 if i in (3, 5) else 8 if i not in T else 9
out[i] = i in (2.0, 3.5)
out[i] = F[i] in (0.5, 1.5)
out[i] = -3 <= I[i] < i <= 20
out[i] = 1 if 0 < I[i] and 10 // I[i] > 2 else 2
out[i] = (n if i > 3 else x) * 2
out[i] = (n if i > 3 else u) // 2
out[i] = i if i > 3 else x if i > 1 else u
out[i] = float32(16777217) + float64(float32(0.1))
out[i] = int64(uint8(300)) + int8(200) + uint16(-1)
out[i] = uint32(-1) + uint64(1)
out[i] = bool(F[i]) + bool(i) + bool(0.0)
out[i] = len(T) * len(A) + A.shape[-1]
out[i] = math.copysign(0.0, F[i]) == 0
out[i] = 1 if math.nan != math.nan else 2
out[i] = min(F[i], 0) + max(D[i], i)
out[i] = True * F[i]
out[i] = True and F[i] or 3
out[i] = I[i] & 0xff | 1 << 3 ^ i
out[i] = I[i] >> 40
out[i] = (I[i] or L[i]) if (i and F[i]) else (D[i] or 3)
out[i] = (i and (F[i] or n)) or (u and not x)
out[i] = T[k] if False else 3
out[i] = i if N else x
out[i] = N and i or x
out[i] = 0 and i
out[i] = (0 or i) + (N or i)
if N and i: out[i] = 1
if N == 4 and i > 3: out[i] = 1
out[i] = first((F[i], D[i])) + first((i, x))
out[i] = T[i % 2 + 1] ** 2 + T[i % 3] // 2
out[i] = (i > 2, i > 4)[i % 2]
out[i] = (T + T)[i % 6]
out[i] = T[::-1][0] * 10 + T[1:3][i % 2]
out[i] = len(T[1:]) + len(T + (1, 2.5)) + len(((1, 2), 3))
out[i] = (1, 2.5)[1]
out[i] = (1, i) == (1.0, 3)
out[i] = (1, i) != (1, 3, 4)
out[i] = (i, (1, 2)) == (3, (1, 2))
out[i] = F[i] is not None
return None
out[i] = -(i > 3 and 2) + +(x or 3)
out[i] = 5 - 3 * 2 ** 2 // 3 % 4 + (1 << 4 >> 2) + (6 & 3 | 8 ^ 1)
out[i] = 1 / 3 * x
out[i] = F[i] * (1 / 3)
out[i] = 7 // -2 + -7 % 3 + 7.5 // 2 + -7.5 % 2
out[i] = 1e308 * 10
out[i] = 2 ** 62 + 2 ** 63
out[i] = 1 // 0
out[i] = 1 % 0
out[i] = True / 2 + True * 3 + (True & 3) + (True | False)
out[i] = -9223372036854775808 + i
out[i] = not 3
out[i] = +True + -True
out[i] = T[1 + 1]
out[i] = A[i % 4][i % 5] + A[(1, 2)] + A[T[0], T[1]]
out[i] = math.floor(F[i]) // 2 + int(math.ceil(D[i])) % 3
out[i] = two(i, 1)[i % 2]
""")  # fmt: skip

STATEMENTS = Table(**GIVEN, text="""\
for k in range(uint64(i) - uint64(3), uint64(5)):
    out[i] += 1

for k in range(int32(i), int32(2147483647), int32(1073741824)):
    out[i] += 1

for k in range(uint64(18446744073709551615)):
    out[i] = 7

v = uint8(i)
for k in range(2):
    out[i] = int64(v + v) - 2 ** 61
    v = L[i] + 2 ** 60

if i % 2:
    v = i
else:
    w = 2.5
    v = 1
for k in range(i % 4):
    v += k
    w2 = v * 2
out[i] = v + k if i % 4 else v

v = uint32(0) - uint32(1)
out[i] = v

v = uint32(uint32(0) - uint32(i))
out[i] = v

b = i > 3
b |= i == 2
out[i] = b

v = F[i]
while v < 2:
    v = v + 1 if v > 0 else -v
    if v == 1.5:
        continue
    v += 0.25
out[i] = v

if not I[i] and (F[i] > 0 or n):
    out[i] = 1

for k in range(i, 0, -2):
    out[i] += k

for k in range(-3, i, i + 1):
    out[i] += k

for k in range(u):
    out[i] += k - 3

for k in range(int8(120), int16(130)):
    out[i] += k

for k in range(3000000000, 3000000000 + i):
    out[i] += k

v = two(i, 2)[1]
out[i] = v

L[i] = F[i] * 10
out[i] = L[i]

U[i] = -3
out[i] = U[i]

I[i] = 5000000000
out[i] = I[i]

F[i] = 0.1
out[i] = F[i]

I[i] += 0.75
out[i] = I[i]

U[i] //= -2
out[i] = U[i]

F[i] += 1e-9
F[i] *= 3
out[i] = F[i]

for v in (T[0], T[2]):
    for w in T[:2]:
        out[i] += v * w * i
        if out[i] > 50: break
    else:
        continue
    break
else:
    out[i] += 0.5

v = D[i] / 0.0
out[i] = int64(v > 1)

c = T if i > 3 else (1.5, 2.5, i)
out[i] = c[0]

r = F if n > 2 else F
out[i] = r[i]

v = (i > 3 or i < 1) and I[i] or (i > 2 and F[i])
out[i] = v

x2 = I[i] or F[I[i] % 24] or D[i]
out[i] = x2

t = (0, 0)
for k in range(i % 4):
    t = (t[0] + k, t[1] + F[k])
out[i] = t[0] + t[1]

while False: out[i] = 1
else: out[i] = 3

for k in range(0): out[i] = 1
else: out[i] = 3

for a, b in zip(F, L):
    if b > i: break
    out[i] += a

t = (F[i], x)
out[i] = t[i % 2]

h = out
h[i] = 3

h = (F, out)
h[1][i] = h[0][i]

for k in range(-5, 5, 3):
    out[i] += k

for k in range(5, -5, -3):
    out[i] += k * (i + 1)

for k in range(n, u):
    out[i] += k

for k in range(i % 3, u, n):
    out[i] += k

for k in range(True):
    out[i] += k + 1

if i > 3:
    while True:
        if i > 10: return
        i += 1
out[i] = 7

b = i > 3
out[i] = (b and i) or b

v = 1 if i > 2 and F[i] else 2.5
out[i] = v

for k in range(1 << 2):
    out[i] += k

if i == 2: A[1, 1] = 9
out[i] = 1

for v in two(i, n):
    out[i] += v

for k in range(3): pass
else: j = k
out[i] = j

x = i if x else 3
out[i] = x

u += 1
out[i] = u

n, x = x, n
out[i] = n * 10 + x

F = D
out[i] = F[i]
""")  # fmt: skip
