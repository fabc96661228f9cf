"""Machine instructions that access memory: loads, stores, copies and atomics."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...simulator.hardware import WARP_SIZE, ceil_div
from .operations import Threads, UnknownInstruction, is_predicate, predicate, raw, writer

#: Each array has so many bits of addresses for itself.
ARRAY_BITS = 36
WIDTHS = {"8": 1, "U8": 1, "S8": 1, "16": 2, "U16": 2, "S16": 2, "64": 8, "128": 16}
MEMORY = {
    "LDG": ("global", "load"),
    "LD": ("global", "load"),
    "STG": ("global", "store"),
    "ST": ("global", "store"),
    "LDS": ("shared", "load"),
    "STS": ("shared", "store"),
    "LDL": ("local", "load"),
    "STL": ("local", "store"),
    "LDGSTS": ("global", "copy"),
}
ATOMICS = {"ATOMS": "shared", "ATOMG": "global", "ATOM": "global", "RED": "global", "REDG": "global"}


@dataclass(frozen=True, eq=False)
class WarpAccess:
    """What one warp's instruction accesses: the bytes of each active lane, from its address on.

    ``array`` is the kernel's parameter, "" for shared and local memory; addresses are counted from its beginning.
    ``active`` are the lanes that take part, ``addresses`` those of all 32. A copy to shared memory has the places that
    it writes there in ``stored``; an atomic, what it does in ``how``, such as "ADD" or "CAST". ``by_array`` has the
    number of active lanes of all warps by array.
    """

    space: str
    op: str
    array: str
    bytes: int
    active: np.ndarray
    addresses: np.ndarray
    stored: np.ndarray | None = None
    how: str = ""
    by_array: tuple[tuple[str, int], ...] = ()

    def of(self, lanes: slice) -> "WarpAccess":
        """Return the part of some lanes in the access of all threads."""
        stored = None if self.stored is None else self.stored[lanes]
        return replace(self, active=self.active[lanes], addresses=self.addresses[lanes], stored=stored)


def _address(text: str, wide: bool = False) -> Callable[[Threads], Any]:
    """Return the addresses that an operand such as desc[UR4][R2.64+0x10] or [R5+UR4] gives.

    wide: whether a register stands for two also without .64.
    """
    found = re.fullmatch(r"(?:desc\[UR\d+\])?\[([^\]]*)\]", text)
    if found is None:
        raise UnknownInstruction(f"address {text}")
    parts, scales = [], []
    for part in re.findall(r"[+-]?[^+-]+", found[1]):
        sign = part[0] == "-"
        name = part.lstrip("+-")
        if name.startswith("0x"):
            parts.append(raw(f"-{name}" if sign else name, 2))
            scales.append(1)
            continue
        register, _, how = name.partition(".")
        parts.append(raw(register, 2 if wide or "64" in how else 1))
        scales.append(int(how[1:]) if re.fullmatch(r"X\d+", how) else 1)

    def get(threads: Threads) -> Any:
        total: Any = np.zeros(threads.mask.shape, np.uint64)
        for part, scale in zip(parts, scales, strict=True):
            total = total + part(threads) * np.uint64(scale)
        return total

    return get


def _row(text: str, words: int, make: Callable[[str], Any]) -> list[Any]:
    """Return the registers of so many words, from one on."""
    name = text.replace(".reuse", "")
    if name in ("RZ", "URZ") or words == 1:
        return [make(name)] * words
    kind, first = re.fullmatch(r"(U?R)(\d+)", name).groups()  # type: ignore[union-attr]
    return [make(f"{kind}{int(first) + i}") for i in range(words)]


def _check(offsets: np.ndarray, size: int, room: int) -> None:
    if len(offsets) and (int(offsets.min()) < 0 or int(offsets.max()) + size > room):
        raise ValueError("the machine code accesses memory outside of an array")


def _memories(threads: Threads, space: str, at: np.ndarray, size: int) -> list[tuple[str, np.ndarray, np.ndarray, int]]:
    """Return the memories that active threads access: the name, the bytes, which threads, and what to subtract from
    their addresses to get the places of their bytes."""
    if space == "shared":
        _check(at[threads.mask], size, threads.shared_bytes)
        return [("", threads.shared, threads.mask, 0)]
    if space == "local":
        _check(at[threads.mask], size, threads.local.shape[1])
        return [("", threads.local.reshape(-1), threads.mask, 0)]
    found = []
    number = at >> ARRAY_BITS
    left = threads.mask
    while left.any():
        first = int(number[left.argmax()])
        memory = next((m for m in threads.arrays if m.first >> ARRAY_BITS == first), None)
        if memory is None:
            raise ValueError("the machine code accesses memory that is none of its arrays")
        here = left & (number == first)
        _check(at[here] - memory.first, size, len(memory.data))
        found.append((memory.name, memory.data, here, memory.first))
        left = left & ~here
    return found


def _places(threads: Threads, space: str, at: np.ndarray) -> np.ndarray:
    """Return where in the bytes of their memory the threads' addresses are."""
    if space == "shared":
        return at + threads.block * threads.shared_bytes
    if space == "local":
        return at + np.arange(len(at)) * threads.local.shape[1]
    return at


def _lanes(memories: list[Any]) -> tuple[tuple[str, int], ...]:
    return tuple((name, int(np.count_nonzero(here))) for name, _, here, _ in memories)


class Memory:
    """A load, a store or a copy."""

    def __init__(self, operation: str, operands: list[str]) -> None:
        name, *mods = operation.split(".")
        self.space, self.op = MEMORY[name]
        self.bytes = next((WIDTHS[m] for m in mods if m in WIDTHS), 4)
        self.signed = bool({"S8", "S16"} & {*mods})
        self.words = words = ceil_div(self.bytes, 4)
        self.allowed = predicate(operands.pop()) if is_predicate(operands[-1]) else None
        self.to: Any = None
        self.registers: list[Any] = []
        if self.op == "copy":
            self.to = _address(operands[0])
            self.at = _address(operands[1])
        elif self.op == "load":
            self.registers = _row(operands[0], words, writer)
            self.at = _address(operands[1])
        else:
            self.registers = _row(operands[1], words, raw)
            self.at = _address(operands[0])

    def run(self, threads: Threads) -> WarpAccess:
        """Do it; return what all threads access."""
        at = self.at(threads)
        at = (at & np.uint64(0xFFFFFFFF) if self.space == "local" else at).astype(np.int64)
        memories = _memories(threads, self.space, at, self.bytes)
        places = _places(threads, self.space, at)
        stored = None
        name, _, _, first = memories[0]
        if self.space == "local" and self.bytes >= 4 and (at == at[0]).all():  # as of registers that are spilled
            self._move_columns(threads, int(at[0]) // 4)
        elif self.op == "copy":
            _, data, _, _ = memories[0]
            stored = self.to(threads).astype(np.int64)
            to = _places(threads, "shared", stored)
            allowed = threads.mask if self.allowed is None else threads.mask & self.allowed(threads)
            span = np.arange(self.bytes)
            threads.shared[to[threads.mask][:, None] + span] = 0
            threads.shared[to[allowed][:, None] + span] = data[(places - first)[allowed][:, None] + span]
        else:
            every = threads.mask
            for _, data, here, begin in memories:
                threads.mask = here
                self._move(threads, data, places - begin)
            threads.mask = every
        lanes = _lanes(memories)
        return WarpAccess(self.space, self.op, name, self.bytes, threads.mask, at - first, stored, by_array=lanes)

    def _move_columns(self, threads: Threads, first: int) -> None:
        """Load or store the same words of each thread's local memory."""
        words = threads.local.view(np.uint32)
        for i, register in enumerate(self.registers):
            if self.op == "load":
                register(threads, words[:, first + i].astype(np.uint64))
            else:
                np.copyto(words[:, first + i], register(threads), where=threads.mask, casting="unsafe")

    def _move(self, threads: Threads, data: np.ndarray, places: np.ndarray) -> None:
        where = places[threads.mask]
        size = min(self.bytes, 4)
        words = data[: len(data) // size * size].view(f"{'i' if self.signed else 'u'}{size}")
        for i, register in enumerate(self.registers):
            place = where // size + i
            if self.op == "load":
                value = np.zeros(threads.mask.shape, np.uint64)
                value[threads.mask] = words[place].astype(np.int64).view(np.uint64)
                register(threads, value)
            else:
                words[place] = np.broadcast_to(register(threads), threads.mask.shape)[threads.mask].astype(words.dtype)


#: What an atomic makes of the old value and its operand.
UPDATES: dict[str, Callable[[Any, Any], Any]] = {
    "ADD": lambda old, x: old + x,
    "MIN": min,
    "MAX": max,
    "AND": lambda old, x: old & x,
    "OR": lambda old, x: old | x,
    "XOR": lambda old, x: old ^ x,
    "EXCH": lambda old, x: x,
    "INC": lambda old, x: old + old.dtype.type(1) if old < x else x - x,
    "DEC": lambda old, x: x if old == 0 or old > x else old - old.dtype.type(1),
}


class Atomic:
    """An atomic: its lanes update memory one after another."""

    def __init__(self, operation: str, operands: list[str]) -> None:
        name, *mods = operation.split(".")
        self.space = ATOMICS[name]
        self.mods = mods
        if {"F16x2", "F16", "BF16", "BF16x2", "128"} & {*mods} or any("V2" in m or "V4" in m for m in mods):
            raise UnknownInstruction(operation)
        wide = bool({"64", "F64", "S64", "U64"} & {*mods})
        floating = any(m.startswith("F32") or m.startswith("F64") for m in mods)
        self.how = "POPC" if "POPC" in mods else next((m for m in mods if m in (*UPDATES, "CAS", "CAST")), "")
        if not self.how:
            raise UnknownInstruction(operation)
        kind = "f" if floating else "i" if {"S32", "S64"} & {*mods} else "u"
        self.bytes, words = (8, 2) if wide else (4, 1)
        self.kind = np.dtype(f"{kind}{self.bytes}")
        operands = [each for each in operands if not is_predicate(each)]
        at = next(n for n, text in enumerate(operands) if text.endswith("]"))
        self.at = _address(operands[at], wide=self.space == "global" and not operands[at].startswith("desc"))
        flag = 1 if self.how == "CAST" else words
        self.result = _row(operands[at - 1], flag, writer) if at else []
        self.given = [_row(text, words, raw) for text in operands[at + 1 :]]

    def run(self, threads: Threads) -> WarpAccess:
        """Do it; return what all threads access."""
        at = self.at(threads).astype(np.int64)
        memories = _memories(threads, self.space, at, self.bytes)
        places = _places(threads, self.space, at)
        given = [self._value(threads, words) for words in self.given]
        old = np.zeros(threads.mask.shape, self.kind)
        for _, data, here, first in memories:
            memory = data[: len(data) // self.bytes * self.bytes].view(self.kind)
            for thread in np.flatnonzero(here).tolist():
                place = (places[thread] - first) // self.bytes
                old[thread] = self._updated(memory, place, [value[thread] for value in given])
        bits = old.view(f"u{self.bytes}").astype(np.uint64)
        for number, write in enumerate(self.result):
            write(threads, bits >> np.uint64(32 * number))
        name, _, _, first = memories[0]
        lanes = _lanes(memories)
        return WarpAccess(
            self.space, "atomic", name, self.bytes, threads.mask, at - first, how=self.how, by_array=lanes
        )

    def _value(self, threads: Threads, words: list[Any]) -> np.ndarray:
        parts = [np.broadcast_to(word(threads), threads.mask.shape).astype(np.uint64) for word in words]
        both = parts[0] if len(parts) == 1 else parts[0] | parts[1] << np.uint64(32)
        return np.ascontiguousarray(both.astype(f"u{self.bytes}")).view(self.kind)

    def _updated(self, memory: np.ndarray, place: int, given: list[Any]) -> Any:
        """Update a word; return what the lane gets: the old value, or 1 if a comparison was true."""
        old = memory[place]
        if self.how in ("CAS", "CAST"):
            expected, new = given
            same = old.tobytes() == expected.tobytes()
            if same:
                memory[place] = new
            return old if self.how == "CAS" else same
        if self.how == "POPC":
            memory[place] = old + 1
        else:
            memory[place] = UPDATES[self.how](old, given[0])
        return old


def by_warp(mask: np.ndarray) -> np.ndarray:
    """Return which warps some of these threads are in."""
    return np.asarray(mask.reshape(-1, WARP_SIZE).any(axis=1))
