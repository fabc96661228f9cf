"""The CPU simulator of CUDA-Python kernels: standard library and NumPy only.

A kernel's source becomes a typed program (:mod:`language`), then Python code (:mod:`compile`) over *lane vectors*
(:mod:`lanes`), the same warp of many blocks. :mod:`launch` prepares and runs it, and tells observers
(:mod:`observer`) what every line asked of memory.

To read it from the front: :mod:`geometry` says what a lane vector is, :mod:`language.source` reads a kernel,
:mod:`language.nodes` and :mod:`language.program` say what it becomes, :mod:`language.infer` makes that of it,
:mod:`compile.emit` writes the code, :mod:`lanes` is what that code calls, :mod:`launch.prepare` does all this for a
launch, and :mod:`launch.engine` runs it.
"""
