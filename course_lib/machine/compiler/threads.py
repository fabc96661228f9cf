"""The state of a block's threads while their machine code runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


class UnknownInstruction(ValueError):
    """An instruction that the emulator does not know."""


@dataclass
class Region:
    """Bytes from an address on."""

    name: str
    first: int
    data: np.ndarray


@dataclass
class Threads:
    """The state of a block's threads, in whole warps; `mask`: those that run the next instruction."""

    registers: np.ndarray
    uniform: np.ndarray
    predicates: np.ndarray
    uniform_predicates: np.ndarray
    mask: np.ndarray
    warps: np.ndarray
    constants: np.ndarray
    place: Mapping[str, np.ndarray]
    local: np.ndarray
    shared: np.ndarray
    arrays: list[Region] = field(default_factory=list)

    def constant(self, at: int, size: int) -> np.uint64:
        return np.uint64(int.from_bytes(self.constants[at : at + size].tobytes(), "little"))

    def special(self, name: str) -> Any:
        if name not in self.place:
            raise UnknownInstruction(f"special register {name}")
        return self.place[name]
