"""The run-time library of compiled kernels: lane vectors, masks, arrays and their accesses, and warps."""
