"""A tracer written by hand for two kernels: it runs them thread by thread and records what they did.

It shares no code with the simulator, so it independently checks what the viewer shows for these traces.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib.trace import Step, Trace, TraceAccess, TraceArray

sys.path.insert(0, str(Path(__file__).parent))  # so that `launches` and `oracles` are importable in every test

NAIVE = """\
def naive(A, B, C):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc"""

TILED = """\
def tiled(A, B, C):
    As = cuda.shared.array((T, T), float32)
    Bs = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.y * T + ty
    col = cuda.blockIdx.x * T + tx
    acc = float32(0)
    for t in range((A.shape[1] + T - 1) // T):
        As[ty, tx] = A[row, t * T + tx] if row < A.shape[0] and t * T + tx < A.shape[1] else 0
        Bs[ty, tx] = B[t * T + ty, col] if t * T + ty < B.shape[0] and col < B.shape[1] else 0
        cuda.syncthreads()
        for k in range(T):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc"""


class _Recorder:
    """Lines, lanes and accesses of one warp, recorded statement by statement."""

    def __init__(self, steps, block, warp, threads):
        self.steps, self.block, self.warp, self.threads = steps, block, warp, np.array(threads)

    def step(self, line, *accesses, threads=None, barrier=False, **variables):
        threads = self.threads if threads is None else np.array(threads, dtype=int)
        variables = {name: np.array(values) for name, values in variables.items()}
        self.steps.append(Step(line, self.block, self.warp, threads, accesses, variables, barrier))


def _access(op, name, threads, index, array):
    """Access ``array`` (after the statement ran) at one index per thread."""
    index = np.array(index, dtype=int).reshape(len(threads), array.ndim)
    return TraceAccess(op, name, np.array(threads, dtype=int), index, array[tuple(index.T)].copy())


def _launch(source, grid, block, arrays, body):
    gx, gy = grid
    bx, by = block
    steps = []
    for block_y in range(gy):
        for block_x in range(gx):
            threads = list(range(bx * by))
            warps = [threads[start : start + 32] for start in range(0, len(threads), 32)]
            runs = []
            shared = {n: np.zeros(a.shape, a.dtype) for n, a in arrays.items() if a.space == "shared"}
            for warp, lanes in enumerate(warps):
                record = _Recorder(steps, (block_x, block_y, 0), warp, lanes)
                runs.append(body(record, lanes, [(t % bx, t // bx) for t in lanes], block_x, block_y, shared))
            while runs:  # every warp runs to its next barrier, one after another
                runs = [run for run in runs if next(run, "done") != "done"]
    lines = tuple(enumerate(source.splitlines(), start=1))
    name = source.split("(")[0].removeprefix("def ")
    return SimpleNamespace(
        trace=Trace(name, (gx, gy, 1), (bx, by, 1), lines, arrays, tuple(steps)),
        kernel_name=name,
        grid=(gx, gy, 1),
        block=(bx, by, 1),
    )


def _globals(**arrays):
    return {n: TraceArray(n, "global", str(a.dtype), a.shape, a.copy()) for n, a in arrays.items()}


def naive_run(A, B, C, block=(2, 2)):
    """Run the naive kernel on C = A·B, one thread per element of C."""
    (M, K), N = A.shape, B.shape[1]
    bx, by = block

    def body(record, lanes, xy, block_x, block_y, shared):
        row = [block_y * by + y for _, y in xy]
        col = [block_x * bx + x for x, _ in xy]
        record.step(2, row=row)
        record.step(3, col=col)
        record.step(4)
        on = [i for i in range(len(lanes)) if row[i] < M and col[i] < N]
        live = [lanes[i] for i in on]
        if not live:
            return
        acc = {i: np.float32(0) for i in on}
        record.step(5, threads=live, acc=[acc[i] for i in on])
        for k in range(K):
            record.step(6, threads=live, k=[k] * len(on))
            for i in on:
                acc[i] += A[row[i], k] * B[k, col[i]]
            a = _access("load", "A", live, [(row[i], k) for i in on], A)
            b = _access("load", "B", live, [(k, col[i]) for i in on], B)
            record.step(7, a, b, threads=live, acc=[acc[i] for i in on])
        for i in on:
            C[row[i], col[i]] = acc[i]
        record.step(8, _access("store", "C", live, [(row[i], col[i]) for i in on], C), threads=live)
        return
        yield

    grid = (-(-N // bx), -(-M // by))
    return _launch(NAIVE, grid, block, _globals(A=A, B=B, C=C), body)


def tiled_run(A, B, C, T=2):
    """Run the tiled kernel on C = A·B with T×T tiles, guarded at ragged edges."""
    (M, K), N = A.shape, B.shape[1]

    def body(record, lanes, xy, block_x, block_y, shared):
        As, Bs = shared["As"], shared["Bs"]
        n = range(len(lanes))
        tx, ty = [x for x, _ in xy], [y for _, y in xy]
        record.step(2)
        record.step(3)
        record.step(4, tx=tx, ty=ty)
        row = [block_y * T + y for y in ty]
        col = [block_x * T + x for x in tx]
        record.step(5, row=row)
        record.step(6, col=col)
        acc = [np.float32(0)] * len(lanes)
        record.step(7, acc=acc)
        for t in range(-(-K // T)):
            record.step(8, t=[t] * len(lanes))
            for line, name, source, tile in ((9, "A", A, As), (10, "B", B, Bs)):
                if name == "A":
                    place = [(row[i], t * T + tx[i]) for i in n]
                else:
                    place = [(t * T + ty[i], col[i]) for i in n]
                inside = [i for i in n if place[i][0] < source.shape[0] and place[i][1] < source.shape[1]]
                for i in n:
                    tile[ty[i], tx[i]] = source[place[i]] if i in inside else 0
                load = _access("load", name, [lanes[i] for i in inside], [place[i] for i in inside], source)
                store = _access("store", name + "s", lanes, [(ty[i], tx[i]) for i in n], tile)
                record.step(line, *([load] if inside else []), store)
            record.step(11, barrier=True)
            yield
            for k in range(T):
                record.step(12, k=[k] * len(lanes))
                for i in n:
                    acc[i] = acc[i] + As[ty[i], k] * Bs[k, tx[i]]
                a = _access("load", "As", lanes, [(ty[i], k) for i in n], As)
                b = _access("load", "Bs", lanes, [(k, tx[i]) for i in n], Bs)
                record.step(13, a, b, acc=acc)
            record.step(14, barrier=True)
            yield
        record.step(15)
        on = [i for i in n if row[i] < M and col[i] < N]
        for i in on:
            C[row[i], col[i]] = acc[i]
        if on:
            live = [lanes[i] for i in on]
            record.step(16, _access("store", "C", live, [(row[i], col[i]) for i in on], C), threads=live)

    arrays = _globals(A=A, B=B, C=C)
    arrays |= {name: TraceArray(name, "shared", "float32", (T, T)) for name in ("As", "Bs")}
    return _launch(TILED, (-(-N // T), -(-M // T)), (T, T), arrays, body)


@pytest.fixture(name="naive_run")
def naive_run_fixture():
    return naive_run


@pytest.fixture(name="tiled_run")
def tiled_run_fixture():
    return tiled_run
