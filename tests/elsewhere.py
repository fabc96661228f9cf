"""Device functions of another file than the kernels that call them."""

from numba import cuda


@cuda.jit(device=True)
def squared(A, k):
    return A[k] * A[k]


@cuda.jit(device=True)
def loaded(A, k):
    return A[k]
