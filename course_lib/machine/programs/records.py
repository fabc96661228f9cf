"""What a program's processes tell the command that runs them: records in files, which outlive any end of a process."""

import contextlib
import io
import itertools
import os
import pickle
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_SIZE = struct.Struct(">Q")
_SUFFIX = ".records"
#: The mark of a folder in which a record is missing.
LOST = "lost"


class _Pickler(pickle.Pickler):
    """A function of the program, such as a kernel that was changed, is None elsewhere."""

    def reducer_override(self, thing: Any) -> Any:
        own = isinstance(thing, FunctionType) and not thing.__module__.startswith(("numpy.", "course_lib."))
        return (type(None), ()) if own else NotImplemented


class RecordWriter:
    """Writes the records of this process to a file of its own, which is locked for as long as the process lives.

    Nothing that goes wrong with that is raised: it is the program's process.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file: int | None = None
        self._told = False
        self.begin()

    def begin(self) -> None:
        """Begin with a process, also with one that was forked: the other one keeps its file."""
        self.close()
        self._process = f"{time.time_ns():020}-{os.getpid()}"
        self._numbers = itertools.count()
        self._open()

    def write(self, kind: str, *values: Any) -> None:
        """Append a record; it is in the file when this returns."""
        whole = False
        try:
            text = io.BytesIO()
            _Pickler(text, pickle.HIGHEST_PROTOCOL).dump((kind, values))
            data = memoryview(_SIZE.pack(text.tell()) + text.getvalue())
            if self._file is None:
                self._open()
            assert self._file is not None
            while data:
                data = data[os.write(self._file, data) :]
            whole = True
        except Exception as error:
            self._tell(error)
        finally:
            if not whole:  # also after a signal's handler has raised: the next records go to another file
                self.close()

    def close(self) -> None:
        """Close the file; a later record gets another one."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = None

    def _open(self) -> None:
        name = f"{self._process}-{next(self._numbers)}{_SUFFIX}"
        with contextlib.suppress(OSError):  # write() tells of it
            self._file = os.open(
                self.folder / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            )
            if fcntl is not None:
                fcntl.flock(self._file, fcntl.LOCK_SH)

    def _tell(self, error: Exception) -> None:
        """Say once that something is lost."""
        if not self._told:
            self._told = True
            with contextlib.suppress(OSError):
                self.folder.joinpath(LOST).touch()
            with contextlib.suppress(Exception):
                print(f"What is found in process {os.getpid()} cannot be written: {error}.", file=sys.stderr)


def read(folder: Path) -> Iterator[tuple[str, str, tuple[Any, ...]]]:
    """Yield the kind, the process and the values of each record, process by process in the order of their beginnings.

    The last record of a file may be cut off.
    """
    for path in sorted(folder.glob(f"*{_SUFFIX}")):
        data = path.read_bytes()
        process = path.name.rpartition("-")[0]
        place = 0
        while place + _SIZE.size <= len(data):
            begin = place + _SIZE.size
            place = begin + _SIZE.unpack_from(data, place)[0]
            if place <= len(data):
                kind, values = pickle.loads(data[begin:place])
                yield kind, process, values


def alive(folder: Path) -> list[int]:
    """Return the processes that still run of those that have records here; none where files cannot be locked."""
    found = []
    for path in sorted(folder.glob(f"*{_SUFFIX}")) if fcntl is not None else ():
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                found.append(int(path.name.split("-")[1]))
    return found
