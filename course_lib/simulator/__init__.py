"""The CPU simulator of CUDA-Python kernels: standard library and NumPy only.

A kernel's source becomes a typed program (:mod:`language`), then Python code over *lane vectors* (:mod:`compile`),
which runs one warp of many blocks at a time (:mod:`machine`) and tells observers (:mod:`observer`) what every line
asked of memory.

To read it from the front: :mod:`machine.geometry` says what a lane vector is, :mod:`language.source` reads a kernel,
:mod:`language.nodes` and :mod:`language.program` say what it becomes, :mod:`language.infer` makes that of it,
:mod:`compile.emit` writes the code, the other parts of :mod:`machine` are what that code calls, and
:mod:`machine.engine` runs all of it.
"""
