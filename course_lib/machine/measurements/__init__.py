"""Recorded results from named GPUs: one folder per GPU, one JSON file per kind of measurement.

    from course_lib import measurements
    ladder = measurements.load("ladder")
    ladder.provenance["gpu"]                 # 'NVIDIA H200'
    ladder.result("tiled")["gflops"]

`tile-by-tile gpu record NAME` makes a folder on your own GPU, which `load(WHAT, NAME)` reads; with
`WHAT --output FOLDER` it makes one file in any folder, which `load(WHAT, FOLDER)` reads.

A recording's command is the one that made it. Recordings of the laboratory (`tools/lab`) that name `course_lib.gpu`
were made before it left the package; commit 8f2bacf is the last one that has their commands, and dac3b60 the last one
that makes `instructions`: the recorded code of `machine/machine_code` has taken its place.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
DEFAULT_GPU = "nvidia-h200"
#: The kind of recording whose provenance describes a multiprocessor.
MACHINE = "latencies"
#: The fair neighbour of a tile: `naive` with its indices and its loop improved, a kernel of `kernels.variants`.
IMPROVED = "naive_uint64_32"
NAMES = {IMPROVED: "naive, improved"}
#: Kernels of the recording of variants that are another one, by the rule of their names: RUNG_unsigned and RUNG_c.
_OTHER_NAMES = {
    "naive_unsigned": "naive_uint64_left",
    "pipelined_unsigned": "pipelined",  # as written its inner loop has unsigned indices
    f"{IMPROVED}_unsigned": IMPROVED,
    f"{IMPROVED}_c": "naive_c_unroll_32",
}


@dataclass(frozen=True)
class Recording:
    """The results of a measurement, with the command, the GPU and the software (provenance)."""

    what: str
    command: str
    provenance: dict[str, Any]
    results: list[dict[str, Any]]
    notes: dict[str, Any] = field(default_factory=dict)

    def result(self, rung: str, **values: Any) -> dict[str, Any]:
        """Return the first result of a rung whose entries equal `values`; raise KeyError if there is none."""
        for result in self.results:
            if result.get("rung") == rung and all(result.get(key) == value for key, value in values.items()):
                return result
        raise KeyError(f"the recording of {self.what} has no result of {rung!r} with {values}")


@dataclass(frozen=True)
class Speeds:
    """GFLOP/s of a kernel in numba as it is written, in numba with unsigned indices, and in CUDA C; None: no figure."""

    written: float | None
    unsigned: float | None
    c: float | None


def speeds(gpu: str | Path = DEFAULT_GPU) -> dict[str, Speeds]:
    """Return the Speeds of each rung of the ladder, slowest first, and after `naive` those of IMPROVED.

    The first is the ladder's, the others are those of its variants, where a GPU has a recording of them.
    """
    variants: dict[str, float] = {}
    for result in load("variants", gpu).results if "variants" in kinds(gpu) else ():
        if "gflops" in result:
            variants.setdefault(result["rung"], result["gflops"])  # those of the ladder's own blocks come first
    ladder = {result["rung"]: result["gflops"] for result in load("ladder", gpu).results if "gflops" in result}
    names = list(ladder)
    if "naive" in ladder and IMPROVED in variants:
        names.insert(names.index("naive") + 1, IMPROVED)

    def variant(name: str) -> float | None:
        return variants.get(_OTHER_NAMES.get(name, name))

    return {name: Speeds(ladder.get(name), variant(f"{name}_unsigned"), variant(f"{name}_c")) for name in names}


def load(what: str, gpu: str | Path = DEFAULT_GPU) -> Recording:
    """Return the Recording of `what` ("ladder", "series", …) from a GPU's folder: a name here, or any path.

    >>> round(load("ladder").result("tiled")["gflops"])
    7863
    """
    folder = folder_of(gpu)
    path = folder / f"{what}.json"
    if not path.is_file():
        raise FileNotFoundError(f"no recording of {what!r} in {folder}; it has {', '.join(kinds(gpu)) or 'none'}")
    return Recording(**json.loads(path.read_text(encoding="utf-8")))


def kinds(gpu: str | Path = DEFAULT_GPU) -> tuple[str, ...]:
    """Return the names of the recordings of a GPU."""
    return tuple(sorted(path.stem for path in folder_of(gpu).glob("*.json")))


def folder_of(gpu: str | Path) -> Path:
    """Return the folder of a GPU with recordings in this course, or else the folder with that path."""
    named = FOLDER / gpu
    return named if isinstance(gpu, str) and named.is_dir() else Path(gpu)


def gpus() -> tuple[str, ...]:
    """Return the names of the GPUs with recordings."""
    return tuple(sorted(path.name for path in FOLDER.iterdir() if path.is_dir() and any(path.glob("*.json"))))
