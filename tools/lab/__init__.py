"""The laboratory: what makes the recordings that the model of waiting and the simulator are compared with.

    uv run --extra cu13 python -m tools.lab --help

It needs a checkout and, but for `waiting`, a GPU; no lesson and no student runs it. Its experiments have the form of
`course_lib.machine.gpu.experiments`, and the recordings are written by the same functions.

A recording whose command begins with `python -m course_lib.gpu` and names one of these experiments was made before they
moved here: commit 8f2bacf is the last one that has the command. It also has the probes that nothing reads any more, and
that are therefore gone (of integers, constants, stores, rows of a cache, blocks that share a multiprocessor).
"""
