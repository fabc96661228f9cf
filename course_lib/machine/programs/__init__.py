"""Programs without a GPU: numba.cuda answers from this machine's memory, and each launch is simulated and judged."""
