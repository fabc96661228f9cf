"""Recorded machine code, for machines without the compiler: that of every rung, and of the exercises' solutions.

`tile-by-tile machine-code record notebooks/solutions/*.ipynb` makes it anew; that needs the compiler, and no GPU.
"""

import base64
import functools
import json
import zlib
from pathlib import Path
from typing import Any

from .identity import functions_of, outline
from .instructions import MachineCode, from_text

FILE = Path(__file__).parent / "recorded.json"


#: What is recorded of a MachineCode beside its instructions.
ABOUT = ("kernel", "registers", "shared_bytes", "stack_bytes", "spilled_bytes")


@functools.cache
def _recording() -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    """Return the versions of the compiler's packages, and what was recorded, by the key of `identity.digest`."""
    recording = json.loads(FILE.read_text(encoding="utf-8"))
    return recording["versions"], {entry["key"]: entry for entry in recording["results"]}


def recorded(key: str, kernel: Any) -> MachineCode | None:
    """Return the recorded code with this key, with the lines of this kernel's own source; None if there is none."""
    versions, entries = _recording()
    entry = entries.get(key)
    if entry is None:
        return None
    lines = zlib.decompress(base64.b64decode(entry["code"])).decode("utf-8").split("\n")
    functions = functions_of(getattr(kernel, "py_func", kernel))
    moved = {name: outline(function) for name, function in functions.items()}

    def place(name: str, number: int) -> tuple[str, int]:
        return name, moved[name][min(number, len(moved[name]) - 1)] if name in moved else number

    instructions = tuple(
        each._replace(places=tuple(place(*known) for known in each.places)) for each in from_text(lines)
    )
    return MachineCode(
        **{name: entry[name] for name in ABOUT},
        instructions=instructions,
        versions=versions,
        first_lines={
            name: (function.__code__.co_filename, function.__code__.co_firstlineno)
            for name, function in functions.items()
        },
        recorded=True,
    )
