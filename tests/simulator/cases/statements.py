"""Small kernels of independent threads, for common errors in types and masks: values equal those of numba's own code.

Every eighth of them by day, all with `--nightly`. Their names: F, D, I, L, U (1-D arrays of float32, float64,
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
    "step": 8,
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
out[i] = U[i] > -1
out[i] = uint64(U[i]) > L[i]
out[i] = uint64(5) - uint64(i)
out[i] = round(F[i] * 2.5)
out[i] = round(-2.5) + round(0.5) + round(1.5)
out[i] = ~(i > 3)
out[i] = T[i % 3] + T[-(i % 3) - 1] + NESTED[i % 2][n % 2]
out[i] = 2 ** i
out[i] = 7 if i in (3, 5) else 8 if i not in T else 9
out[i] = i in (2.0, 3.5)
out[i] = -3 <= I[i] < i <= 20
out[i] = (n if i > 3 else u) // 2
out[i] = float32(16777217) + float64(float32(0.1))
out[i] = int64(uint8(300)) + int8(200) + uint16(-1)
out[i] = math.copysign(0.0, F[i]) == 0
out[i] = 1 if math.nan != math.nan else 2
out[i] = True * F[i]
out[i] = I[i] & 0xff | 1 << 3 ^ i
out[i] = I[i] >> 40
out[i] = (I[i] or L[i]) if (i and F[i]) else (D[i] or 3)
out[i] = (i and (F[i] or n)) or (u and not x)
out[i] = T[k] if False else 3
out[i] = (0 or i) + (N or i)
out[i] = (1, i) != (1, 3, 4)
return None
out[i] = -(i > 3 and 2) + +(x or 3)
out[i] = 5 - 3 * 2 ** 2 // 3 % 4 + (1 << 4 >> 2) + (6 & 3 | 8 ^ 1)
out[i] = 7 // -2 + -7 % 3 + 7.5 // 2 + -7.5 % 2
out[i] = 1e308 * 10
out[i] = 2 ** 62 + 2 ** 63
out[i] = 1 // 0
out[i] = 1 % 0
out[i] = True / 2 + True * 3 + (True & 3) + (True | False)
out[i] = -9223372036854775808 + i
""")  # fmt: skip

#: What v is in a branch that numba drops does not make it float64.
BRANCHES = Table(**{**GIVEN, "step": 1}, text="""\
v, zero, computed = F[20], 0, N - 4
out[i] += math.sqrt(1.5 if zero else v)
out[i] += math.sqrt(1.5 if v > 0 and not N else v)
out[i] += math.sqrt(1.5 if N > 5 and v > 0 else v)
out[i] += math.sqrt(v if v < 0 or zero == 0 != N else 1.5)
out[i] += math.sqrt(-N + 4 > 0 and 1.5 or v) * math.sqrt(zero + 0 or v)
large = N > 5
rest = N - 4
out[i] += math.sqrt(1.5 if large else v) + math.sqrt(rest and 1.5 or v)

v, zero, computed = F[20], 0, N - 4
out[i] += math.sqrt(1.5 if -zero else v)
out[i] += math.sqrt(1.5 if zero + 0 > 1 else v)
out[i] += math.sqrt(1.5 if computed + 0 else v)
none, one = 0, 1
alias = none
out[i] += math.sqrt(1.5 if none else v) + math.sqrt(1.5 if alias > one else v)
out[i] += math.sqrt(1.5 if len(T) > 9 else v)
made = (0, 1)
same = T
out[i] += math.sqrt(1.5 if N in T else v) * math.sqrt(v if T and 2 in T else 1.5)
out[i] += math.sqrt(1.5 if zero in same else v) * math.sqrt(1.5 if N in made else v)
out[i] += math.sqrt(1.5 if 0 in (1, 2) else v) * math.sqrt(1.5 if N not in (4, 5) else v)
if i % 2:
    same = 0
else:
    same = 0
out[i] += math.sqrt(same or v)

nothing, v = None, F[20]
if nothing is not None and nothing > 3:
    v = 1.5
elif i > 30 and (nothing is None or nothing[0]):
    v += x
out[i] = math.sqrt(v)

v = w = F[20]
while N:
    v += x
    break
else:
    v = 1.5
while N < 4:
    w = 1.5
else:
    v += w
out[i] = math.sqrt(v)
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

v = uint8(i)
for k in range(2):
    out[i] += (v << (i & 3)) / 2 + (v | 1)
    v = int8(-i)

if i % 2:
    v = i
else:
    w = 2.5
    v = 1
for k in range(i % 4):
    v += k
    w2 = v * 2
out[i] = v + k if i % 4 else v

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

for k in range(int8(120), int16(130)):
    out[i] += k

for k in range(3000000000, 3000000000 + i):
    out[i] += k

I[i] = 5000000000
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

c = T if i > 3 else (1.5, 2.5, i)
out[i] = c[0]

while False: out[i] = 1
else: out[i] = 3

for a, b in zip(F, L):
    if b > i: break
    out[i] += a

if i > 3:
    while True:
        if i > 10: return
        i += 1
out[i] = 7

for k in range(1 << 2):
    out[i] += k

for v in two(i, n):
    out[i] += v

for k in range(3): pass
else: j = k
out[i] = j
""")  # fmt: skip
