"""The CPU simulator of CUDA-Python kernels: standard library and NumPy only.

A kernel's source becomes Python code over *lane vectors* (:mod:`compiler`), which runs one warp of many
blocks at a time (:mod:`engine`) and tells observers (:mod:`observer`) what every line asked of memory.
"""
