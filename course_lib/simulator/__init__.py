"""The CPU simulator of CUDA-Python kernels: standard library and NumPy only.

A kernel's source becomes Python code over *lane vectors* (:mod:`compiler`), which runs one warp of many
blocks at a time (:mod:`engine`) and tells observers (:mod:`observer`) what every line asked of memory.

To read it from the front: :mod:`geometry` says what a lane vector is, :mod:`frontend` reads a kernel, :mod:`compiler`
and its parts compile it, :mod:`runtime`, :mod:`warp`, :mod:`access` and :mod:`memory` are what the compiled kernel
calls, and :mod:`engine` runs all of it.
"""
