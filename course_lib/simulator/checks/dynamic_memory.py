"""Two arrays of dynamic shared memory that a kernel takes for two memories: they are one."""

import ast
from functools import lru_cache
from typing import Any

import numpy as np

from ..launch.prepare import Prepared
from ..observer import Observer
from ..runtime.access import Site
from ..runtime.arrays import Array, Pattern, Watcher
from ..runtime.memory import SharedArray

#: A word that nobody stored to, or through what has no name of its own: a part of the memory.
NOBODY = 0


class DynamicMemoryObserver(Observer):
    """Reports a value that another name for its memory overwrites unread, and that is then read through the first name.

    A kernel that has read the value uses its memory again, or takes its bits as another type. One that takes parts of
    the memory, from different elements on, stores to different words. Neither is reported.
    """

    def start(self, prepared: Prepared) -> None:
        super().start(prepared)
        self._declared, self._names = names_of(prepared.source.tree)

    def watch(self, array: Array) -> Watcher | None:
        if len(self._names) < 2 or not isinstance(array, SharedArray) or array.name not in self._declared:
            return None
        return Words(self, array)

    def name_of(self, site: Site) -> int:
        """The number of the name through which a site accesses the memory, from 1; NOBODY for a part of the memory."""
        return 1 + self._names.index(site.variable) if site.variable in self._names else NOBODY

    def overwritten(self, site: Site, pattern: Pattern, base: int, lanes: np.ndarray, line: int, other: int) -> None:
        mine, others = (self._names[number - 1] for number in (self.name_of(site), other))
        said = (
            f"reads element {{}} through {mine}, which {others} has overwritten in line {line}: all arrays of shape 0 "
            f"are one memory, the launch's dynamic shared memory; let one begin behind the other, as in "
            f"cuda.shared.array(0, ...)[n:]"
        )
        self.add_access_finding("aliased-memory", site, pattern, base, lanes, said, other=line)


class Words:
    """Of each word of the memory: the name and the line of its last store, and the name of a value that it ended."""

    def __init__(self, observer: DynamicMemoryObserver, array: SharedArray) -> None:
        self.observer = observer
        self.writer, self.lost, self.line = (np.zeros(array.word_count(), np.int32) for _ in range(3))
        self.taken = np.zeros(array.word_count(), bool)  # was the value read?

    def __call__(self, site: Site, pattern: Pattern, base: int, value: Any) -> None:
        name = self.observer.name_of(site)
        keys, lanes = pattern.keys_and_lanes(base)
        if site.op != "store":
            self._load(site, pattern, base, name, keys, lanes)
        if site.op != "load":
            before = self.writer[keys]
            lost = self.lost[keys]
            if name == NOBODY:
                lost = np.full_like(lost, NOBODY)
            else:
                ends_unread = (before != NOBODY) & (before != name) & ~self.taken[keys]
                lost = np.where(lost == name, NOBODY, lost)
                lost = np.where(ends_unread, before, lost)
            self.lost[keys] = lost
            self.writer[keys] = name
            self.line[keys] = site.line
            self.taken[keys] = False

    def _load(self, site: Site, pattern: Pattern, base: int, name: int, keys: np.ndarray, lanes: np.ndarray) -> None:
        wrong = (self.lost[keys] == name) & (self.writer[keys] != name) & (name != NOBODY)
        if wrong.any():
            mask = np.zeros(lanes.shape, bool)
            mask[lanes] = wrong
            first = keys[np.argmax(wrong)]
            self.observer.overwritten(site, pattern, base, mask, int(self.line[first]), int(self.writer[first]))
        self.taken[keys] = True


@lru_cache(maxsize=256)  # a program launches a kernel many times
def names_of(kernel: ast.FunctionDef) -> tuple[frozenset[str], tuple[str, ...]]:
    """The variables of dynamic shared memory, and those that are given nothing but the whole of it."""
    values: dict[str, list[ast.expr]] = {}  # what each variable is given
    for node in ast.walk(kernel):
        match node:
            case ast.Assign([ast.Name(name)], value):
                values.setdefault(name, []).append(value)
    declared = frozenset(name for name, given in values.items() if any(map(_contains_dynamic, given)))
    whole = [name for name in declared if all(map(_is_dynamic, values[name]))]
    return declared, tuple(sorted(whole))


def _contains_dynamic(value: ast.expr) -> bool:
    return any(_is_dynamic(part) for part in ast.walk(value))


def _is_dynamic(node: ast.AST) -> bool:
    """Whether an expression is the whole dynamic shared memory: ``cuda.shared.array(0, dtype)``."""
    match node:
        case ast.Call(ast.Attribute(ast.Attribute(attr="shared") | ast.Name("shared"), "array"), given, named):
            shape = given[0] if given else next((each.value for each in named if each.arg == "shape"), None)
            return isinstance(shape, ast.Constant) and shape.value == 0
    return False
