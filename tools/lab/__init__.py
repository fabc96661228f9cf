"""The laboratory: what makes the recordings that the timing model and the simulator are compared with.

    uv run --extra cu13 python -m tools.lab --help

It needs a checkout and, but for predictions, a GPU; no lesson and no student runs it. Its experiments have the form of
`course_lib.machine.gpu.experiments`, and the recordings are written by the same functions.

`course_lib.machine.measurements` says which commit has the commands of older recordings. That commit also has the
probes whose results nothing reads, and which are gone: shifts, wide and uniform accesses, stores, rows of a cache,
copies by number of warps, barriers of several blocks, laps of blocks. Commit 09869a0b has five more.
"""
