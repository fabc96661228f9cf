"""The stepper: a widget that steps through a launch in the browser, one executed statement at a time."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any

import anywidget
import numpy as np
import traitlets

from ..locate import locate
from ..replay import Timeline
from .alignment import MATCHES, Alignment, partner, result_of
from .files import MAX_FRAMES, kind_of, write
from .layout import HINT
from .page import STEPPER, page
from .payload import encode
from .picture import StillPicture
from .results import WrongElements, wrong_elements
from .scene import PANELS, Scene
from .still import HTML, Still
from .words import summary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..trace import Dim3, Trace


class Stepper(Still, anywidget.AnyWidget):
    """Step through a launch: matrices, shared memory, registers, source and counts, one statement at a time.

    ``run`` is the result of a launch with ``simulate(kernel, trace=True)``. ``step`` is the number of steps
    that the chosen block has taken, ``block`` and ``thread`` are (x, y) or (x, y, z); all three can be set
    from Python and follow what the reader chooses in the browser. ``wanted`` maps the names of arrays to the values
    they should have after the launch: a wrong element is shown with its wanted value. ``panels`` selects the
    views beside arrays and source (default: all): "warp" (lanes and sectors), "banks", "fragments" (the lane that holds
    each element of a tensor core's matrices), "waits" (where warps wait) and "launch" (what the lines of the whole
    launch cost). Findings are always offered. The trace is sent once, so stepping never waits for the kernel.

    ``orders`` maps names to other orders of the statements of block (0, 0, 0), which the view "waits" then offers: for
    each step the cycle at which it ends, as ``waiting.orders`` computes it.

    Raises ValueError if the run has no trace, or one that is too large to send, for an unknown array in ``wanted``, an
    unknown panel, and an order that is not one of this run.
    """

    # as text: of a path, anywidget keeps each widget for changes of the file
    _esm = STEPPER.read("js")
    _css = STEPPER.read("css")
    _data = traitlets.Unicode().tag(sync=True)
    _other = traitlets.Unicode("").tag(sync=True)
    _wanted = traitlets.Unicode("").tag(sync=True)
    _orders = traitlets.Unicode("").tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    block = traitlets.Tuple(default_value=(0, 0, 0)).tag(sync=True)
    thread = traitlets.Tuple(default_value=(0, 0, 0)).tag(sync=True)
    panel = traitlets.Unicode("").tag(sync=True)
    panels = traitlets.Tuple(default_value=PANELS).tag(sync=True)
    text_size = traitlets.Float(1.0).tag(sync=True)
    match = traitlets.Enum(MATCHES, "statement").tag(sync=True)

    def __init__(
        self,
        run: Any,
        *,
        step: int = 0,
        block: Sequence[int] = (0, 0),
        thread: Sequence[int] = (0, 0),
        wanted: Mapping[str, np.ndarray] | None = None,
        panels: Sequence[str] = PANELS,
        orders: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        if unknown := [name for name in panels if name not in PANELS]:
            raise ValueError(f"There is no panel {unknown[0]!r}; choose from {', '.join(PANELS)}.")
        data = _payload(run)
        self._run, self._wrong = run, wrong_elements(run.trace, wanted or {})
        self._beside: Any = None  # the run to compare with
        super().__init__(_data=data, _wanted=json.dumps(self._wrong) if self._wrong else "", panels=tuple(panels))
        self._orders = _encoded(orders, Timeline(self.trace, (0, 0, 0))) if orders else ""
        self.block, self.thread = tuple(block), tuple(thread)
        self.step = step

    @property
    def run(self) -> Any:
        """The run that is shown. Assign another one to replace it; the stepper then starts again at step 0."""
        return self._run

    @run.setter
    def run(self, run: Any) -> None:
        self.replace(run, step=0, block=(0, 0, 0), thread=(0, 0, 0))

    def replace(
        self, run: Any, *, step: int | None = None, block: Sequence[int] = (), thread: Sequence[int] = ()
    ) -> None:
        """Show another run at the given step, block and thread; by default the present ones, if the run has them."""
        data, step = _payload(run), self.step if step is None else step
        trace = run.trace
        at, who = (
            tuple(min(i, n - 1) for i, n in zip(place, shape, strict=False))
            for place, shape in ((block or self.block, trace.grid), (thread or self.thread, trace.block))
        )
        with self.hold_sync():
            self._run, self._wrong, self._beside = run, {}, None
            self.step = 0
            self._wanted = self._other = self._orders = ""
            self.match = "statement"
            self.block, self.thread = at, who
            self.step = min(step, len(self.timeline))
            self._data = data

    @property
    def trace(self) -> Trace:
        """The trace of the run that is shown."""
        trace: Trace = self._run.trace
        return trace

    @property
    def timeline(self) -> Timeline:
        """The steps of the chosen block."""
        return Timeline(self.trace, self.block)

    @traitlets.validate("block", "thread")
    def _inside(self, proposal: dict[str, Any]) -> tuple[int, ...]:
        name = proposal["trait"].name
        position = tuple(int(x) for x in proposal["value"])
        position += (0,) * (3 - len(position))
        extent = self.trace.grid if name == "block" else self.trace.block
        if len(position) > 3 or not all(0 <= x < n for x, n in zip(position, extent, strict=True)):
            raise traitlets.TraitError(f"There is no {name} {proposal['value']}: the launch has {extent}.")
        return position

    @traitlets.validate("step")
    def _in_time(self, proposal: dict[str, Any]) -> int:
        last = self._alignment().last
        if not 0 <= proposal["value"] <= last:
            raise traitlets.TraitError(f"There is no step {proposal['value']}: block {self.block} takes {last}.")
        return int(proposal["value"])

    @traitlets.observe("block", "thread", "match")
    def _not_beyond_its_end(self, change: object) -> None:
        self.step = min(self.step, self._alignment().last)

    def _chosen(self, block: Dim3, thread: int) -> list[tuple[Timeline, int]]:
        """A block and a thread of the first launch, and those of the second that belong to them."""
        chosen = [(Timeline(self.trace, block), thread)]
        if self._beside is not None:
            other = self._beside.trace
            number = self.trace.columns.blocks.tolist().index(list(block))
            number, thread = partner(self.trace, other, number, thread, self.match)
            chosen.append((Timeline(other, tuple(other.columns.blocks[number].tolist())), thread))
        return chosen

    def _alignment(self) -> Alignment:
        """The steps of the launch, or the common steps of both."""
        return Alignment(self._chosen(self.block, self._linear_thread()), self.match)

    def scene(self, step: int | None = None) -> Scene:
        """The contents of the viewer at a step: by default the current one, or, at step 0, an instructive one.

        That is the first finding, if there is one; else the middle of the chosen thread's reads.
        """
        return self._scenes(step)[0]

    def _scenes(self, step: int | None = None) -> list[Scene]:
        """The scene of each launch at the same step."""
        block, thread, position = self.block, self._linear_thread(), None
        if step is None and not self.step:
            position = self.timeline.telling_step(thread)
            places = (place for finding in self.trace.findings for place in locate(self.trace, finding)[:1])
            if not thread and block == (0, 0, 0):
                block, position, thread = next(places, (block, position, thread))
        chosen = self._chosen(block, thread)
        alignment = Alignment(chosen, self.match)
        common = alignment.step(position) if position is not None else self.step if step is None else step
        wrongs: tuple[WrongElements, ...] = (self._wrong, {})
        return [
            Scene(timeline, at, who, wrong, self.panels)
            for (timeline, who), at, wrong in zip(chosen, alignment.positions(common), wrongs, strict=False)
        ]

    def picture(self, step: int | None = None, *, hint: str = HINT) -> StillPicture:
        """Draw the step of :meth:`scene`, in a comparison with the other run's below it; ``hint`` is written on it."""
        first, *other = self._scenes(step)
        return StillPicture(first, next(iter(other), None), hint)

    def save(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Write the stepper as a separate page, at the current step; return the page's path.

        The page needs no kernel, no network and no other file.
        """
        file = pathlib.Path(path)
        title = f"{' beside '.join(scene.trace.kernel_name for scene in self._scenes(None))}, step by step"
        still = self.picture(hint="")._repr_html_()
        file.write_text(page(title, self.get_state(), still), encoding="utf-8")
        return file

    def save_picture(
        self, path: str | os.PathLike[str], step: int | Iterable[int] | None = None, *, seconds: float = 1.0
    ) -> pathlib.Path:
        """Write a picture of a step, for a slide or a handout; return its path.

        The path ends in .png, .svg or .gif. ``step`` is by default that of :meth:`scene`; of a GIF it may be several,
        as ``range(8, 24)``, and each is shown for ``seconds``. Raises ValueError for another kind of file, for several
        steps in a PNG or an SVG, for too many in a GIF, and for a step or a time that there is not.
        """
        steps = list(islice(step, MAX_FRAMES + 1)) if isinstance(step, Iterable) else [step]
        kind_of(path, len(steps))
        last = self._alignment().last
        wrong = [
            each
            for each in steps
            if each is not None and not (isinstance(each, int | np.integer) and 0 <= each <= last)
        ]
        if wrong:
            raise ValueError(f"There is no step {wrong[0]}: block {self.block} takes {last}.")
        if not 0.02 <= seconds <= 60:
            raise ValueError(f"A frame cannot be shown for {seconds} seconds: choose from 0.02 to 60.")
        return write([self.picture(each, hint="") for each in steps], path, seconds)

    def _linear_thread(self) -> int:
        (x, y, z), (bx, by, _) = self.thread, self.trace.block
        return int(x + bx * (y + by * z))

    def __repr__(self) -> str:
        return "\n\n".join(
            "\n".join(
                [
                    summary(each.trace),
                    each.told,
                    *each.wrong_now,
                    *(exchange.says for exchange in each.exchanges_told),
                    *each.matrices_told,
                ]
            )
            for each in self._scenes()
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the widget, and the picture and text for readers who have not run the notebook."""
        data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        return data | {"text/plain": repr(self), HTML: self.picture()._repr_html_()}, metadata


def _encoded(orders: Mapping[str, Sequence[int]], timeline: Timeline) -> str:
    for name, cycles in orders.items():
        each = np.asarray(cycles)
        if each.shape != (len(timeline),):
            raise ValueError(f"The order {name!r} has {each.size} cycles; block (0, 0, 0) takes {len(timeline)} steps.")
        if any((np.diff(each[timeline.warps == warp], prepend=0) < 0).any() for warp in np.unique(timeline.warps)):
            raise ValueError(f"The order {name!r} ends a statement before the one before it in the same warp.")
    return json.dumps([[name, np.asarray(cycles).tolist()] for name, cycles in orders.items()])


def _payload(run: Any) -> str:
    if getattr(run, "trace", None) is None:
        raise ValueError("This run has no trace. Launch it with simulate(kernel, trace=True)[grid, block](...).")
    return encode(run.trace)


def compare(
    run: Any,
    other: Any,
    *,
    match: str = "statement",
    step: int = 0,
    block: Sequence[int] = (0, 0),
    panels: Sequence[str] = PANELS,
) -> Stepper:
    """Return a stepper that steps through two launches side by side: naive and tiled, or with and without padding.

    ``match`` says what the launches do at the same time, for the chosen thread: the n-th "statement" of each, the n-th
    "iteration" of their innermost loops, the n-th "outer iteration", the n-th "phase" of a kind (load, compute, store,
    barrier), or the store of the same "element" of C = A·B, whichever block and thread of the second compute it. A
    launch that is there first waits, so a ``step`` is one of the comparison. ``block`` and ``thread`` are the first
    launch's; the second's are the same, as far as it has them. The still picture and the text show both. ``panels`` are
    those of Stepper; raises ValueError as it does, for an unknown ``match``, and for "element" without a common C.
    """
    data = _payload(other)
    stepper = Stepper(run, panels=panels)
    if match not in MATCHES:
        raise ValueError(f"Launches cannot be matched by {match!r}; choose from {', '.join(MATCHES)}.")
    results = [each.arrays[name].shape if (name := result_of(each)) else None for each in (run.trace, other.trace)]
    if match == "element" and (results[0] is None or results[0] != results[1]):
        raise ValueError(
            "The launches compute no C = A·B of one shape: match them by another of " + f"{', '.join(MATCHES[:-1])}."
        )
    stepper._other, stepper._beside = data, other
    stepper.match, stepper.block = match, tuple(block)
    stepper.step = step
    return stepper
