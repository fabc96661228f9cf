"""The command `grade` in a container without a network: walls for a machine that has none of its own."""

import argparse
import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: docs/teach/grading.md says how to build it.
IMAGE = "tile-by-tile-staff"
#: What the line for the container says in another way.
_INSIDE = ("command", "submissions", "container", "run")


def line(chosen: argparse.Namespace) -> list[str]:
    """Return the line for Docker or Podman that runs the command with what was chosen.

    What it reads and the folders that it writes have the same paths inside; nothing else of this machine is there. The
    container replaces the walls where its system has none. Raises ValueError for a path that no such line can name.
    """
    paths = {name: value.resolve() for name, value in vars(chosen).items() if isinstance(value, Path)}
    written = _written(chosen)
    read = [paths[name] for name in ("submissions", "roster") if name in paths and paths[name] not in written]
    for path in (*read, *written):
        if ":" in str(path):
            raise ValueError(f"{path}: a container takes no path with a colon; rename it (on Windows, grade in WSL)")
    mounts = [*(f"--volume={path}:{path}" for path in written), *(f"--volume={path}:{path}:ro" for path in read)]
    walls = "--network=none --read-only --tmpfs=/tmp --workdir=/tmp --env=HOME=/tmp --cap-drop=ALL --pull=never".split()
    user = [f"--user={os.getuid()}:{os.getgid()}"] if hasattr(os, "getuid") and chosen.container == "docker" else []
    given = {name: value for name, value in vars(chosen).items() if name not in _INSIDE}
    given["without_walls"] = True
    words = [word for name, value in given.items() for word in _words(name, value)]
    command = ["tile-by-tile", "teach", "grade", str(chosen.submissions.resolve()), *words]
    return [chosen.container, "run", "--rm", *walls, *user, *mounts, IMAGE, *command]


def _written(chosen: argparse.Namespace) -> list[Path]:
    """The folders of the table and of the pages."""
    return list(dict.fromkeys(path.resolve() for path in (chosen.csv.parent, chosen.feedback)))


def _words(name: str, value: Any) -> Iterator[str]:
    option = f"--{name.replace('_', '-')}"
    if value is True:
        yield option
    elif value is not None and value is not False:
        yield f"{option}={value.resolve() if isinstance(value, Path) else value}"


def run(chosen: argparse.Namespace) -> int:
    """Show and run the line; return its exit status. Raises ValueError if the tool is not there."""
    words = line(chosen)
    for folder in _written(chosen):
        folder.mkdir(parents=True, exist_ok=True)
    print(shlex.join(words), flush=True)
    try:
        return subprocess.run(words).returncode
    except FileNotFoundError:
        raise ValueError(f"{chosen.container} is not installed: install Docker or Podman, or grade on Linux") from None
