"""Mistakes that can be found in the text of a kernel; each cause names its line and what to write instead."""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from .source import Submission

_WAITS = {"syncthreads", "syncwarp", "threadfence"}
_OF_CUDA = {"blockIdx", "threadIdx", "blockDim", "gridDim", "shared", "local", "atomic", "grid", *_WAITS}


@dataclass(frozen=True)
class Cause:
    """The cause of a failure: a line of the kernel, and what is wrong there."""

    line: int
    what: str

    @property
    def advice(self) -> str:
        """The advice for a reader, with the line."""
        return f"line {self.line}: {self.what}"


def cause_in_text(source: Submission, output: str, alone: bool = False) -> Cause | None:
    """The first mistake in the text that no correct kernel contains, or None; ``alone``: there is only one thread."""
    if source.tree is None:
        return None
    for look in _LOOKS:
        for cause in look(source.tree, source):
            return cause
    return None if alone else next(_whole_result_in_every_thread(source.tree, output), None)


def remarks_on_text(source: Submission, alone: bool = False) -> tuple[str, ...]:
    """Remarks that do not affect the grade, but are useful on a GPU; ``alone``: one thread, as on the host."""
    remarks = []
    if not source.decorated and not alone:
        remarks.append("this is a plain Python function; for a GPU, put @cuda.jit on the line above its def.")
    nodes = list(ast.walk(source.tree)) if source.tree else []
    if any(isinstance(node, ast.Call) and ast.unparse(node.func) == "print" for node in nodes):
        remarks.append("check shows nothing that a kernel prints: launch it with simulate to read it.")
    for node in nodes:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, float)
        ):
            name, value = node.targets[0].id, node.value.value
            remarks.append(
                f"line {node.lineno}: {name} = {value} is a double-precision number (float64), and so is every sum "
                f"with it; float32({value:g}) keeps the arithmetic in single precision."
            )
    return tuple(remarks)


def _without_parentheses(tree: ast.FunctionDef, source: Submission) -> Iterator[Cause]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Attribute | ast.Name):
            name = ast.unparse(node.value)
            if name.split(".")[-1] in _WAITS:
                yield Cause(node.lineno, f"{name} without () calls nothing: write {name}().")


def _without_cuda(tree: ast.FunctionDef, source: Submission) -> Iterator[Cause]:
    for name, line in _unknown_names(tree, source):
        if name in _OF_CUDA:
            yield Cause(line, f"{name} is a part of cuda: write cuda.{name}.")


def _unknown_width(tree: ast.FunctionDef, source: Submission) -> Iterator[Cause]:
    width = tile_width(tree)
    for name, line in _unknown_names(tree, source):
        if width and name in ("T", "TILE", "TILE_WIDTH", "BLOCK", "BLOCK_SIZE", "width"):
            yield Cause(line, f"{name} is not known here; the width of the tiles is called {width}.")


def _misspelt(tree: ast.FunctionDef, source: Submission) -> Iterator[Cause]:
    """An undefined name, and the most similar name that the kernel uses."""
    unknown = [(name, line) for name, line in _unknown_names(tree, source) if not hasattr(builtins, name)]
    wrong = {name for name, _ in unknown}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | set(_arguments(tree))
    for name, line in unknown:
        for similar in difflib.get_close_matches(name, sorted(used - wrong), 1):
            if len(name) < 3 and name.lower() != similar.lower():
                continue  # one common letter of two is not similar: As is rather a tile of A than A
            yield Cause(line, f"the name {name} is not known here; did you mean {similar}?")


def _bits_for_and(tree: ast.FunctionDef, source: Submission) -> Iterator[Cause]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for part in (node.left, *node.comparators):
                if isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitAnd | ast.BitOr):
                    sign, word = ("&", "and") if isinstance(part.op, ast.BitAnd) else ("|", "or")
                    yield Cause(
                        node.lineno,
                        f"{sign} combines bits, and is evaluated before any comparison: what is compared here is "
                        f"`{ast.unparse(part)}`. Between two conditions write {word}.",
                    )


def _shared_array_renamed(tree: ast.FunctionDef, source: Submission) -> Iterator[Cause]:
    """``tile = A[row, col]`` instead of a store to an element of the tile."""
    arrays = shared_arrays(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in arrays:
            name = node.targets[0].id
            if not ast.unparse(node.value).startswith("cuda."):
                yield Cause(
                    node.lineno,
                    f"`{name} = …` stores nothing into the shared array; it gives the name to something else. Store an "
                    f"element: `{name}[…] = …`.",
                )


def _grid_by_rows(tree: ast.FunctionDef, source: Submission) -> Iterator[Cause]:
    """``row, col = cuda.grid(2)``, which gives x first."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ast.unparse(node) == "row, col = cuda.grid(2)":
            what = "cuda.grid(2) gives x first, which counts columns: `col, row = cuda.grid(2)`."
            yield Cause(node.lineno, what)


#: The checks of the text, in their order.
_LOOKS = (
    _without_parentheses,
    _without_cuda,
    _unknown_width,
    _misspelt,
    _bits_for_and,
    _shared_array_renamed,
    _grid_by_rows,
)


def _whole_result_in_every_thread(tree: ast.FunctionDef, output: str) -> Iterator[Cause]:
    """A store whose indices are all counted by loops from 0: then every thread stores all of the output."""
    counted = {
        node.target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.For)
        and isinstance(node.target, ast.Name)
        and isinstance(node.iter, ast.Call)
        and ast.unparse(node.iter.func) == "range"
        and len(node.iter.args) == 1
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == output:
            names = {part.id for part in ast.walk(node.slice) if isinstance(part, ast.Name)}
            if names and names <= counted:
                yield Cause(
                    node.lineno,
                    f"the loops over {' and '.join(sorted(names))} go through all of {output}, in every thread that "
                    "comes here. Threads share the work: at least one of these indices is the thread's own, made of "
                    "blockIdx, blockDim and threadIdx.",
                )


def mixed_directions(tree: ast.FunctionDef) -> Cause | None:
    """``blockIdx.y * blockDim.x``, which is correct only if blocks are square."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            sides = [ast.unparse(side).split(".") for side in (node.left, node.right)]
            found = {side[-2]: side[-1] for side in sides if len(side) > 1}
            if found.keys() == {"blockIdx", "blockDim"} and found["blockIdx"] != found["blockDim"]:
                of = found["blockIdx"]
                return Cause(
                    node.lineno,
                    f"`{ast.unparse(node)}` mixes two directions: multiply blockIdx.{of} by blockDim.{of}, the threads "
                    "of a block in the same direction.",
                )
    return None


def tile_width(tree: ast.FunctionDef) -> str | None:
    """The name that is the size of the kernel's shared arrays."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("shared.array") and node.args:
            names = [part.id for part in ast.walk(node.args[0]) if isinstance(part, ast.Name)]
            if names:
                return names[0]
    return None


def shared_arrays(tree: ast.FunctionDef) -> set[str]:
    """The names of the kernel's arrays in shared memory."""
    return {
        node.targets[0].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func).endswith("shared.array")
    }


def _arguments(tree: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in tree.args.args]


def _unknown_names(tree: ast.FunctionDef, source: Submission) -> list[tuple[str, int]]:
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    bound |= {*_arguments(tree), *source.known}
    unknown = [node for node in names if node.id not in bound]
    return [(node.id, node.lineno) for node in sorted(unknown, key=lambda node: (node.lineno, node.col_offset))]
