"""Rows of mistakes that the text of an answer shows: no correct kernel has such a text, and nothing is launched."""

import ast
import builtins
import difflib
from typing import Any, NamedTuple, TypeGuard

from ....simulator.repairs.kernel_syntax import Kernel, array_of, bound_names, indices, names_in, same_text
from ....simulator.repairs.table import Candidates, MakeCandidate, Texts, row


class ExerciseFacts(NamedTuple):
    """What rows of mistakes need to know of the exercise.

    ``output`` is the kernel's name for the array that it must store into, ``several_elements`` whether a thread stores
    more than one element of it, and ``single_thread`` whether there is one thread, as on the host.
    """

    output: str
    several_elements: bool = False
    single_thread: bool = False


_WAITS = {"syncthreads", "syncwarp", "threadfence"}
_OF_CUDA = {"blockIdx", "threadIdx", "blockDim", "gridDim", "shared", "local", "atomic", "grid", *_WAITS}
_WIDTHS = ("T", "TILE", "TILE_WIDTH", "BLOCK", "BLOCK_SIZE", "width")
#: Names of CUDA C, and of numba.cuda on the host, with what a kernel in Python has in their place.
CUDA_C = {
    "__syncthreads": "cuda.syncthreads()",
    "__syncwarp": "cuda.syncwarp()",
    "__threadfence": "cuda.threadfence()",
    "cuda.synchronize": "cuda.syncthreads()",
    "cuda.syncThreads": "cuda.syncthreads()",
    "cuda.__syncthreads": "cuda.syncthreads()",
    "atomicAdd": "cuda.atomic.add(array, index, value)",
    "atomicMax": "cuda.atomic.max(array, index, value)",
    "atomicMin": "cuda.atomic.min(array, index, value)",
    "atomicCAS": "cuda.atomic.cas(array, index, old, value)",
    "atomicExch": "cuda.atomic.exch(array, index, value)",
    "__shfl_sync": "cuda.shfl_sync(mask, value, lane)",
    "__shfl_down_sync": "cuda.shfl_down_sync(mask, value, delta)",
    "__shfl_up_sync": "cuda.shfl_up_sync(mask, value, delta)",
    "__shfl_xor_sync": "cuda.shfl_xor_sync(mask, value, lanes)",
    "__ballot_sync": "cuda.ballot_sync(mask, predicate)",
    "__popc": "cuda.popc(value)",
    "__ffs": "cuda.ffs(value)",
    "fmaf": "cuda.fma(a, b, c), or a * b + c",
    "__fmaf_rn": "cuda.fma(a, b, c), or a * b + c",
    "fmaxf": "max(a, b)",
    "fminf": "min(a, b)",
    "fabsf": "abs(x)",
    "sqrtf": "math.sqrt(x)",
    "expf": "math.exp(x)",
    "float2": "two variables",
    "float4": "four variables",
}
_HOST = {"cuda.synchronize"}


@row("text", call_without_parentheses=Texts(hint="{name} without () calls nothing: write {name}()."))
def calls_without_parentheses(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    for node in kernel.nodes_of(ast.Expr):
        called = ast.unparse(node.value)
        if isinstance(node.value, ast.Attribute | ast.Name) and called.split(".")[-1] in _WAITS:
            alike = tuple(each.lineno for each in kernel.nodes_of(ast.Expr) if same_text(each, node))
            yield make("call-without-parentheses", node, name=called, more_lines=alike)


@row(
    "text",
    cuda_c=Texts(hint="{name} is its name in CUDA C; a kernel in Python writes {numba}."),
    on_the_host=Texts(hint="{name} is for the host, which waits for the GPU; the barrier of a block is {numba}."),
)
def names_of_cuda_c(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """A name as CUDA C has it, which nothing defines here."""
    for node in kernel.nodes_of(ast.Name, ast.Attribute):
        called = ast.unparse(node)
        if called in CUDA_C and called not in {*kernel.locals, *kernel.names}:
            id = "on-the-host" if called in _HOST else "cuda-c"
            alike = tuple(each.lineno for each in kernel.nodes_of(type(node)) if same_text(each, node))
            yield make(id, node, name=called, numba=CUDA_C[called], more_lines=alike)


@row("text", misspelt_part=Texts(hint="cuda has no {name}: write cuda.{similar}."))
def misspelt_parts(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """``cuda.syncthread()``: a part that cuda does not have, with a name that is similar to one that it has."""
    cuda = kernel.names.get("cuda")
    for node in kernel.nodes_of(ast.Attribute) if cuda else ():
        called = ast.unparse(node)
        if called == f"cuda.{node.attr}" and not hasattr(cuda, node.attr) and called not in CUDA_C:
            for similar in difflib.get_close_matches(node.attr, sorted(_OF_CUDA), 1):
                alike = tuple(each.lineno for each in kernel.nodes_of(ast.Attribute) if same_text(each, node))
                yield make("misspelt-part", node, name=node.attr, similar=similar, more_lines=alike)


@row(
    "text",
    part_of_cuda=Texts(hint="{name} is a part of cuda: write cuda.{name}."),
    unknown_width=Texts(hint="{name} is not known here; the width of the tiles is called {width}."),
    misspelt_name=Texts(hint="the name {name} is not known here; did you mean {similar}?"),
)
def unknown_names(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """A part of cuda without cuda, a usual name of the tiles' width, or a name that is similar to one of the kernel."""
    used = {node.id for node in kernel.nodes_of(ast.Name)} | set(kernel.arguments)
    used -= {node.id for node in kernel.undefined if not hasattr(builtins, node.id)}
    for node in kernel.undefined:
        if node.id in _OF_CUDA:
            yield make("part-of-cuda", node, name=node.id)
        elif kernel.width and node.id in _WIDTHS:
            yield make("unknown-width", node, name=node.id, width=kernel.width)
        elif not hasattr(builtins, node.id) and node.id not in CUDA_C:
            for similar in difflib.get_close_matches(node.id, sorted(used), 1):
                # one common letter of two is not similar: As is rather a tile of A than A
                if len(node.id) > 2 or node.id.lower() == similar.lower():
                    yield make("misspelt-name", node, name=node.id, similar=similar)


@row(
    "text",
    loop_missing=Texts(
        hint="nothing gives `{name}` a value. {who} computes several elements of {output}: {name} must take their "
        "numbers one after the other, in a loop."
    ),
    number_missing=Texts(
        hint="nothing gives `{name}` a value. It is the number of this thread's element: make it of blockIdx, blockDim "
        "and threadIdx."
    ),
)
def missing_indices(make: MakeCandidate, kernel: Kernel, exercise: ExerciseFacts) -> Candidates:
    """A name that nothing defines, as an index of the output."""
    unknown = {node.id: node for node in reversed(kernel.undefined) if not hasattr(builtins, node.id)}
    for place in kernel.nodes_of(ast.Subscript):
        if isinstance(place.ctx, ast.Store) and ast.unparse(place.value) == exercise.output:
            for index in indices(place):
                if isinstance(index, ast.Name) and index.id in unknown and index.id not in (*_OF_CUDA, *_WIDTHS):
                    node, values = unknown[index.id], {"name": index.id, "output": exercise.output}
                    if exercise.several_elements:
                        who = "The kernel" if exercise.single_thread else "A thread"
                        yield make("loop-missing", node, who=who, **values)
                    else:
                        yield make("number-missing", node, **values)


@row(
    "text",
    whole_arrays=Texts(
        hint="`{part}` computes with whole rows, columns or matrices at once, and a kernel computes with numbers: one "
        "step of a loop multiplies one element with another, and adds the product to the sum."
    ),
)
def array_operations(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """``A[row, :] @ B[:, col]``, ``np.dot(…)``, or ``A * B``: what NumPy does with arrays."""
    for node in kernel.nodes_of(ast.BinOp, ast.Call):
        if isinstance(node, ast.BinOp):
            sides = (node.left, node.right)
            whole = isinstance(node.op, ast.MatMult) or any(_is_whole(kernel, side) for side in sides)
        else:
            assert isinstance(node, ast.Call)
            called = ast.unparse(node.func).rpartition(".")[2]
            whole = called in _OF_ARRAYS and (called != "sum" or any(_is_whole(kernel, a) for a in ast.walk(node)))
        if whole:
            yield make("whole-arrays", node, part=ast.unparse(node))
            return


_OF_ARRAYS = {"dot", "vdot", "matmul", "inner", "outer", "einsum", "sum", "multiply"}


def _is_whole(kernel: Kernel, part: ast.AST) -> bool:
    """Whether a part is an array of the kernel's arguments, or a row or a column of one."""
    if isinstance(part, ast.Name):
        return part.id in kernel.arrays and not isinstance(kernel.parents[part], ast.Subscript | ast.Attribute)
    if isinstance(part, ast.Subscript) and array_of(part) in kernel.arrays:
        return any(isinstance(index, ast.Slice) for index in indices(part))
    return False


@row("text", nothing_ends_it=Texts(hint="nothing in this loop changes {names}, so it never ends."))
def endless_loops(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """A while loop whose condition only has names that the loop does not change."""
    for loop in kernel.nodes_of(ast.While):
        names = sorted({each.id for each in names_in(loop.test)} & kernel.locals)
        leaves = any(isinstance(node, ast.Break | ast.Return) for node in ast.walk(loop))
        calls = any(isinstance(node, ast.Call | ast.Subscript) for node in ast.walk(loop.test))
        changes = {name.id for name in bound_names(loop)} & set(names)
        if names and not (leaves or calls or changes):
            yield make("nothing-ends-it", loop, names=" or ".join(names))


@row(
    "text",
    compared_not_stored=Texts(hint="`==` compares, and stores nothing: write `{left} = …`."),
    sum_not_kept=Texts(hint="`{part}` is computed, and kept nowhere: add it to the sum by `{name} += …`."),
    plus_behind=Texts(hint="`=+` gives {name} a new value, with the sign +; `{name} += …` adds to it."),
)
def statements_without_effect(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """``C[row, col] == acc``, ``acc + a * b`` alone in a line, and ``acc =+ a * b``."""
    for node in kernel.nodes_of(ast.Expr, ast.Assign):
        match node:
            case ast.Expr(ast.Compare(left, [ast.Eq()], [_])):
                yield make("compared-not-stored", node, left=ast.unparse(left))
            case ast.Expr(ast.BinOp(ast.Name(id), ast.Add()) as part):
                yield make("sum-not-kept", node, part=ast.unparse(part), name=id)
            case ast.Assign([target], value):
                while isinstance(value, ast.BinOp):
                    value = value.left
                if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.UAdd):
                    yield make("plus-behind", node, name=ast.unparse(target))


@row(
    "text",
    array_renamed=Texts(
        hint="`{name} = …` stores nothing into the array; it gives the name to something else. "
        "Store an element: `{name}[…] = …`."
    ),
)
def renamed_arrays(make: MakeCandidate, kernel: Kernel, exercise: ExerciseFacts) -> Candidates:
    """``tile = A[row, col]``, or ``C = acc``, instead of a store to an element of the array."""
    for node in kernel.nodes_of(ast.Assign):
        target, value = ast.unparse(node.targets[0]), ast.unparse(node.value)
        known = value in kernel.shared or value.startswith(("cuda.", f"{target}["))
        if target in kernel.shared | {exercise.output} and not known:
            yield make("array-renamed", node, name=target)


@row(
    "threads",
    all_in_every_thread=Texts(
        hint="the loops over {names} go through all of {output}, in every thread that comes here. "
        "Threads share the work: at least one of these indices is the thread's own, made of blockIdx, blockDim and "
        "threadIdx."
    ),
)
def loops_over_the_whole_output(make: MakeCandidate, kernel: Kernel, exercise: ExerciseFacts) -> Candidates:
    """A store whose indices are all counted by loops from 0: then every thread stores all of the output."""
    loops = [node for node in kernel.nodes_of(ast.For) if is_short_range(node.iter)]
    counted = {node.target.id for node in loops if isinstance(node.target, ast.Name)}
    for node in kernel.nodes_of(ast.Subscript):
        if isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == exercise.output:
            used = {each.id for each in names_in(node.slice)}
            if used and used <= counted:
                shown = " and ".join(sorted(used))
                yield make("all-in-every-thread", node, names=shown, output=exercise.output)


@row(
    "blocks",
    "likely",
    mixed_directions=Texts(
        hint="`{part}` mixes two directions: multiply blockIdx.{of} by blockDim.{of}, the threads of a block in the "
        "same direction."
    ),
)
def mixed_directions(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """``blockIdx.y * blockDim.x``, which is correct only if blocks are square."""
    found, changes = [], []
    for node in kernel.nodes_of(ast.BinOp):
        if isinstance(node.op, ast.Mult):
            sides = {
                ast.unparse(side).split(".")[-2]: side for side in (node.left, node.right) if "." in ast.unparse(side)
            }
            match sides.get("blockIdx"), sides.get("blockDim"):
                case ast.Attribute(attr=of), ast.Attribute(attr=by) as width if of != by:
                    found.append((node, ast.unparse(node), of))
                    changes.append((width, ast.Attribute(width.value, of, ast.Load())))
    for node, part, of in found[:1]:
        yield make("mixed-directions", node, *changes, part=part, of=of)


@row(
    "directions",
    one_direction=Texts(
        hint="this launch has blocks and threads in direction x only, so that {part} is 0 in all of them: a thread's "
        "number is made of blockIdx.x, blockDim.x and threadIdx.x."
    ),
    loop_for_a_direction=Texts(
        hint="this launch has blocks and threads in direction x only, so that {part} is 0 in all of them, and so is "
        "{name}. A thread computes several elements of {output} here: number the threads by x alone, and let each go "
        "through its elements in a loop."
    ),
)
def directions_that_are_missing(make: MakeCandidate, kernel: Kernel, exercise: ExerciseFacts) -> Candidates:
    """A kernel for two directions, where the launch has one; that is for the caller to know."""
    whole = {each.id for each in kernel.nodes_of(ast.Name) if isinstance(each.ctx, ast.Load)}
    across = any("threadIdx.x" in ast.unparse(node) for node in kernel.nodes_of(ast.Attribute))
    for node in kernel.statements:
        if not isinstance(node, ast.Assign):
            continue
        pairs = [(each.targets, each.value) for each in (node,)]
        if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = [([one], value) for one, value in zip(node.targets[0].elts, node.value.elts, strict=False)]
        for targets, value in pairs:
            text = ast.unparse(value)
            part = next((part for part in ("threadIdx.y", "blockIdx.y") if part in text), "")
            bound = targets[0]
            if text.endswith("grid(2)"):
                part = "the second number of cuda.grid(2)"
                bound = bound.elts[-1] if isinstance(bound, ast.Tuple) else bound
            named = isinstance(bound, ast.Name) and bound.id in whole
            uses_x = across or "grid" in text
            has_loop_variable = named and uses_x and exercise.several_elements
            if part and has_loop_variable:
                yield make("loop-for-a-direction", node, part=part, output=exercise.output, name=ast.unparse(bound))
            elif part:
                yield make("one-direction", node, part=part)


@row(
    "refused",
    true_division=Texts(
        hint="`/` gives a fraction, and an index is a whole number: `{new}` divides, and drops the remainder."
    ),
    truth_value=Texts(
        hint="`{old}` gives True or False, which is no index: a number that is 0 or 1 becomes the other by `{new}`."
    ),
)
def indices_that_are_not_integers(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """A fraction or a truth value where a whole number is needed."""
    divided = [node for node in kernel.nodes_of(ast.BinOp) if isinstance(node.op, ast.Div)]
    changes = [(node, ast.BinOp(node.left, ast.FloorDiv(), node.right)) for node in divided]
    halves = [node for node in kernel.nodes_of(ast.AugAssign) if isinstance(node.op, ast.Div)]
    whole = [(node, ast.AugAssign(node.target, ast.FloorDiv(), node.value)) for node in halves]
    for chosen in [[each] for each in (*changes, *whole)] + [[*changes, *whole]]:
        if chosen:
            old, new = chosen[0]
            yield make("true-division", old, *chosen, new=ast.unparse(new))
    for node in kernel.nodes_of(ast.UnaryOp):
        if isinstance(node.op, ast.Not):
            other = ast.BinOp(ast.Constant(1), ast.Sub(), node.operand)
            yield make("truth-value", node, (node, other), old=ast.unparse(node), new=ast.unparse(other))


def is_short_range(called: ast.expr) -> TypeGuard[ast.Call]:
    """Whether this is a range of one argument."""
    return isinstance(called, ast.Call) and ast.unparse(called.func) == "range" and len(called.args) == 1


ROWS = (
    calls_without_parentheses,
    names_of_cuda_c,
    misspelt_parts,
    unknown_names,
    missing_indices,
    array_operations,
    statements_without_effect,
    endless_loops,
    renamed_arrays,
    loops_over_the_whole_output,
    mixed_directions,
    directions_that_are_missing,
    indices_that_are_not_integers,
)
