"""Races by vector clocks over every pair of accesses: slow, simple, and exact.

A program is a table of steps that all threads execute in order. Step k is one instruction, taken by the threads of
``active[k]``: a load, a store or an atomic of shared or global memory at ``index[k]``, a syncwarp among the lanes that
name the same ``members[k]``, a fence (of the device or of a block), or a barrier of every block. An atomic releases
what its thread fenced, or what a thread of its block fenced before the latest barrier, to any thread that updates the
same word later; after a fence of the block, or through a word of shared memory, only to its own block.
"""

import numpy as np
from numba import cuda, int32

LOAD, STORE, ATOMIC, GLOBAL_LOAD, GLOBAL_STORE, GLOBAL_ATOMIC, SYNCWARP, BARRIER, FENCE, BLOCK_FENCE = range(10)
WORDS = 8


def program_of(fences):  # noqa: C901 (a kernel)
    """Return the kernel that executes a table; without ``fences`` its source has none, and no table may."""

    @cuda.jit
    def program(steps, active, index, members, words, out):  # noqa: C901 (a kernel)
        tile = cuda.shared.array(WORDS, int32)
        t = cuda.grid(1)
        for i in range(cuda.threadIdx.x, WORDS, cuda.blockDim.x):
            tile[i] = 0
        cuda.syncthreads()
        total = 0
        for k in range(steps.shape[0]):
            step = steps[k]
            if step == BARRIER:
                cuda.syncthreads()
            elif active[k, t]:
                if step == LOAD:
                    total += tile[index[k, t]]
                elif step == STORE:
                    tile[index[k, t]] = k
                elif step == ATOMIC:
                    cuda.atomic.add(tile, index[k, t], 1)
                elif step == GLOBAL_LOAD:
                    total += words[index[k, t]]
                elif step == GLOBAL_STORE:
                    words[index[k, t]] = k
                elif step == GLOBAL_ATOMIC:
                    cuda.atomic.add(words, index[k, t], 1)
                elif step == SYNCWARP:
                    cuda.syncwarp(members[k, t])
                elif fences:
                    if step == FENCE:
                        cuda.threadfence()
                    else:
                        cuda.threadfence_block()
        out[t] = total

    return program


program, program_without_fences = program_of(True), program_of(False)


def draw(rng: np.random.Generator):
    """Return a random program: (blocks, threads a block, steps, active, index, members)."""
    blocks, threads = int(rng.integers(1, 3)), int(rng.choice([8, 32, 40, 64]))
    count, size = int(rng.integers(2, 9)), blocks * threads
    steps = rng.choice([LOAD, STORE, ATOMIC, GLOBAL_LOAD, GLOBAL_STORE, GLOBAL_ATOMIC, BARRIER, *[SYNCWARP] * 4], count)
    active = rng.random((count, size)) < rng.choice([0.03, 0.1, 0.3, 1], (count, 1))
    index = rng.integers(0, WORDS, (count, size))
    members = np.zeros((count, size), np.int64)
    for k in np.flatnonzero(steps == SYNCWARP):
        active[k] = False
        for warp in warps(blocks, threads):
            lanes = np.arange(len(warp))
            group = rng.integers(0, rng.integers(1, 4), lanes.size) if rng.random() < 0.7 else lanes // 8
            for g in np.unique(group):
                if rng.random() < 0.7:
                    members[k, warp[group == g]] = (1 << lanes[group == g]).sum()
                    active[k, warp[group == g]] = True
    return blocks, threads, steps, active, index, members


def draw_fences(rng: np.random.Generator):
    """Return a random program with fences, as `draw` does: threads pass a word of data on, mostly correctly.

    One after another, threads update a flag, access the data, pass a fence and update a flag again; at random a step is
    omitted, taken by others too, done on another word or preceded by a barrier, and a fence is one of its block. Flags
    and data are in global or in shared memory.
    """
    blocks, threads = int(rng.integers(1, 4)), int(rng.choice([1, 2, 32]))
    size, half = blocks * threads, WORDS // 2
    flag = ATOMIC if rng.random() < 0.3 else GLOBAL_ATOMIC
    data = LOAD if rng.random() < 0.3 else GLOBAL_LOAD
    steps, active, index = [], [], []
    for t in rng.integers(0, size, rng.integers(2, 5)):
        for step in (flag, data + int(rng.integers(0, 2)), fence(rng), flag):
            if rng.random() < 0.1:
                continue
            if rng.random() < 0.2:
                steps, active, index = [*steps, BARRIER], [*active, np.zeros(size, bool)], [*index, np.zeros(size, int)]
            word = half * (step in (ATOMIC, GLOBAL_ATOMIC)) + int(rng.integers(0, 3) == 2)
            steps.append(step)
            active.append((np.arange(size) == t) | (rng.random(size) < rng.choice([0, 0, 0.05])))
            index.append(np.full(size, word))
    return blocks, threads, np.array(steps), np.array(active), np.array(index), np.zeros((len(steps), size), np.int64)


def draw_readers(rng: np.random.Generator, fences: bool):
    """Return a random program, as `draw` does: a few threads read or update a word, some of them meet or release, and
    one more writes it or reads it."""
    blocks, threads = (int(rng.integers(2, 6)), 1) if fences else (1, 8)
    size = blocks * threads
    last = np.arange(size) == rng.integers(0, size)
    met = last | (rng.random(size) < 0.8)
    loads = int(rng.choice([GLOBAL_LOAD, GLOBAL_ATOMIC] if fences else [LOAD, ATOMIC, GLOBAL_LOAD, GLOBAL_ATOMIC]))
    flag = np.full(size, WORDS - 1)
    program = [(loads, rng.random(size) < 0.6, flag * 0)]
    if fences:
        program += [(FENCE, met, flag), (GLOBAL_ATOMIC, met & ~last, flag), (GLOBAL_ATOMIC, last, flag)]
    else:
        program += [(SYNCWARP, met, flag)]
    program.append((loads - loads % 3 + int(rng.integers(0, 2)), last, flag * 0))
    steps, active, index = (np.array(column) for column in zip(*program, strict=True))
    return blocks, threads, steps, active, index, np.where(active, (met << np.arange(size)).sum(), 0)


def fence(rng: np.random.Generator) -> int:
    return int(rng.choice([FENCE, FENCE, BLOCK_FENCE]))


def warps(blocks: int, threads: int) -> list[np.ndarray]:
    return [
        np.arange(b * threads + w, b * threads + min(w + 32, threads))
        for b in range(blocks)
        for w in range(0, threads, 32)
    ]


def meetings(blocks, threads, step, active, members):
    """Return the groups of threads that meet in a step."""
    if step == BARRIER:
        return np.arange(blocks * threads).reshape(blocks, threads)
    here = [warp[active[warp]] for warp in warps(blocks, threads) if step == SYNCWARP]
    return [lanes[members[lanes] == named] for lanes in here for named in np.unique(members[lanes])]


def races(blocks, threads, steps, active, index, members) -> set[tuple[int, int]]:
    """Return the pairs (smaller first) of kinds of steps of which two race."""
    size = blocks * threads
    clock = np.eye(size, dtype=np.int64)  # clock[t, u]: what t knows of u
    log: dict[tuple, list] = {}
    found = set()
    fenced = np.zeros_like(clock)  # what t has made visible to all
    fenced_here = np.zeros_like(clock)  # and to its block
    released = np.zeros((WORDS, size), np.int64)  # what an atomic on the word makes known to all
    released_here = np.zeros((blocks, WORDS, size), np.int64)  # and to the threads of a block
    released_inside = np.zeros((blocks, WORDS, size), np.int64)  # by a word of the block's shared memory

    for k, step in enumerate(steps.tolist()):
        for group in meetings(blocks, threads, step, active[k], members[k]):
            known = (clock,) if step == SYNCWARP else (clock, fenced, fenced_here)
            for of in known:
                of[group] = of[group].max(axis=0)
            clock[group, group] += 1
        for t in np.flatnonzero(active[k]) if step not in (BARRIER, SYNCWARP) else ():
            if step in (FENCE, BLOCK_FENCE):
                fenced_here[t] = np.maximum(fenced_here[t], clock[t])
                if step == FENCE:
                    fenced[t] = np.maximum(fenced[t], clock[t])
                clock[t, t] += 1
                continue
            block = 0 if step >= GLOBAL_LOAD else t // threads
            if step == ATOMIC:
                word = released_inside[t // threads, index[k, t]]
                clock[t] = np.maximum(clock[t], word)
                np.maximum(word, fenced_here[t], out=word)
            if step == GLOBAL_ATOMIC:
                word, word_here = released[index[k, t]], released_here[t // threads, index[k, t]]
                clock[t] = np.maximum(clock[t], np.maximum(word, word_here))
                np.maximum(word, fenced[t], out=word)
                np.maximum(word_here, fenced_here[t], out=word_here)
            earlier = log.setdefault((step >= GLOBAL_LOAD, block, index[k, t]), [])
            for u, other, then in earlier:
                kinds = {step % 3, other % 3}
                if u != t and kinds not in ({LOAD}, {ATOMIC}) and clock[t, u] < then:
                    found.add((min(step, other), max(step, other)))
            earlier.append((t, step, clock[t, t]))
    return found
