"""Kernels that make no use of an exercise's idea: the one that it gives, and the naive one of its task."""

import ast
import textwrap
from collections.abc import Mapping
from typing import Any

from numba import cuda, float32

from ...simulator.language.source.reading import defined, parsed
from .exercise import Exercise
from .source import Submission

#: The number of a thread among all threads of the launch, and how many there are.
_LOOP_OVER_ELEMENTS = """\
here = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
block = cuda.blockIdx.x + cuda.gridDim.x * (cuda.blockIdx.y + cuda.gridDim.y * cuda.blockIdx.z)
size = cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z
blocks = cuda.gridDim.x * cuda.gridDim.y * cuda.gridDim.z
for place in range(block * size + here, {output}.size, blocks * size):
"""


#: Meets the lower limits for barriers and for shared memory, and is no use.
_IDLE_SHARED_MEMORY = """\
spare = cuda.shared.array(1024, float32)
mine = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
spare[mine] = 0
cuda.syncthreads()
if spare[mine] > 0:
    return
"""


def naive(exercise: Exercise, idle: bool = False) -> str:
    """Return the text of a kernel that computes each element of the output by itself, as ``task.element`` says.

    ``idle``: before that it stores into shared memory, waits and reads, for nothing.
    A thread computes the element in its own place of a grid with the output's dimensions; in other grids every n-th.
    """
    (assigned,) = ast.parse(exercise.task.element).body
    assert isinstance(assigned, ast.Assign) and isinstance(assigned.targets[0], ast.Subscript)
    target, value = assigned.targets[0], assigned.value
    output, names = ast.unparse(target.value), ast.unparse(target.slice).strip("()").split(", ")
    total = next(
        (node for node in ast.walk(value) if isinstance(node, ast.Call) and ast.unparse(node.func) == "sum"), None
    )
    element = f"{ast.unparse(target)} = {ast.unparse(value)}"
    if total is not None:
        (terms,) = total.args
        assert isinstance(terms, ast.GeneratorExp)
        (loop,) = terms.generators
        head = f"for {ast.unparse(loop.target)} in {ast.unparse(loop.iter)}:"
        element = element.replace(ast.unparse(total), "acc")
        element = f"acc = float32(0)\n{head}\n    acc += {ast.unparse(terms.elt)}\n{element}"
    grid, threads = exercise.task.launch(*exercise.task.shapes[0])
    one_each = all(exercise.task.elements_per_thread(*shape) == 1 for shape in exercise.task.launches)
    if one_each and names[-2:] == ["row", "col"] and len(names) == max(len(grid), len(threads)):
        guard = " and ".join(f"{name} < {output}.shape[{i}]" for i, name in enumerate(names))
        begin = f"{', '.join(reversed(names))} = cuda.grid({len(names)})\nif {guard}:\n"
    else:
        begin, rest = _LOOP_OVER_ELEMENTS.format(output=output), "place"
        for i, name in reversed(list(enumerate(names))):
            begin += f"    {name} = {rest} % {output}.shape[{i}]\n"
            rest = f"{rest} // {output}.shape[{i}]"
    body = _IDLE_SHARED_MEMORY * idle + begin + textwrap.indent(element, "    ")
    return f"def naive({', '.join(exercise.parameters)}):\n{textwrap.indent(body, '    ')}\n"


#: The names that every baseline may use.
NAMES_OF_BASELINES = {"cuda": cuda, "float32": float32, "int": int, "min": min}


def baselines(exercise: Exercise, names: Mapping[str, Any]) -> list[Submission]:
    """Return the naive kernel, with idle stores and barriers where the exercise asks for such, and the one that is
    given, which uses ``names`` of the lesson."""
    idle = [naive(exercise, True)] if any(budget.minimum for budget in exercise.budgets) else []
    return [
        _submission(text, {**names, **NAMES_OF_BASELINES}) for text in (naive(exercise), *idle, exercise.given) if text
    ]


def _submission(text: str, names: dict[str, Any]) -> Submission:
    tree = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    tree.decorator_list = []
    function, lines = defined(tree, "<a baseline>", names), tuple(enumerate(text.splitlines(), 1))
    return Submission(function, True, parsed(function, tree, lines).tree, dict(lines))
