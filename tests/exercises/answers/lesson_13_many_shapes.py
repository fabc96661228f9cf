"""Answers on many shapes: plausible wrong ones with the first hint they meet, and right ones."""

HEADER = "from numba import cuda, float32\n\nTILE, SHARES = 8, 4\n\n\n"

RANGE = "share * K // SHARES, (share + 1) * K // SHARES"
LOOP = f"        for k in range({RANGE}):\n"
SUM = "            acc += A[row, k] * B[k, col]\n"
STORE = "        P[share, row, col] = acc"

WRONG = r"""
# busy
rounded down: >     waves = tiles // at_once\n    return tiles / (waves * at_once) ? tiles-133-at-once-132
always one more: >     waves = tiles // at_once + 1\n    return tiles / (waves * at_once) ? one-too-many-if-exact
the waves themselves: >     return tiles / at_once ? tiles-133-at-once-132
the number of waves: >     return -(-tiles // at_once) ? tiles-8-at-once-132
132 for every GPU: >     waves = -(-tiles // 132)\n    return tiles / (waves * 132) ? parameter-not-used

# share-of-k
all of K: >         for k in range(K):\n{SUM}{STORE} ? all-of-k
the rest is nobody's ? divided-first
>         for k in range(share * (K // SHARES), (share + 1) * (K // SHARES)):\n{SUM}{STORE}
the first share in each: >         for k in range(K // 4):\n{SUM}{STORE} ? the-first-share
equal shares, rounded up ? rounded-up
>         for k in range(share * -(-K // 4), min(K, (share + 1) * -(-K // 4))):\n{SUM}{STORE}
every fourth element: >         for k in range(share, K, SHARES):\n{SUM}{STORE} ? every-fourth
no parentheses ? no-parentheses
>         for k in range(share * K // SHARES, share + 1 * K // SHARES):\n{SUM}{STORE}
a true division: >         for k in range(K / 4):\n{SUM}{STORE} ? the-first-share
into one matrix: > {LOOP}{SUM}        P[0, row, col] = acc ? race
the share last: > {LOOP}{SUM}        P[row, col, share] = acc ? out-of-bounds
= for +=: > {LOOP}            acc = A[row, k] * B[k, col]\n{STORE} ? sum-replaced
no store: > {LOOP}{SUM} ? never-stored

# add-shares
one share: >         acc += P[0, row, col]\n        C[row, col] = acc ? one-share-alone
the share last ? out-of-bounds
>         for share in range(SHARES):\n            acc += P[row, col, share]\n        C[row, col] = acc
one share too few ? one-term-too-many
>         for share in range(SHARES - 1):\n            acc += P[share, row, col]\n        C[row, col] = acc
= for += ? sum-replaced
>         for share in range(SHARES):\n            acc = P[share, row, col]\n        C[row, col] = acc
stored in the loop ? stored-in-the-loop
>         for share in range(SHARES):\n            acc += P[share, row, col]\n            C[row, col] = acc
added in memory ? not-zero-at-the-start
>         for share in range(SHARES):\n            C[row, col] += P[share, row, col]

# sliced
no barrier: = acc\n    cuda.syncthreads() -> = acc ? barrier-before-use
slice 0 alone: range(1, SHARES) -> range(1, 1) ? slice-0-alone
"""

NIGHTLY = r"""
# share-of-k
stored in the loop: > {LOOP}{SUM}    {STORE} ? belongs-after
one less ? one-term-too-many
>         for k in range(share * K // SHARES, (share + 1) * K // SHARES - 1):\n{SUM}{STORE}

# sliced
all of K in each: range(part * K // SHARES, (part + 1) * K // SHARES) -> range(K) ? all-of-k
divided first ? divided-first
- range(part * K // SHARES, (part + 1) * K // SHARES) -> range(part * (K // SHARES), (part + 1) * (K // SHARES))
its own sum again ? shared-loads-per-thread
- acc += parts[other, ty, tx] -> acc += parts[other, ty, tx] + 0 * parts[0, ty, tx]
"""

RIGHT = r"""
# busy
by the remainder: >     idle = -tiles % at_once\n    return tiles / (tiles + idle)

# share-of-k
the bounds named
>         first, last = share * K // SHARES, (share + 1) * K // SHARES\n        for k in range(first, last):\n
+ {SUM}{STORE}

# add-shares
all in one line: >         C[row, col] = P[0, row, col] + P[1, row, col] + P[2, row, col] + P[3, row, col]

# sliced
an early store:     parts[part, ty, tx] = acc\n ->     if part > 0:\n        parts[part, ty, tx] = acc\n
"""
