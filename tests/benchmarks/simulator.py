"""How fast the simulator is: accesses per second, beside plain numba.njit loops.

    uv run python tests/benchmarks/simulator.py                # rates against n, block shape and dtype
    uv run python tests/benchmarks/simulator.py --njit 1024    # and njit i-j-k loops
    uv run python tests/benchmarks/simulator.py --profile      # and where the time goes

Everything is measured in one run, so that the ratios hold whatever else the machine does. All checks are on.
"""

import argparse
import cProfile
import pstats
import resource
import time

import numpy as np


def matrices(n, dtype="float32"):
    rng = np.random.default_rng(n)
    return rng.random((n, n)).astype(dtype), rng.random((n, n)).astype(dtype), np.zeros((n, n), dtype)


def launch(n, width):
    return (-(-n // width),) * 2, (width, width)


def kernels(width, dtype="float32"):
    import numba

    from course_lib.kernels.naive import naive
    from course_lib.kernels.tiled import tiled

    return {"naive": naive, "tiled": tiled(width, getattr(numba, dtype))}


def simulated(n, width=16, dtype="float32", repeats=3):
    """{kernel: (best seconds of ``repeats``, accesses)} on this project's simulator."""
    from course_lib import simulate

    results = {}
    for name, kernel in kernels(width, dtype).items():
        seconds = []
        for _ in range(repeats):
            A, B, C = matrices(n, dtype)
            start = time.perf_counter()
            run = simulate(kernel)[launch(n, width)](A, B, C)
            seconds.append(time.perf_counter() - start)
            np.testing.assert_allclose(C, A @ B, rtol=1e-3)
        results[name] = min(seconds), run.traffic.accesses
    return results


def njit_loops(n):
    """Seconds of plain i-j-k loops compiled by numba.njit (compilation excluded)."""
    import numba

    @numba.njit
    def multiply(A, B, C):
        for i in range(A.shape[0]):
            for j in range(B.shape[1]):
                acc = np.float32(0)
                for k in range(A.shape[1]):
                    acc += A[i, k] * B[k, j]
                C[i, j] = acc

    multiply(*matrices(4))
    A, B, C = matrices(n)
    start = time.perf_counter()
    multiply(A, B, C)
    return time.perf_counter() - start


def report(title, n, results):
    for name, (seconds, accesses) in results.items():
        rate = accesses / seconds / 1e6
        print(f"{title:<28} {name:<6} n={n:<5} {seconds:8.3f} s  {rate:7.0f} M accesses/s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--njit", type=int, metavar="N", help="also time njit loops on N×N")
    parser.add_argument("--profile", action="store_true", help="also show where the time goes (tiled, n = 512)")
    options = parser.parse_args()
    for n in (8, 64, 256, 512, 1024):
        report("16×16 blocks, float32", n, simulated(n, repeats=3 if n < 1024 else 1))
    for n in (100, 500, 1000):
        report("16×16 blocks, ragged", n, simulated(n, repeats=1))
    for width in (8, 32):
        report(f"{width}×{width} blocks, float32", 512, simulated(512, width, repeats=1))
    report("16×16 blocks, float64", 512, simulated(512, 16, "float64", repeats=1))
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    if options.njit:
        seconds = njit_loops(options.njit)
        print(f"njit loops n={options.njit}: {seconds:.3f} s, {2 * options.njit**3 / seconds / 1e6:.0f} M loads/s")
        for name, (ours, _) in simulated(options.njit, repeats=1).items():
            print(f"  {name}: {ours / seconds:.2f}× the time of the njit loops")
    if options.profile:
        with cProfile.Profile() as profile:
            simulated(512, repeats=1)
        pstats.Stats(profile).sort_stats("tottime").print_stats(15)


if __name__ == "__main__":
    main()
