"""Kernels that time what the warps of a multiprocessor share: issue slots, paths, lines of a cache, register banks.

They write to `clocks` and `out` as those of `probes.kernels` do.
"""

from typing import Any

import numpy as np
from numba import cuda, float32, int64, types, uint32, uint64

from ....kernels.async_copy import commit_copies, copy_async, wait_copies
from .kernels import LINE, UNROLLED, WORDS, assembly, clock_after, follow_global, multiply_add, note

#: Where a kernel's shared memory begins, in bytes: what is below belongs to the driver.
SHARED = 1024
#: Words of shared memory in a block of which many fit on a multiprocessor.
FEW = 1024
CONSTANTS = np.ones(64, np.float32)

clock_now = assembly("mov.u64 $0, %clock64;", types.int64)
shared_word = assembly("ld.volatile.shared.f32 $0, [$1];", float32, types.uint32)
shared_words = assembly("{ .reg .f32 a, b, c; ld.volatile.shared.v4.f32 {$0, a, b, c}, [$1]; }", float32, types.uint32)
store_word = assembly("{ st.volatile.shared.f32 [$1], 0f3F800000; mov.f32 $0, 0f00000000; }", float32, types.uint32)
multiply_add_to = assembly("fma.rn.f32 $0, $2, $3, $1;", float32, float32, float32, float32)
clock_if = assembly(
    "{ .reg .pred p; setp.ne.s64 p, $1, 0; mov.u64 $0, 0; @p mov.u64 $0, %clock64; }", types.int64, types.int64
)
load_word = assembly("ld.global.u32 $0, [$1];", types.uint32, types.int64)
load_words = assembly("{ .reg .u32 a, b, c; ld.global.v4.u32 {$0, a, b, c}, [$1]; }", types.uint32, types.int64)
shift = assembly("shf.l.wrap.b32 $0, $1, $2, 7;", types.uint32, types.uint32, types.uint32)


@cuda.jit
def compete(value, rounds, out, clocks):
    """Multiply and add, as fast as the scheduler lets the warp: 16 times in each of eight chains a round."""
    x0 = float32(cuda.threadIdx.x)
    x1, x2, x3, x4, x5, x6, x7 = x0, x0, x0, x0, x0, x0, x0
    y = float32(value)
    cuda.syncthreads()
    first = clock_after(x0)
    for _ in range(rounds):
        for _ in range(UNROLLED):
            x0 = multiply_add(x0, y)
            x1 = multiply_add(x1, y)
            x2 = multiply_add(x2, y)
            x3 = multiply_add(x3, y)
            x4 = multiply_add(x4, y)
            x5 = multiply_add(x5, y)
            x6 = multiply_add(x6, y)
            x7 = multiply_add(x7, y)
    total = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7
    last = clock_after(total)
    out[cuda.threadIdx.x] = total
    note(clocks, first, last)


def in_a_row(access: Any, count: int) -> Any:
    """Return a kernel that sends `count` requests to shared memory, and times the sending, not the results."""

    @cuda.jit
    def in_a_row(step, laps, out, clocks):
        words = cuda.shared.array(WORDS, float32)
        for i in range(cuda.threadIdx.x, WORDS, cuda.blockDim.x):
            words[i] = i
        cuda.syncthreads()
        at = uint32(SHARED + cuda.laneid * step)
        total = words[cuda.threadIdx.x]
        first = last = int64(0)
        for _ in range(laps):  # from the second on the code is in the cache
            cuda.syncthreads()
            first = clock_now()
            for _ in range(count):
                access(at)
            last = clock_now()
        out[cuda.threadIdx.x] = total
        note(clocks, first, last)

    return in_a_row


@cuda.jit
def read_constants(rounds, out, clocks):
    """Read 16 words of constant memory a round, the same in all lanes."""
    words = cuda.const.array_like(CONSTANTS)
    at = uint64(cuda.threadIdx.x // 1024)
    total = other = float32(0)
    first = clock_after(total)
    for _ in range(rounds):
        for j in range(UNROLLED // 2):
            total += words[at + uint64(2 * j)]
            other += words[at + uint64(2 * j + 1)]
        at += uint64(cuda.threadIdx.y)
    out[cuda.threadIdx.x] = total + other
    cuda.syncthreads()
    last = clock_after(total + other)
    note(clocks, first, last)


@cuda.jit
def read_both(rounds, out, clocks):
    """Read 16 words of constant memory and 16 of shared memory a round, alternately."""
    words, tile = cuda.const.array_like(CONSTANTS), cuda.shared.array(WORDS, float32)
    tile[cuda.threadIdx.x] = cuda.threadIdx.x
    cuda.syncthreads()
    at, to = uint64(cuda.threadIdx.x // 1024), uint64(cuda.laneid)
    total = other = float32(0)
    first = clock_after(total)
    for _ in range(rounds):
        for j in range(UNROLLED):
            total += words[at + uint64(j)]
            other += tile[to + uint64(32 * j)]
        at += uint64(cuda.threadIdx.y)
        to += uint64(cuda.threadIdx.y)
    out[cuda.threadIdx.x] = total + other
    cuda.syncthreads()
    last = clock_after(total + other)
    note(clocks, first, last)


def read_lines(each: int, warm: bool) -> Any:
    """Return a kernel whose requests read `each` words of 32 // each rows: 16 requests a round, from left to right.

    warm: every round reads the same, which the first-level cache then holds. Else each warp has rows of its own, and
    the second pass is timed: the second-level cache holds them, the first-level one has lost them.
    """
    rows = LINE // each

    @cuda.jit
    def read_lines(array, pitch, step, rounds, out, clocks):
        row = cuda.laneid // each + (0 if warm else cuda.threadIdx.x // LINE * rows)
        start = uint64(row * pitch + cuda.laneid % each)
        total = other = float32(0)
        first = last = int64(0)
        for _ in range(2):
            at = start
            cuda.syncthreads()
            first = clock_after(total + other)
            for _ in range(rounds):
                for j in range(UNROLLED // 2):
                    total += array[at + uint64(each * 2 * j)]
                    other += array[at + uint64(each * (2 * j + 1))]
                at += uint64(step)
            cuda.syncthreads()
            last = clock_after(total + other)
        out[cuda.threadIdx.x] = total + other
        note(clocks, first, last)

    return read_lines


def outer(m: int, n: int) -> Any:
    """Return a kernel that adds up outer products of m and n registers, eight a round."""
    size = m * n

    @cuda.jit
    def products(values, rounds, out, clocks):
        a, b = cuda.local.array(m, float32), cuda.local.array(n, float32)
        total = cuda.local.array(size, float32)
        for i in range(m):
            a[i] = values[i, cuda.threadIdx.x]
        for j in range(n):
            b[j] = values[j + m, cuda.threadIdx.x]
        for i in range(size):
            total[i] = values[i % 4, cuda.threadIdx.x]
        cuda.syncthreads()
        first = clock_after(total[0])
        for _ in range(rounds):
            for _ in range(8):
                for i in range(m):
                    for j in range(n):
                        total[i * n + j] = multiply_add_to(total[i * n + j], a[i], b[j])
        result = float32(0)
        for i in range(size):
            result += total[i]
        cuda.syncthreads()
        last = clock_after(result)
        out[cuda.threadIdx.x] = result
        note(clocks, first, last)

    return products


def copies_in_groups(rows: int, each: int) -> Any:
    """Return a kernel that starts 8 asynchronous copies a round, a group every `each`, and waits for all of them.

    A copy moves a word per lane, those of a warp from `rows` rows of a matrix; each warp has its own.
    """
    lanes = LINE // rows

    @cuda.jit
    def copies_in_groups(array, step, rounds, out, clocks):
        tile = cuda.shared.array((1, WORDS), float32)
        for i in range(cuda.threadIdx.x, WORDS, cuda.blockDim.x):
            tile[0, i] = 0
        row = uint32(cuda.threadIdx.x // LINE * rows + cuda.laneid // lanes)
        column, to = uint32(cuda.laneid % lanes), uint32(cuda.threadIdx.x)
        first = last = int64(0)
        for _ in range(2):
            cuda.syncthreads()
            first = clock_now()
            for r in range(rounds):
                for j in range(8):
                    copy_async(tile, uint32(0), to + uint32(1024 * j), array, row, column + uint32(LINE * j + r * step))
                    if j % each == each - 1:
                        commit_copies()
                wait_copies(0)
            last = clock_now()
        cuda.syncthreads()
        total = tile[0, cuda.threadIdx.x]
        last = clock_after(total)
        out[cuda.threadIdx.x] = total
        note(clocks, first, last)

    return copies_in_groups


def reads_and_barriers(barriers: int) -> Any:
    """Return a kernel that reads 8 words of shared memory a round, and passes `barriers` barriers."""

    @cuda.jit
    def reads_and_barriers(rounds, out):
        words = cuda.shared.array(FEW, float32)
        for i in range(cuda.threadIdx.x, FEW, cuda.blockDim.x):
            words[i] = i
        cuda.syncthreads()
        at = uint32(SHARED + 4 * cuda.laneid)
        total = other = words[cuda.threadIdx.x % LINE]
        for _ in range(rounds):
            if barriers > 0:
                cuda.syncthreads()
            for j in range(4):
                total += shared_word(at + uint32(256 * j))
                other += shared_word(at + uint32(256 * j + 128))
            if barriers > 1:
                cuda.syncthreads()
        out[cuda.threadIdx.x] = total + other

    return reads_and_barriers


def uniform_values(values: int, readers: int) -> Any:
    """Return a kernel whose warps change `values` uniform values 8 times a round, which `readers` chains add up."""

    @cuda.jit
    def uniform_values(n, m, rounds, out, clocks):
        a, b = int64(n), int64(m)
        p = int64(cuda.threadIdx.x)
        q = 3 * p
        cuda.syncthreads()
        first = clock_now()
        for _ in range(rounds):
            for _ in range(8):
                a = (a ^ n) + m
                if values > 1:
                    b = (b ^ n) + m
                if readers > 0:
                    p = (p ^ n) + a
                if readers > 1:
                    q = (q ^ n) + b
        total = float32(a) + float32(b) + float32(p) + float32(q)
        cuda.syncthreads()
        last = clock_after(total)
        out[cuda.threadIdx.x] = total
        note(clocks, first, last)

    return uniform_values


@cuda.jit
def chase_by_step(start, steps, laps, times):
    """Follow a list of addresses and note the cycles of every step of every lap."""
    for lap in range(laps):
        address = int64(start)
        for step in range(steps):
            first = clock_if(address)
            address = follow_global(address)
            times[lap, step] = clock_if(address) - first


@cuda.jit
def ask_and_compete(rounds, out, clocks):
    """Request 8 words of shared memory a round, as soon as the scheduler lets the warp; add up the results."""
    words = cuda.shared.array(FEW, float32)
    for i in range(cuda.threadIdx.x, FEW, cuda.blockDim.x):
        words[i] = i
    at = uint32(SHARED + 4 * cuda.laneid)
    total = other = words[cuda.threadIdx.x % LINE]
    cuda.syncthreads()
    first = clock_after(total)
    for _ in range(rounds):
        for j in range(4):
            total += shared_word(at + uint32(256 * j))
            other += shared_word(at + uint32(256 * j + 128))
    last = clock_after(total + other)
    out[cuda.threadIdx.x] = total + other
    note(clocks, first, last)


@cuda.jit
def laps_of_blocks(value, rounds, laps, out, times):
    """Multiply and add, 8 times a round in each of four chains; note the cycles of every lap of every block."""
    x0 = float32(cuda.threadIdx.x)
    x1, x2, x3 = x0, x0, x0
    y = float32(value)
    for lap in range(laps):
        cuda.syncthreads()
        first = clock_now()
        for _ in range(rounds):
            for _ in range(8):
                x0 = multiply_add(x0, y)
                x1 = multiply_add(x1, y)
                x2 = multiply_add(x2, y)
                x3 = multiply_add(x3, y)
        cuda.syncthreads()
        last = clock_now()
        if cuda.threadIdx.x == 0:
            times[lap, cuda.blockIdx.x] = last - first
    out[cuda.threadIdx.x] = x0 + x1 + x2 + x3


def wait_for_rows(rows: int, load: Any = load_word, width: int = 4, step: int = 64) -> Any:
    """Return a kernel whose one warp waits for a part of each of `rows` rows, `step` bytes further on each time.

    Each lane requests `width` bytes by `load`, next to those of the lane before.
    """
    lanes = LINE // rows

    @cuda.jit
    def wait_for_rows(start, pitch, steps, out, clocks):
        address = int64(start) + cuda.laneid // lanes * pitch + cuda.laneid % lanes * width
        value = uint32(0)
        first = clock_now()
        for _ in range(steps):
            value = load(address + int64(value))
            address += step + int64(value)
        last = clock_if(int64(value) + 1)
        out[cuda.threadIdx.x] = value
        note(clocks, first, last)

    return wait_for_rows
