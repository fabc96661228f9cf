"""Ordinary launches in this process, without a GPU: :func:`without_gpu`, for a notebook, a conftest or a script."""

import ctypes
import os
import sys
import threading
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from importlib.util import find_spec
from types import TracebackType
from typing import Any

from ...simulator.findings import KINDS, LaunchError
from ...simulator.formatting import plural
from ..simulated_launch import simulated
from .launches import Found, Launches, Policy, Simulates
from .report import report
from .stand_ins import CUDASIM, without_device

#: Kinds of findings that raise as in ``simulate``.
_ERRORS = frozenset(kind for kind, its in KINDS.items() if its.severity == "error")
_HAS_ALL = "without_gpu(strict=False) collects them all in its findings"
#: Modules that know whether a GPU is there.
_CUDA = ("numba.cuda", "numba_cuda_mlir.cuda")


class SimulatedLaunches:
    """Launches of this process that are simulated, from a call of :func:`without_gpu` until :meth:`undo`.

    It is true for as long as they are. As a context manager it undoes what it did at the end of its block; what was
    before is then as it was.
    """

    def __init__(self, reason: str, policy: Policy) -> None:
        simulates = _RUN[-1] if _RUN else simulated
        self._reason = reason
        self._launches = Launches(policy=policy, simulates=simulates)
        self._below: SimulatedLaunches | None = None  # whose place this one took
        self._above: SimulatedLaunches | None = None  # which took this one's place
        self._entered = False

    @property
    def findings(self) -> tuple[Found, ...]:
        """What was found, once for each kernel and line: ``problem`` is a Finding, ``launches`` how many have it."""
        return tuple(self._launches.found.values())

    def undo(self) -> None:
        """Simulate launches no longer; do nothing if that is so already."""
        with _LOCK:
            _drop(self._latest())

    def _latest(self) -> "SimulatedLaunches":
        return self if self._above is None else self._above._latest()

    def __bool__(self) -> bool:
        return self._latest() in _ACTIVE

    def __enter__(self) -> "SimulatedLaunches":
        with _LOCK:
            self._entered = True
            if self._below is not None and self in _ACTIVE:  # it stays, and is in force again after the block
                self._below._above = None
                _ACTIVE.insert(_ACTIVE.index(self), self._below)
                self._below = None
            if not self and not self._reason:
                _put_in_force(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.undo()

    def __repr__(self) -> str:
        if self._reason:
            return f"Nothing is changed: {self._reason}."
        if not self:
            return f"Launches are simulated no longer; {plural(len(self.findings), 'finding')}."
        found = report(self._launches, errors=_ERRORS) if self.findings else ["No findings."]
        return "\n".join(["Launches are simulated, without a GPU.", *found])


#: The latest is in force. Only the last of a row of calls without ``with`` is there: a cell may run twice.
_ACTIVE: list[SimulatedLaunches] = []
_LOCK = threading.RLock()
#: Held by the thread that launches; a forked process, which has no other one, begins with its own.
_ONE_BY_ONE = [threading.RLock()]
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _ONE_BY_ONE.__setitem__(0, threading.RLock()))
#: In a program that `tile-by-tile run` runs: what simulates its launches, and writes what is found in them.
_RUN: list[Simulates] = []
#: The stand-ins, while there are some of this module.
_INSTALLED: list[AbstractContextManager[None]] = []


def without_gpu(*, strict: bool = True, allow: Sequence[str] = ()) -> SimulatedLaunches:
    """Simulate ordinary launches, ``kernel[grid, block](A, B, C)``, where no GPU is.

    ``cuda.to_device``, streams, events and the like work on arrays of this machine, and a decorator with a signature
    compiles nothing. Kernels that were decorated before are simulated, too; names as in ``from numba.cuda import
    to_device`` must be imported after this call.

    Args:
        strict: an error in a launch raises KernelError, as in ``simulate``. With ``False`` the ``findings`` of what
            is returned hold what was found, in all launches until the next call.
        allow: kinds of findings that raise nothing, as "race", or "race:KERNEL" for kernels of one name.

    Returns:
        What is true while launches are simulated, with ``findings`` and ``undo()``; a context manager that undoes it at
        the end of its block. Where a GPU is found, or numba's own simulator is on, nothing is changed, and it is false.

    >>> simulated = without_gpu()
    >>> @cuda.jit("void(float32[:])")
    ... def ones(x):
    ...     x[cuda.grid(1)] = 1
    >>> x = np.zeros(4, np.float32)
    >>> ones[1, 4](x)
    >>> x
    array([1., 1., 1., 1.], dtype=float32)
    >>> simulated.undo()
    """
    raising = _ERRORS if strict else frozenset()
    launches = SimulatedLaunches(_reason(), Policy(raising=raising, allow=tuple(allow), has_all=_HAS_ALL))
    if launches._reason:
        return launches
    with _LOCK:
        if _ACTIVE and not _ACTIVE[-1]._entered:
            launches._below = _ACTIVE.pop()
            launches._below._above = launches
        _put_in_force(launches)
    return launches


def run_by(simulates: Simulates) -> None:
    """Let what runs this program simulate its launches; it has put the stand-ins in their places."""
    _RUN.append(simulates)


def _reason() -> str:
    """Return why nothing is to be changed; "" if there is no GPU."""
    if _INSTALLED or _RUN:
        return ""
    known = [name for name in _CUDA if name in sys.modules]
    packages = [name for name in _CUDA if find_spec(name.partition(".")[0]) is not None]
    for name in known or packages[:1]:
        cuda = import_module(name)
        config = getattr(sys.modules.get("numba"), "config", None)
        if name == "numba.cuda" and getattr(config, "ENABLE_CUDASIM", False):
            return f"numba's own simulator is on ({CUDASIM})"
        if cuda.is_available():
            return "there is a GPU"
    return ""


def _put_in_force(launches: SimulatedLaunches) -> None:
    """Let launches be simulated as a call wants it."""
    _ACTIVE.append(launches)
    if not _INSTALLED and not _RUN:
        _INSTALLED.append(without_device(launch, _note))
        put_in_place(_INSTALLED[-1])


def put_in_place(stand_ins: AbstractContextManager[None]) -> None:
    """Enter such a context for as long as the process lives, or until ``__exit__`` is called.

    Python must not leave it when it ends: of the modules that would be restored nothing is left then.
    """
    stand_ins.__enter__()
    if hasattr(ctypes, "pythonapi"):  # not in WebAssembly, where a page ends without an end of Python
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(stand_ins))


def _drop(launches: SimulatedLaunches) -> None:
    """Take one away, and those that came after it; take the stand-ins away with the last."""
    if launches in _ACTIVE:
        del _ACTIVE[_ACTIVE.index(launches) :]
    if not _ACTIVE and _INSTALLED:
        _INSTALLED.pop().__exit__(None, None, None)


def launch(kernel: Any, grid: Any, block: Any, shared_bytes: int, arguments: Sequence[Any]) -> None:
    """Simulate a launch as the latest call of :func:`without_gpu` wants it; without one, as what runs the program."""
    __tracebackhide__ = True
    with _LOCK:
        latest = _ACTIVE[-1]._launches.launch if _ACTIVE else None
    if latest is not None:
        with _ONE_BY_ONE[0]:
            latest(kernel, grid, block, shared_bytes, arguments)
    elif _RUN:
        _RUN[-1](kernel, grid, block, arguments, shared_bytes=shared_bytes)
    else:
        raise LaunchError("launches are simulated no longer: write kernel[grid, block] anew")


def _note(said: str) -> None:
    """Warn of what is told otherwise than by a GPU."""
    warnings.warn(said, stacklevel=3)
