"""The launches of a program: each is simulated, and what is found in any of them is kept.

Findings are merged by kernel and line. A :class:`LaunchHandler` may say more of a launch than its findings. It is asked
once for launches that are alike: of one kernel (`kernel_key`), of arguments of the same types, shapes and numbers, in
which the same was found.
"""

import dis
import hashlib
import linecache
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, Protocol

import numpy as np

from ...simulator.findings import KINDS, Finding, KernelError, SimulatorError
from ...simulator.formatting import plural
from ...simulator.language.source.reading import python_function
from ...simulator.launch.prepare import prepare
from ...simulator.simulation import error_text
from ..machine_code.identity import functions_of, kernel_key
from ..simulated_launch import Simulated, iterations, simulated

#: Launches that get a verdict of their own; later ones get one if their kernel is new, or what is found in them.
MAX_VERDICTS = 20
_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))
#: Findings of threads that end in an exception.
_ENDS = ("failed-assertion", "raised-exception")
#: Modules between a program and the launches that it makes.
_OURS = __name__.rpartition(".")[0]


class Fault(Protocol):
    """What is found in a launch: a Finding, or what a handler adds to these."""

    @property
    def key(self) -> Hashable:
        """What those share that are told once: of one kind, in the same lines, of the same array."""


@dataclass(frozen=True)
class Unfinished:
    """A launch that had to stop, as in a loop that never ends, in this line of the kernel."""

    line: int
    message: str

    @property
    def key(self) -> Hashable:
        """What those of several launches share: the line."""
        return "unfinished", self.line

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Policy:
    """What a launch raises in the program.

    Attributes:
        goes_on: nothing, also where a launch is refused or had to stop; else these raise what `simulate` raises.
        raising: kinds of findings that raise KernelError, too.
        allow: those of these that do not, as :func:`accepted` takes them.
        has_all: who has all findings of a launch, in words.
    """

    goes_on: bool = False
    raising: frozenset[str] = frozenset()
    allow: tuple[str, ...] = ()
    has_all: str = "all are told at the end of the program"


class LaunchHandler:
    """What a command says of a launch: here its findings alone. It is pickled, and copied for each process."""

    def needs_arguments(self, kernel: Any) -> bool:
        """Whether it looks at the arguments as they were before a launch of this kernel: here, if it has a loop."""
        return any(has_loop(function.__code__) for function in functions_of(python_function(kernel)).values())

    def problems(self, launch: Simulated) -> Sequence[Fault]:
        """Return what is wrong with a launch that was simulated."""
        stopped = [Unfinished(launch.stopped.line or 0, launch.failed)] if launch.stopped else []
        return [*launch.run.findings, *stopped]

    def within(self, launch: Simulated, problem: Fault) -> str:
        """Return in which iterations of a loop the accesses of a race are; "" for all else."""
        return iterations(launch, problem) if isinstance(problem, Finding) and problem.kind == "race" else ""

    def preliminary_report(self, launch: Simulated) -> Any:
        """Return what is known of a launch at once, before the costly part: a program may be stopped there."""
        return launch.run.heading()

    def full_report(self, launch: Simulated, number: int) -> Any:
        """Return all that is said of a launch, the how manyth with a verdict of its own; None if that is no more."""
        return None


@dataclass(frozen=True)
class LaunchPlace:
    """Which launch of a program this is: the how manyth, from 1, in which line, and of which arguments."""

    number: int
    file: str
    line: int
    arguments: str

    def in_words(self, script: str) -> str:
        """Return the launch in words for a reader of ``script``."""
        file = f"{Path(self.file).name}, " if self.file != script else ""
        where = f", in {file}line {self.line}" if self.line else ""
        return f"launch {self.number}{where}: {self.arguments or 'no arguments'}"


#: The text of a kernel, which those of one factory share: its file, its name, its line, and a digest of its code.
Code = tuple[str, str, int, str]


@dataclass
class Found:
    """What was found in ``launches`` launches of kernels of one ``code``, as ``first`` has it.

    ``within``: of a race in a loop, the iterations in which the two accesses are, in words.
    """

    code: Code
    problem: Fault
    first: LaunchPlace
    launches: int = 1
    within: str = ""
    text: str = ""  # of the line: another process does not know a cell, or a text that was executed

    def __post_init__(self) -> None:
        self.text = self.text or linecache.getline(self.code[0], getattr(self.problem, "line", 0)).strip()


@dataclass
class ScriptLaunch:
    """Launches of a script that are alike: the ``first``, and how many ``times`` it makes such a one.

    ``name`` is the kernel's, and ``verdict`` what the handler says. It is None if the kernel or its launch is
    ``refused``, with the reason, and if the program ended before the launch did: ``stopped`` then has the kernel, grid
    and block in words.
    """

    name: str
    code: Code
    first: LaunchPlace
    verdict: Any = None
    refused: str = ""
    times: int = 1
    stopped: str = ""


#: Simulates a launch, as :func:`simulated` does; None if it is refused, and what it is part of goes on.
Simulates = Callable[..., Simulated | None]


@dataclass
class Launches:
    """The launches that a program makes, in order.

    Attributes:
        handler: says more of a launch than its findings.
        policy: what a launch raises.
        max_steps: as `simulate` takes it.
        simulates: simulates a launch.
        every: a ScriptLaunch for each that has a verdict of its own.
        found: what was found in any of them, by the kernel's code and its own `key`.
        number: how many launches there were; of these, ``more`` have no verdict of their own, and ``refused`` were
            not simulated.
        begins: is called with each launch before it is simulated, with its grid and block.
        keeps: is called when a launch is known, before the costly parts of its profile.
    """

    handler: LaunchHandler = field(default_factory=LaunchHandler)
    policy: Policy = field(default_factory=Policy)
    max_steps: int | None = None
    simulates: Simulates = field(default=simulated, repr=False)
    every: list[ScriptLaunch] = field(default_factory=list)
    found: dict[tuple[Code, Hashable], Found] = field(default_factory=dict)
    number: int = 0
    more: int = 0
    refused: int = 0
    begins: Callable[[ScriptLaunch, Any, Any], None] = field(default=lambda launch, grid, block: None, repr=False)
    keeps: Callable[[], None] = field(default=lambda: None, repr=False)
    _seen: set[Hashable] = field(default_factory=set, repr=False)
    _alike: dict[Hashable, ScriptLaunch] = field(default_factory=dict, repr=False)
    _needing: dict[Hashable, bool] = field(default_factory=dict, repr=False)
    _refused: dict[Hashable, tuple[ScriptLaunch, SimulatorError]] = field(default_factory=dict, repr=False)

    def launch(
        self, kernel: Any, grid: Any, block: Any, shared_bytes: int, arguments: Sequence[Any]
    ) -> Simulated | None:
        """Simulate a launch, and keep what is found; return it, or None if it is refused and the program goes on."""
        __tracebackhide__ = True
        try:
            launch = self._simulated(kernel, grid, block, shared_bytes, arguments)
        except SimulatorError as error:
            if self.policy.goes_on:
                return None
            raise error.with_traceback(None) from None
        if launch is None:
            return None
        if self.policy.goes_on:
            return launch
        if launch.stopped:
            raise launch.stopped.with_traceback(None)
        name = python_function(kernel).__code__.co_name
        allow = self.policy.allow
        found = [each for each in launch.run.findings if each.kind not in _ENDS or launch.run.exception is None]
        errors = tuple(each for each in found if each.kind in self.policy.raising)
        errors = tuple(each for each in errors if not accepted(allow, each.kind, name))
        if errors:
            text = error_text(launch.run.kernel_name, errors, launch.run.source.lines, self.policy.has_all)
            raise KernelError(text, errors, launch.run)
        if launch.run.exception is not None:
            raise launch.run.exception
        return launch

    def _problems(self, launch: Simulated) -> list[Fault]:
        """Return what is wrong with a launch, but for exceptions that it raises in the program, as on a GPU."""
        problems = self.handler.problems(launch)
        if self.policy.goes_on or (launch.run.exception is None and not isinstance(launch.stopped, ZeroDivisionError)):
            return [*problems]
        return [
            each for each in problems if not isinstance(each, Unfinished) and getattr(each, "kind", "") not in _ENDS
        ]

    def _simulated(
        self, kernel: Any, grid: Any, block: Any, shared_bytes: int, arguments: Sequence[Any]
    ) -> Simulated | None:
        """Simulate a launch, and keep what is found, or why it is refused; that is raised, too."""
        function = python_function(kernel)
        self.number += 1
        place = LaunchPlace(self.number, *_caller(), described(function, arguments))
        shape = kernel_key(kernel), repr((grid, block)), shared_bytes, _types(arguments), _shared(arguments)
        if shape in self._refused:
            known, raised = self._refused[shape]
            known.times += 1
            self.refused += 1
            raise raised
        own = ScriptLaunch(function.__name__, code_of(function), place)
        self.begins(own, grid, block)
        try:
            settings: Any = {"shared_bytes": shared_bytes, "max_steps": self.max_steps}
            copies = self._needs_arguments(shape[0], kernel)
            launch = self.simulates(kernel, grid, block, arguments, copies=copies, **settings)
        except BaseException as error:
            self.refused += 1
            refusal = error if isinstance(error, SimulatorError) else None
            own.refused = refusal.without_option() if refusal else f"{type(error).__name__}: {error}"
            line = refusal.line if refusal else None
            alike, _ = self._known(own, shape, {("refused", type(error), line): own.refused})
            if refusal and alike is not None and _is_refused(kernel, grid, block, shared_bytes, arguments):
                self._refused[shape] = alike, refusal
            raise
        if launch is None:
            return None
        problems = self._problems(launch)
        keys: dict[Hashable, str] = {problem.key: "" for problem in problems}
        keys |= {("failed", launch.failed): ""} if launch.failed else {}
        _, new = self._known(own, shape, keys)
        for problem in problems:
            if (own.code, problem.key) not in self.found:
                found = Found(own.code, problem, place, 0, self.handler.within(launch, problem))
                self.found[own.code, problem.key] = found
            self.found[own.code, problem.key].launches += 1
        if new:
            own.verdict = self.handler.preliminary_report(launch)
            self.keeps()
            own.verdict = self.handler.full_report(launch, len(self.every)) or own.verdict
        return launch

    def _needs_arguments(self, key: Hashable, kernel: Any) -> bool:
        """Whether the handler needs the arguments of a kernel, by its `kernel_key`, as they were before a launch."""
        if key not in self._needing:
            self._needing[key] = self.handler.needs_arguments(kernel)
        return self._needing[key]

    def _known(
        self, own: ScriptLaunch, shape: Hashable, keys: Mapping[Hashable, str]
    ) -> tuple[ScriptLaunch | None, bool]:
        """Return the launches to which one belongs, itself if it is new, and whether it is; None if it is left out."""
        alike = shape, frozenset(keys.items())
        known = self._alike.get(alike)
        if known is not None:
            known.times += 1
            return known, False
        new = {own.code, *((own.code, key) for key in keys)}
        if len(self.every) >= MAX_VERDICTS and new <= self._seen:
            self.more += 1
            return None, False
        self._alike[alike] = own
        self._seen |= new
        self.every.append(own)
        return own, True


def has_loop(code: CodeType) -> bool:
    """Whether the code of a function has a jump back."""
    return any(
        isinstance(each.argval, int) and each.argval <= each.offset
        for each in dis.get_instructions(code)
        if each.opcode in _JUMPS
    )


def failing(warnings: bool) -> frozenset[str]:
    """Return the kinds of findings by which a program fails: those that may change values, or, with warnings, all."""
    return frozenset(kind for kind in KINDS if warnings or KINDS[kind].values)


def accepted(allow: Sequence[str], kind: str, kernel: str) -> str:
    """Return the word of ``allow`` that accepts a kind in a kernel: the kind, or ``kind:kernel``; "" if none does."""
    return next((each for each in (kind, f"{kind}:{kernel}") if each in allow), "")


def code_of(function: FunctionType) -> Code:
    """Return what identifies the text of a function: two texts that are executed may have one name and place."""
    code = function.__code__
    parts = code.co_code, code.co_names, [each for each in code.co_consts if not isinstance(each, CodeType)]
    return code.co_filename, code.co_name, code.co_firstlineno, hashlib.sha256(repr(parts).encode()).hexdigest()


def described(function: FunctionType, arguments: Sequence[Any]) -> str:
    """Return the arguments of a function in words: ``x float32[32, 8], n=5``."""
    own = function.__code__.co_varnames[: min(function.__code__.co_argcount, len(arguments))]
    names = [*own, *(f"argument {n}" for n in range(len(own) + 1, len(arguments) + 1))]
    return ", ".join(_described(name, value) for name, value in zip(names, arguments, strict=True))


def _described(name: str, value: Any) -> str:
    if _is_array(value):
        kind = f"record({', '.join(value.dtype.names)})" if value.dtype.names else value.dtype
        return f"{name} {kind}[{', '.join(map(str, value.shape))}]"
    if isinstance(value, tuple):
        return f"{name} {plural(len(value), 'item')}"
    return f"{name}={value}"


def _types(value: Any) -> Hashable:
    """Return what launches of the same types, shapes and numbers share of an argument, or of all."""
    if isinstance(value, tuple | list):
        return type(value), *map(_types, value)
    if _is_array(value):
        writeable = value.flags.writeable if isinstance(value, np.ndarray) else True
        return type(value), value.dtype.str, value.shape, value.strides, writeable
    return type(value), repr(value)


def _is_array(value: Any) -> bool:
    """Whether this is an array, of the host or of a device."""
    return all(hasattr(value, name) for name in ("dtype", "shape", "strides")) and not isinstance(value, np.generic)


def _shared(arguments: Sequence[Any]) -> Hashable:
    """Return which of the arrays share memory."""
    arrays = [getattr(value, "values", value) for value in arguments if _is_array(value)]
    return tuple(
        (i, j) for i, one in enumerate(arrays) for j, other in enumerate(arrays[:i]) if np.may_share_memory(one, other)
    )


def _is_refused(kernel: Any, grid: Any, block: Any, shared_bytes: int, arguments: Sequence[Any]) -> bool:
    """Whether a launch is refused before it begins, whatever its arrays hold."""
    try:
        prepare(kernel, grid, block, arguments, shared_bytes)
    except SimulatorError:
        return True
    return False


def _caller() -> tuple[str, int]:
    """Return the file and the line of the program that makes a launch."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(_OURS):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)
