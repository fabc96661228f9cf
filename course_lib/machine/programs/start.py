"""The start of each process of a program: standard library only, so that a process without kernels loses no time.

:mod:`program` names a folder in the environment; it holds what was asked for, and gets what is found. The first process
there is the program's main one. A process imports the simulator when it imports a package of :data:`PACKAGES`.
"""

import contextlib
import json
import os
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType
from typing import Any

#: The variable with the folder of a program that runs. A test may ask whether it is set: docs/cudasim.md.
FOLDER = "TILE_BY_TILE_PROGRAM"
#: Packages that have kernels.
PACKAGES = ("numba", "numba_cuda", "numba_cuda_mlir")
#: The exit status of a program that was stopped after its time.
STOPPED = 2
#: Files of the folder: settings for all processes, the mark of the main one, and where it was when its time was over.
SETTINGS, MAIN, WAS_STOPPED = "settings.json", "main", "stopped.json"
#: Called before the process is ended after its time.
BEFORE_END: list[Callable[[], None]] = []
_COURSE = str(Path(__file__).parents[3])


class KernelsWatch(MetaPathFinder):
    """Begins with the simulator when the program imports the first package that has kernels."""

    def __init__(self, folder: Path, gpu: str) -> None:
        self.folder, self.gpu = folder, gpu

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """Return what the other finders find for such a package; None for any other module."""
        if name not in PACKAGES:
            return None
        sys.meta_path.remove(self)
        _simulate_launches(self.folder, self.gpu)
        return next((spec for other in sys.meta_path if (spec := other.find_spec(name, path, target))), None)


def _simulate_launches(folder: Path, gpu: str) -> None:
    """Put the stand-ins in their places. The program goes on if that fails: without a GPU its launches then do."""
    sys.path.insert(0, _COURSE)
    try:
        process = import_module("course_lib.machine.programs.process")
        BEFORE_END.append(process.begin(folder, gpu))
    except Exception as error:  # as in another environment, which has no NumPy
        print(f"The launches of process {os.getpid()} are not simulated: {error}.", file=sys.stderr)
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(_COURSE)


def begin() -> None:
    """Begin with a process, if it is one of a program that :mod:`program` runs."""
    if not os.environ.get(FOLDER):
        return
    folder = Path(os.environ[FOLDER])
    try:
        settings = json.loads(folder.joinpath(SETTINGS).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # the program has ended, and its folder is gone
        return
    sys.meta_path.insert(0, KernelsWatch(folder, settings["gpu"]))
    try:
        os.close(os.open(folder / MAIN, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    except OSError:
        return
    if settings["limit"] is not None:
        arguments = (folder, settings["limit"], settings["script"])
        threading.Thread(target=stop, args=arguments, daemon=True).start()


def stop(folder: Path, seconds: float, script: str) -> None:
    """End the main process after so many seconds, wherever it is, and write where that was.

    Nothing is raised in the program: it could catch that.
    """
    threading.Event().wait(min(seconds, threading.TIMEOUT_MAX))
    frames = sys._current_frames()
    places = {thread: place_of(frame, script) for thread, frame in frames.items()}
    main = places.pop(threading.main_thread().ident or 0, ("", 0))
    other = next((place for place in places.values() if place[1]), ("", 0))
    for last in BEFORE_END:  # of a launch that goes on meanwhile
        with contextlib.suppress(Exception):
            last()
    try:
        folder.joinpath(WAS_STOPPED).write_text(json.dumps([main, other]), encoding="utf-8")
    finally:
        os._exit(STOPPED)


def place_of(frame: FrameType | None, script: str) -> tuple[str, int]:
    """Return the file and the innermost line of a thread's call: of the script, or of any file if that is ""."""
    while frame is not None and script and frame.f_code.co_filename != script:
        frame = frame.f_back
    return ("", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
