"""The CPU simulator of CUDA-Python kernels: standard library and NumPy only.

A kernel's source becomes a typed program (:mod:`language`), then Python code (:mod:`compile`) over *lane vectors*
(:mod:`lanes`), the same warp of many blocks. :mod:`launch` prepares and runs it, and reports each line's memory
accesses to observers (:mod:`observer`).

Reading order: :mod:`geometry` defines lane vectors, :mod:`language.source` reads a kernel, :mod:`language.nodes` and
:mod:`language.program` define the typed program, :mod:`language.infer` builds it, :mod:`compile.unit` generates the
code, :mod:`lanes` is the library that this code calls, :mod:`launch.prepare` does all this for a launch, and
:mod:`launch.engine` runs it.
"""
