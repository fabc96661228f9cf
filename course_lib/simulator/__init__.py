"""The CPU simulator of CUDA-Python kernels: standard library and NumPy only.

A kernel's source becomes a typed program, and that Python code (:mod:`language`) over *lane vectors* (:mod:`runtime`),
the same warp of many blocks. :mod:`launch` prepares and runs it, and reports each line's memory accesses to observers
(:mod:`observer`).

Reading order: :mod:`launch_shape` defines lane vectors, :mod:`language.source` reads a kernel, :mod:`language.program`
defines the typed program and writes its code, :mod:`language.translation` builds it, :mod:`compile.compiled_kernel`
combines them, :mod:`runtime` is the library that the code calls, :mod:`launch.prepare` does all this for a launch, and
:mod:`launch.engine` runs it.
"""
