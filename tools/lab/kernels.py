"""Kernels that each time one property of a multiprocessor by its own clock: a latency, or a rate.

Every warp writes when it began and when it ended to `clocks[0 or 1, block, warp]`, so that clock frequency, launches
and other multiprocessors play no part. Results that a compiler could drop are stored to `out`.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import cuda, float32, int64, types, uint32, uint64
from numba.extending import intrinsic

from course_lib.kernels.async_copy import commit_copies, copy_async, wait_copies
from course_lib.kernels.vector import load4

#: Copies of the operation in the body of a loop: the loop's own instructions are then a small part.
UNROLLED = 16
WORDS = 8192
#: Elements of a list of indices, and of a node of a list of addresses: one for each lane of a warp.
LINE = 32
INDICES = np.arange(LINE, dtype=np.int64)


def assembly(text, result, *arguments):
    """Return an intrinsic that is one fixed line of the GPU's assembly; operands are $1 …, results $0."""
    kinds = {types.int64: (ir.IntType(64), "l"), types.uint32: (ir.IntType(32), "r"), float32: (ir.FloatType(), "f")}
    operands = ", ".join(f"x{i}" for i in range(len(arguments)))

    def typer(typingctx, *given):
        def generate(context, builder, signature, args):
            values = [context.cast(builder, v, of, to) for v, of, to in zip(args, given, arguments, strict=True)]
            kind = ir.FunctionType(kinds[result][0], [kinds[a][0] for a in arguments])
            letters = ",".join([f"={kinds[result][1]}", *(kinds[a][1] for a in arguments)])
            return builder.asm(kind, text, letters, values, side_effect=True)

        return result(*given), generate

    scope = {"typer": typer}
    source = f"def assembly(typingctx, {operands}):\n    return typer(typingctx, {operands})"
    exec(source, scope)  # numba reads its names
    return intrinsic(scope["assembly"])


#: The multiprocessor's clock, read once its operand is there; loads from an address.
clock_after = assembly("mov.u64 $0, %clock64;", types.int64, float32)
follow_global = assembly("ld.global.u64 $0, [$1];", types.int64, types.int64)
#: A load that the first-level cache does not answer: its copy, if there is one, is not used.
load_past_l1 = assembly("ld.global.cg.u64 $0, [$1];", types.int64, types.int64)
multiply_add = assembly("fma.rn.f32 $0, $1, $2, $1;", float32, float32, float32)
multiply_add_integer = assembly("mad.lo.u32 $0, $1, $2, $1;", types.uint32, types.uint32, types.uint32)
add_integer = assembly("add.u32 $0, $1, $2;", types.uint32, types.uint32, types.uint32)
xor_integer = assembly("xor.b32 $0, $1, $2;", types.uint32, types.uint32, types.uint32)


@cuda.jit(device=True)
def note(clocks, first, last):
    """Write when this warp began and ended; one of its lanes does."""
    thread = cuda.threadIdx.x + cuda.threadIdx.y * cuda.blockDim.x
    if thread % 32 == 0:
        clocks[0, cuda.blockIdx.x, thread // 32] = first
        clocks[1, cuda.blockIdx.x, thread // 32] = last


@cuda.jit
def chase(start, apart, steps, laps, out, clocks):
    """Follow a list of addresses, `steps` a lap, the lanes' lists `apart` bytes apart; the last lap is timed."""
    address = start + apart * cuda.laneid + cuda.threadIdx.x // 32 * (8 * LINE)
    first = last = int64(0)
    for _ in range(laps):
        cuda.syncthreads()
        first = clock_after(float32(address))
        for _ in range(steps // UNROLLED):
            for _ in range(UNROLLED):
                address = follow_global(address)
        last = clock_after(float32(address))
    out[cuda.threadIdx.x] = address
    note(clocks, first, last)


@cuda.jit(device=True)
def chase_words(words, at, rounds, out, clocks):
    """Follow a list of indices from `at` on: each load depends on the one before."""
    first = clock_after(float32(at))
    for _ in range(rounds):
        for _ in range(UNROLLED):
            at = words[uint64(at)]
    last = clock_after(float32(at))
    out[cuda.threadIdx.x] = at
    note(clocks, first, last)


@cuda.jit
def chase_shared(rounds, out, clocks):
    """Follow a list of indices in shared memory, all of them 0."""
    words = cuda.shared.array(LINE, int64)
    words[cuda.threadIdx.x] = cuda.threadIdx.x * rounds // (rounds + 1) * 0
    cuda.syncthreads()
    chase_words(words, int64(0), rounds, out, clocks)


@cuda.jit
def chase_copies(array, rounds, out, clocks):
    """Copy an index to shared memory asynchronously, wait, read it, and copy from there next."""
    tile = cuda.shared.array((1, LINE), int64)
    at = int64(cuda.threadIdx.x)
    first = clock_after(float32(at))
    for _ in range(rounds):
        copy_async(tile, 0, cuda.threadIdx.x, array, 0, at)
        commit_copies()
        wait_copies(0)
        at = tile[uint64(0), uint64(cuda.threadIdx.x)]
    last = clock_after(float32(at))
    out[cuda.threadIdx.x] = at
    note(clocks, first, last)


@cuda.jit
def chase_indices(array, rounds, out, clocks):
    """Read an element at an unsigned index, which is the element read before: all are 0."""
    at = int64(0)
    first = clock_after(float32(at))
    for _ in range(rounds):
        at = array[uint64(cuda.threadIdx.y), uint64(at)]
    last = clock_after(float32(at))
    out[cuda.threadIdx.x] = at
    note(clocks, first, last)


@cuda.jit
def chase_constants(rounds, out, clocks):
    """Follow a list of indices in constant memory, all of them 0."""
    chase_words(cuda.const.array_like(INDICES), int64(rounds // (rounds + 1)), rounds, out, clocks)


def arithmetic(operation: Any, dtype: Any, chains: int, together: bool = True) -> Any:
    """Return a kernel that does 16 `operation`s a round in each of `chains` independent chains.

    together: whether each warp's end is that of the last one.
    """

    @cuda.jit
    def arithmetic(value, rounds, out, clocks):
        x, y = cuda.local.array(chains, dtype), dtype(value)
        for i in range(chains):
            x[i] = dtype(cuda.threadIdx.x)
        cuda.syncthreads()
        first = clock_after(float32(x[0]))
        for _ in range(rounds):
            for _ in range(UNROLLED):
                for i in range(chains):
                    x[i] = operation(x[i], y)
        total = float32(0)
        for i in range(chains):
            total += float32(x[i])
        if together:
            cuda.syncthreads()
        last = clock_after(total)
        out[cuda.threadIdx.x] = total
        note(clocks, first, last)

    return arithmetic


#: Multiply and add, as fast as the scheduler lets the warp.
compete = arithmetic(multiply_add, float32, 8, together=False)


@cuda.jit(device=True)
def add_then_xor(x, y):
    """Do two integer instructions that the compiler cannot combine."""
    return xor_integer(add_integer(x, y), 0x55555555)


@cuda.jit(device=True)
def read_words(words, at, apart, step, rounds, start):
    """Read 16 words a round from `at` on, then go on by `step`; return when it began, and the sum with `start`.

    apart: the words from one pair to the next, and from the first to the second of a pair.
    """
    total, other = start, float32(0)
    first = clock_after(total)
    for _ in range(rounds):
        for j in range(UNROLLED // 2):
            total += words[at + uint64(apart[0] * j)]
            other += words[at + uint64(apart[0] * j + apart[1])]
        at += uint64(step)
    return first, total + other


@cuda.jit(device=True)
def note_when_all_have(first, total, out, clocks):
    """Store a thread's sum, and note when its warp began and when all warps had their sums."""
    out[cuda.threadIdx.x] = total
    cuda.syncthreads()
    note(clocks, first, clock_after(total))


@cuda.jit
def read_shared(stride, step, rounds, out, clocks):
    """Read 16 words a round: lane i reads word i·stride, then 32 words further on, modulo the array's size."""
    words = cuda.shared.array(WORDS, float32)
    for i in range(cuda.threadIdx.x, WORDS, cuda.blockDim.x):
        words[i] = i
    cuda.syncthreads()
    first, total = read_words(words, uint64(cuda.laneid * stride), (32, 1024), step, rounds, float32(0))
    note_when_all_have(first, total, out, clocks)


def read_global(stride: int) -> Any:
    """Return a kernel that reads 16 words a round from the first-level cache: lane i word i·stride of each stretch."""
    stretch = 32 * max(stride, 1)

    @cuda.jit
    def read_global(array, step, rounds, out, clocks):
        total = float32(0)
        for i in range(cuda.threadIdx.x, array.shape[0], cuda.blockDim.x):
            total += array[i]
        cuda.syncthreads()
        first, total = read_words(array, uint64(cuda.laneid * stride), (2 * stretch, stretch), step, rounds, total)
        note_when_all_have(first, total, out, clocks)

    return read_global


@cuda.jit
def read_rows(array, laps, out, clocks):
    """Read a matrix of four columns once a lap, all blocks together, 64 bytes a thread in flight."""
    threads = cuda.gridDim.x * cuda.blockDim.x
    thread = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    total = float32(0)
    first = last = int64(0)
    for _ in range(laps):
        cuda.syncthreads()
        first = clock_after(total)
        for row in range(thread, array.shape[0] - 3 * threads, 4 * threads):
            a, b, c, d = load4(array, row, 0)
            e, f, g, h = load4(array, row + threads, 0)
            i, j, k, m = load4(array, row + 2 * threads, 0)
            n, o, p, q = load4(array, row + 3 * threads, 0)
            total += a + b + c + d + e + f + g + h + i + j + k + m + n + o + p + q
        cuda.syncthreads()
        last = clock_after(total)
    out[thread] = total
    note(clocks, first, last)


@cuda.jit
def read_past_l1(start, rounds, laps, out, clocks):
    """Read the same words in each lap, all blocks together, past the first-level cache; the first lap is not timed.

    A thread reads eight words of 8 bytes a round, 64 bytes in flight, and no other thread reads them.
    """
    threads = cuda.gridDim.x * cuda.blockDim.x
    thread = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    step = int64(8 * threads)
    total = first = int64(0)
    for lap in range(laps + 1):
        if lap == 1:
            cuda.syncthreads()
            first = clock_after(float32(total))
        address = int64(start) + 8 * thread
        for _ in range(rounds):
            a, b = load_past_l1(address), load_past_l1(address + step)
            c, d = load_past_l1(address + 2 * step), load_past_l1(address + 3 * step)
            e, f = load_past_l1(address + 4 * step), load_past_l1(address + 5 * step)
            g, h = load_past_l1(address + 6 * step), load_past_l1(address + 7 * step)
            total += a + b + c + d + e + f + g + h
            address += 8 * step
    cuda.syncthreads()
    last = clock_after(float32(total))
    out[thread] = total
    note(clocks, first, last)


@cuda.jit
def barriers(rounds, out, clocks):
    """Pass 16 barriers a round."""
    cuda.syncthreads()
    first = clock_after(float32(0))
    for _ in range(rounds):
        for _ in range(UNROLLED):
            cuda.syncthreads()
    last = clock_after(float32(1))
    note(clocks, first, last)


#: Where a kernel's shared memory begins, in bytes: what is below belongs to the driver.
SHARED = 1024
#: Words of shared memory in a block of which many fit on a multiprocessor.
FEW = 1024
CONSTANTS = np.ones(64, np.float32)

clock_now = assembly("mov.u64 $0, %clock64;", types.int64)
shared_word = assembly("ld.volatile.shared.f32 $0, [$1];", float32, types.uint32)
store_word = assembly("{ st.volatile.shared.f32 [$1], 0f3F800000; mov.f32 $0, 0f00000000; }", float32, types.uint32)
multiply_add_to = assembly("fma.rn.f32 $0, $2, $3, $1;", float32, float32, float32, float32)
clock_if = assembly(
    "{ .reg .pred p; setp.ne.s64 p, $1, 0; mov.u64 $0, 0; @p mov.u64 $0, %clock64; }", types.int64, types.int64
)
load_word = assembly("ld.global.u32 $0, [$1];", types.uint32, types.int64)
load_words = assembly("{ .reg .u32 a, b, c; ld.global.v4.u32 {$0, a, b, c}, [$1]; }", types.uint32, types.int64)


def stores_in_a_row(count: int) -> Any:
    """Return a kernel that sends `count` stores to shared memory, and times the sending, not the results."""

    @cuda.jit
    def stores_in_a_row(step, laps, out, clocks):
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
                store_word(at)
            last = clock_now()
        out[cuda.threadIdx.x] = total
        note(clocks, first, last)

    return stores_in_a_row


@cuda.jit
def read_constants(rounds, out, clocks):
    """Read 16 words of constant memory a round, the same in all lanes."""
    words = cuda.const.array_like(CONSTANTS)
    first, total = read_words(words, uint64(cuda.threadIdx.x // 1024), (2, 1), cuda.threadIdx.y, rounds, float32(0))
    note_when_all_have(first, total, out, clocks)


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
    """Return a kernel that reads 8 words of shared memory a round, and passes `barriers` barriers.

    Without barriers each warp reads as soon as the scheduler lets it.
    """

    @cuda.jit
    def reads_and_barriers(rounds, out, clocks):
        words = cuda.shared.array(FEW, float32)
        for i in range(cuda.threadIdx.x, FEW, cuda.blockDim.x):
            words[i] = i
        cuda.syncthreads()
        at = uint32(SHARED + 4 * cuda.laneid)
        total = other = words[cuda.threadIdx.x % LINE]
        cuda.syncthreads()
        first = clock_after(total)
        for _ in range(rounds):
            if barriers > 0:
                cuda.syncthreads()
            for j in range(4):
                total += shared_word(at + uint32(256 * j))
                other += shared_word(at + uint32(256 * j + 128))
            if barriers > 1:
                cuda.syncthreads()
        last = clock_after(total + other)
        out[cuda.threadIdx.x] = total + other
        note(clocks, first, last)

    return reads_and_barriers


@cuda.jit
def chase_by_step(start, steps, times):
    """Follow a list of addresses and note the cycles of every step."""
    address = int64(start)
    for step in range(steps):
        first = clock_if(address)
        address = follow_global(address)
        times[step] = clock_if(address) - first


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
