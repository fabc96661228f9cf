"""Launches of any size for the kernels with bugs: of vectors, of matrices element by element, and of products."""

import math

import numpy as np

#: By group, the sizes at which a careful writer tries a kernel once: whole blocks, and squares.
ROUND_SIZES = {"line": lambda x, y: (2 * x,), "plane": lambda x, y: (2 * math.lcm(x, y),) * 2,
            "product": lambda x, y: (2 * math.lcm(x, y),) * 3}  # fmt: skip


def kind_of_launch(pair):
    """Return which launch a kernel of the corpus takes, by its arguments' shapes; None for a launch of its own."""
    shapes = [getattr(argument, "shape", None) for argument in pair.arguments()]
    if len(shapes) == 2 and shapes[0] == shapes[1] and 1 <= len(shapes[0]) <= 2:
        return ("line", "plane")[len(shapes[0]) - 1]
    if len(shapes) == 3 and all(shape and len(shape) == 2 for shape in shapes):
        (M, K), (K_too, N), of_result = shapes
        return "product" if K == K_too and of_result == (M, N) else None
    return None


def blocks(pair):
    """Return the block's extents in x and y."""
    return (pair.block, 1) if isinstance(pair.block, int) else pair.block[:2]


def launch_of(pair, which):
    """Return `launch(n)`, `launch(M, N)` or `launch(M, N, K)` of the bug or of its twin."""
    x, y = blocks(pair)
    rounds_down = which == "bug" and pair.bug_grid
    arguments_of_pair = pair.arguments()

    def launch_on(shapes, over_x, over_y):
        rng = np.random.default_rng(5)
        arguments = [
            (rng.standard_normal(shape) * 9).astype(a.dtype)
            if a is not arguments_of_pair[-1]
            else np.full(shape, a.flat[0], a.dtype)
            for shape, a in zip(shapes, arguments_of_pair, strict=True)
        ]
        try:
            right = pair.answer(*(array.copy() for array in arguments))
        except (ValueError, IndexError):  # an answer for the corpus' own launch alone
            right = {}
        grid = (over_x // x, over_y // y) if rounds_down else (-(-over_x // x), -(-over_y // y))
        names = pair.bug.py_func.__code__.co_varnames
        right = {names[k]: array for k, array in right.items() if array.shape == arguments[k].shape}
        return grid, (x, y), tuple(arguments), right

    def line(n):
        return launch_on([(n,), (n,)], n, 1)

    def plane(M, N):
        return launch_on([(M, N), (M, N)], N, M)

    def product(M, N, K):
        return launch_on([(M, K), (K, N), (M, N)], N, M)

    return {"line": line, "plane": plane, "product": product}[kind_of_launch(pair)]
