"""What one launch of a small block costs: programs make hundreds of them."""

import time

import numpy as np
from numba import cuda

from course_lib import simulate

THREADS, LAUNCHES = 512, 100


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def distance_profile(series, window, products, statistics, k, nearest):
    """One diagonal of a matrix profile, as programs for time series compute it: a launch for each."""
    for j in range(cuda.grid(1), nearest.size, cuda.gridsize(1)):
        product = series[k] * series[j]
        if j > 0:
            added = series[k + window - 1] * series[j + window - 1]
            product = products[k % 2, j - 1] - series[k - 1] * series[j - 1] + added
        products[1 - k % 2, j] = product
        scale = max(window * statistics[1, k] * statistics[1, j], 1e-7)
        correlation = min((product - window * statistics[0, k] * statistics[0, j]) / scale, 1.0)
        nearest[j] = min(nearest[j], 2 * window * (1.0 - correlation))


def bench_launch(measured):
    rng = np.random.default_rng(0)
    x, y = rng.random((2, THREADS), np.float32)
    series, products, statistics, nearest = (rng.random(shape) for shape in (300, (2, 281), (2, 281), 281))

    def saxpies():
        for _ in range(LAUNCHES):
            simulate(saxpy)[1, THREADS](np.float32(2), x, y)

    def profiles():
        for k in range(1, LAUNCHES + 1):
            simulate(distance_profile)[1, THREADS](series, 20, products, statistics, k, nearest)

    for name, launches in (("saxpy", saxpies), ("loop over a series", profiles)):
        launches()  # compiles it
        measured(f"a launch of one block, {name}", min(milliseconds(launches) for _ in range(3)) / LAUNCHES)


def milliseconds(work):
    """Processor time: other programs of the machine change it less."""
    began = time.process_time()
    work()
    return 1000 * (time.process_time() - began)
