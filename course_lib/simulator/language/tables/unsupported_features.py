"""What to write instead of what no kernel may contain."""

from ..types.value_types import SIGNED, UNSIGNED

#: What no kernel may contain, by the name of its syntax.
CONSTRUCTS = {
    **dict.fromkeys(("Try", "TryStar"), "try/except; check the condition with if"),
    "With": "a with statement; write the statements without it",
    **dict.fromkeys(("AsyncWith", "AsyncFor"), "async code; leave it out"),
    "AsyncFunctionDef": "async code; define a function outside with @cuda.jit(device=True)",
    "ClassDef": "a class; use variables, tuples and arrays",
    "Delete": "a del statement; leave it out",
    **dict.fromkeys(("Import", "ImportFrom"), "an import; import above the function"),
    "Global": "a global statement; it reads globals without one, and cannot assign them",
    "Nonlocal": "a nonlocal statement; it reads outer variables without one, and cannot assign them",
    "List": "a list; use a tuple, or cuda.local.array",
    "Set": "a set; use a tuple",
    "Dict": "a dictionary; use variables, tuples and arrays",
    "ListComp": "a list comprehension; write a loop",
    "SetComp": "a set comprehension; write a loop",
    "DictComp": "a dictionary comprehension; write a loop",
    "GeneratorExp": "a generator expression; write a loop",
    "JoinedStr": 'an f-string; print takes texts and numbers apart, as print("i =", i)',
    "NamedExpr": "the := operator, which numba compiles of names and numbers alone; assign in a statement of its own",
    "Starred": "a * before a value; write the items out",
    "Slice": "a slice; loop over single elements",
    "Await": "await; leave it out",
    "Yield": "yield; write the values to an array",
    "YieldFrom": "yield from; write the values to an array",
}
#: What to write instead of a loop over these.
LOOPS = {
    "reversed": "write range(n - 1, -1, -1)",
    "prange": "write range(...); every thread runs the whole loop",
    "map": "call the function in the loop",
    "filter": "write an if in the loop",
}
BUILTINS = {
    "range": "it belongs in a for statement",
    "enumerate": "it belongs in a for statement",
    "zip": "it belongs in a for statement",
    "any": "use or",
    "all": "use and",
    "list": "use cuda.local.array",
    "set": "use a tuple",
    "sorted": "sort before the launch",
    "str": "compute with numbers",
}
MATH = {
    "comb": "multiply in a loop",
    "perm": "multiply in a loop",
    "factorial": "multiply in a loop",
    "prod": "multiply in a loop",
    "fsum": "add in a loop",
    "sumprod": "add in a loop",
    "dist": "use math.sqrt of the sum of squares",
    "gcd": "write Euclid's algorithm as a loop",
    "lcm": "write Euclid's algorithm as a loop",
    "isqrt": "write int(math.sqrt(x))",
    "isclose": "write abs(a - b) < tolerance",
}
NUMPY = {
    "absolute": "abs",
    "power": "**",
    "zeros": "cuda.local.array",
    "empty": "cuda.local.array",
    "ones": "cuda.local.array",
    "where": "a if condition else b",
    "clip": "min and max",
    "sum": "a loop that adds",
    "dot": "a loop that multiplies and adds",
    "matmul": "a loop that multiplies and adds",
    **dict.fromkeys(
        ("rand", "randn", "randint", "random", "normal", "uniform", "choice", "shuffle", "permutation"),
        "an array of random numbers that the host draws",
    ),
}
#: Functions that one might expect in numba.cuda, but that it lacks.
ABSENT = {"rsqrt": "write 1 / math.sqrt(x)", "random": "write import numba.cuda.random above the kernel"}
BFLOAT16 = "use float32, which holds every bfloat16, and round the arrays before the launch"
CUDA = {
    "atomic": "call one of its functions, such as cuda.atomic.add",
    "shared": "write tile = cuda.shared.array(...)",
    "local": "write v = cuda.local.array(...)",
    "libdevice": "use the functions of math",
    "fp16": "use float32",
    "bf16": BFLOAT16,
    "bfloat16": BFLOAT16,
    "const": "write cuda.const.array_like(ARRAY)",
    "cg": "numba has one group, cuda.cg.this_grid(), with one method, sync()",
    "synchronize": "it is for the host, and the barrier of a block is cuda.syncthreads()",
    "clock": "leave it out: the simulator counts, and knows no time",
    "clock64": "leave it out: the simulator counts, and knows no time",
}
#: What to write instead of the functions of a module.
MODULES = {
    "numba.cuda._internal.cuda_bf16": BFLOAT16,
    "numba.misc.special": "numba compiles it for no GPU: write a statement for each item",
    "cmath": "write it out with .real and .imag and the functions of math",
}
#: What to write instead of an argument that numba's version of a function does not take.
NOT_TAKEN = {
    "math.log": "; divide by the log of the base",
    "int": "; it converts one number",
}
#: What to write for a name that a kernel often uses, and that nobody imported.
ORIGINS = {
    **{
        name: f"write from numba import {name} above the kernel"
        for name in ("cuda", *SIGNED, *UNSIGNED, "float32", "float64")
    },
    "math": "write import math above the kernel",
    "np": "write import numpy as np above the kernel",
}
