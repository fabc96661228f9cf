"""Recorded results from named GPUs: one folder per GPU, one JSON file per kind of measurement.

    from course_lib import measurements
    ladder = measurements.load("ladder")
    ladder.provenance["gpu"]                 # 'NVIDIA H200'
    ladder.result("tiled")["gflops"]

`python -m course_lib.gpu record NAME` makes a folder on your own GPU, which `load(WHAT, NAME)` reads; with
`WHAT --output FOLDER` it makes one file in any folder, which `load(WHAT, FOLDER)` reads.

A recording's command is the one that made it. Recordings of the laboratory (`tools/lab`) that name `course_lib.gpu`
were made before it left the package; commit 8f2bacf is the last one that has their commands.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
DEFAULT_GPU = "nvidia-h200"


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


def load(what: str, gpu: str | Path = DEFAULT_GPU) -> Recording:
    """Return the Recording of `what` ("ladder", "series", …) from a GPU's folder: a name here, or any path."""
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
