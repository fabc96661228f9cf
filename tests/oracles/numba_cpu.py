"""A kernel compiled by numba for the CPU and called once for each thread: numba's typing and code, no simulator.

Only for kernels whose threads do not communicate. `cuda.threadIdx.x` and its like become int32 arguments; everything
else is left to numba, with the error model of the CUDA target.
"""

import ast
import itertools

import numba
import numpy as np

NAMES = [f"{base}.{axis}" for base in ("threadIdx", "blockIdx", "blockDim", "gridDim") for axis in "xyz"]


class ToCpu(ast.NodeTransformer):
    """Replaces expressions that only a GPU has."""

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.decorator_list = [ast.parse("numba.njit(error_model='numpy')", mode="eval").body]
        if node.name == "kernel":
            node.args.args += [ast.arg(name.replace(".", "_")) for name in [*NAMES, "laneid"]]
        return node

    def visit_Attribute(self, node):
        text = ast.unparse(node)
        if text == "cuda.laneid" or text.removeprefix("cuda.") in NAMES:
            return ast.Name(text.removeprefix("cuda.").replace(".", "_"), ast.Load())
        return self.generic_visit(node)

    def visit_Call(self, node):
        text = ast.unparse(node.func)
        if text == "cuda.grid":
            return ast.parse("(np.int64(blockIdx_x) * np.int64(blockDim_x) + np.int64(threadIdx_x))", mode="eval").body
        if text == "cuda.local.array":
            return ast.parse(f"np.empty({ast.unparse(node.args[0])}, np.float64)", mode="eval").body
        return self.generic_visit(node)


def run(source, grid, block, arrays):
    """Run `kernel` of this source for every thread, one after another; the arrays are changed in place."""
    tree = ast.fix_missing_locations(ToCpu().visit(ast.parse(source)))
    names = {"numba": numba, "np": np}
    exec(compile(tree, "<for the CPU>", "exec"), names)
    grid3, block3 = (tuple(d) + (1,) * (3 - len(d)) for d in (grid, block))
    for bz, by, bx in itertools.product(*(range(e) for e in grid3[::-1])):
        for number, (z, y, x) in enumerate(itertools.product(*(range(e) for e in block3[::-1]))):
            special = (x, y, z, bx, by, bz, *block3, *grid3, number % 32)
            names["kernel"](*arrays, *map(np.int32, special))
