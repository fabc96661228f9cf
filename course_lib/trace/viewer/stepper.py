"""The stepper: a widget that plays a launch in the browser, frame by frame or one statement at a time."""

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

from ...simulator.launch_shape import linear
from ..finding_locations import locate
from ..replay import Timeline
from .fallback import WithFallback
from .page import STEPPER, page
from .payload import encode
from .picture_files import MAX_FRAMES, kind_of, write
from .static_picture import StaticPicture
from .stepper_picture import HINT, PicturedRun, picture
from .words import element, sentence, summary
from .wrong_elements import wrong_elements

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..trace import Trace

#: The panels that a reader can open below the picture; findings are offered if there are any.
PANELS = ("findings", "warp", "banks", "fragments", "waits", "launch")


class Stepper(WithFallback, anywidget.AnyWidget):
    """Step through a launch: matrices, shared memory, registers, source and counts, one statement at a time.

    ``run`` is the result of a launch with ``simulate(kernel, trace=True)``. ``step`` is the number of steps
    that the chosen block has taken, ``block`` and ``thread`` are x, (x, y) or (x, y, z); all three can be set
    from Python and follow what the reader chooses in the browser. ``wanted`` maps the names of arrays to the values
    they should have after the launch: a wrong element is shown with its wanted value. ``panels`` selects the
    views beside arrays and source (default: all): "warp" (lanes and sectors), "banks", "fragments" (the lane that holds
    each element of a tensor core's matrices), "waits" (where warps wait) and "launch" (what the lines of the whole
    launch cost). Findings are always offered. The trace is sent once, so stepping never waits for the kernel.

    ``orders`` maps names to other orders of the statements of block (0, 0, 0), which the view "waits" then offers: for
    each step the cycle at which it ends, and when its warps wait for memory, as ``timing_model.orders`` computes it.

    ``tiles`` maps widths of the tile to launches of the same product, ``run`` among them: a reader drags the border of
    the tile in A, B or C from one width to another. ``tile_width`` is that of the launch that is shown.

    Raises ValueError if a run has no trace, or one that is too large to send, for an unknown array in ``wanted``, an
    unknown panel, an order that is not one of this run, and tiles without ``run``; TraitError for a step, block or
    thread that there is not.

    >>> A, B, C = np.ones((3, 8, 8), np.float32)
    >>> run = simulate(rung("naive").make(), trace=True)[1, (8, 8)](A, B, C)
    >>> stepper = Stepper(run, panels=("warp",), wanted={"C": A @ B})
    >>> stepper.step = 20
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
    statements_of = traitlets.Int(0).tag(sync=True)  # of a comparison, as `compare` says
    _tiles = traitlets.Unicode("").tag(sync=True)
    tile_width = traitlets.Int(0).tag(sync=True)  # of those that a reader may drag

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
        tiles: Mapping[int, Any] | None = None,
    ) -> None:
        """Encode the traces, and check that what they are asked to show is in them."""
        if unknown := [name for name in panels if name not in PANELS]:
            raise ValueError(f"There is no panel {unknown[0]!r}; choose from {', '.join(PANELS)}.")
        data = _payload(run)
        self._runs_by_width: dict[int, Any] = {}
        self._run, self._wrong = run, wrong_elements(run.trace, wanted or {})
        self._other_run: Any = None  # the run to compare with
        super().__init__(_data=data, _wanted=json.dumps(self._wrong) if self._wrong else "", panels=tuple(panels))
        self._offer_orders(orders or {})
        self._runs_by_width = dict(tiles or {})
        if self._runs_by_width:
            if not any(each is run for each in self._runs_by_width.values()):
                raise ValueError(
                    f"None of the tiles {', '.join(map(str, self._runs_by_width))} has the run that is shown."
                )
            self._tiles = json.dumps({width: _payload(each) for width, each in sorted(self._runs_by_width.items())})
            self.tile_width = next(width for width, each in self._runs_by_width.items() if each is run)
        self.block, self.thread = (tuple(np.atleast_1d(place).tolist()) for place in (block, thread))
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
            self._run, self._wrong, self._other_run = run, {}, None
            self.step = self.statements_of = 0
            self._wanted = self._other = self._orders = self._tiles = ""
            self._runs_by_width, self.tile_width = {}, 0
            self.block, self.thread = at, who
            self.step = min(step, len(self.timeline))
            self._data = data

    @traitlets.validate("tile_width")
    def _valid_width(self, proposal: dict[str, Any]) -> int:
        if self._runs_by_width and proposal["value"] not in self._runs_by_width:
            offered = ", ".join(map(str, self._runs_by_width))
            raise traitlets.TraitError(f"There is no launch with a tile width of {proposal['value']}: {offered}.")
        return int(proposal["value"])

    @traitlets.observe("tile_width")
    def _show_width(self, change: object) -> None:
        """Show the launch with this width; the block and the thread stay, if it has them."""
        if (run := self._runs_by_width.get(self.tile_width)) is None or run is self._run:
            return
        with self.hold_sync():
            self._run, self.step = run, 0
            for name, shape in (("block", run.trace.grid), ("thread", run.trace.block)):
                setattr(self, name, tuple(min(i, n - 1) for i, n in zip(getattr(self, name), shape, strict=True)))

    @property
    def trace(self) -> Trace:
        """The trace of the run that is shown."""
        trace: Trace = self._run.trace
        return trace

    @property
    def timeline(self) -> Timeline:
        """The steps of the chosen block."""
        return Timeline.of(self.trace, self.block)

    @traitlets.validate("block", "thread")
    def _valid_place(self, proposal: dict[str, Any]) -> tuple[int, ...]:
        name = proposal["trait"].name
        position = proposal["value"] + (0,) * (3 - len(proposal["value"]))
        extent = self.trace.grid if name == "block" else self.trace.block
        if len(position) > 3 or not all(x in range(n) for x, n in zip(position, extent, strict=True)):
            raise traitlets.TraitError(f"There is no {name} {proposal['value']}: the launch has {extent}.")
        return tuple(map(int, position))

    @traitlets.validate("statements_of")
    def _valid_run_of_statements(self, proposal: dict[str, Any]) -> int:
        last = 0 if self._other_run is None else 2
        if not 0 <= proposal["value"] <= last:
            runs = "compares two runs" if last else "shows one run, whose statements are always its steps"
            raise traitlets.TraitError(f"There are no statements of run {proposal['value']}: this stepper {runs}.")
        return int(proposal["value"])

    @traitlets.validate("step")
    def _valid_step(self, proposal: dict[str, Any]) -> int:
        last = self._last  # of a comparison the browser knows the common steps; there are no more of them
        if not 0 <= proposal["value"] <= last:
            raise traitlets.TraitError(f"There is no step {proposal['value']}: block {self.block} takes {last}.")
        return int(proposal["value"])

    @property
    def _last(self) -> int:
        """The largest step that there may be."""
        if self.statements_of == 2:  # the browser knows which block of the second run belongs to the chosen one
            trace = self._other_run.trace
            return max(len(Timeline.of(trace, tuple(at))) for at in trace.columns.blocks.tolist())
        return len(self.timeline)

    @property
    def _statement(self) -> tuple[int, int]:
        """The chosen step as a statement of the first run and of the second; 0 where it is none of this run."""
        if self._other_run is None:
            return self.step, 0
        return self.step * (self.statements_of == 1), self.step * (self.statements_of == 2)

    @traitlets.observe("block", "thread")
    def _limit_step(self, change: object) -> None:
        self.step = min(self.step, self._last)

    def _described(self) -> PicturedRun:
        """What the text tells of: the chosen step, the first one that breaks a rule, or a telling one."""
        timeline, thread, step = self.timeline, linear(self.thread, self.trace.block), self._statement[0]
        if not step and not thread and self.block == (0, 0, 0):
            for found in filter(None, (locate(self.trace, finding) for finding in self.trace.findings)):
                block = found[0].block
                return self._at_step(Timeline.of(self.trace, block), *(at[1:] for at in found if at.block == block))
        return self._at_step(timeline, (step or timeline.representative_step(thread), thread))

    def _pictured_runs(self, step: int | None = None) -> list[PicturedRun]:
        """What the static picture shows: the animation, or a step that somebody chose, or that breaks a rule."""
        if self._other_run is not None:
            return [PicturedRun(self.timeline), PicturedRun(Timeline.of(self._other_run.trace, (0, 0, 0)))]
        if step:
            return [self._at_step(self.timeline, (step, linear(self.thread, self.trace.block)))]
        if step is None and (self.step or self.trace.findings):
            return [self._described()]
        return [PicturedRun(self.timeline)]

    def _at_step(self, timeline: Timeline, *places: tuple[int, int]) -> PicturedRun:
        """Tell of the places, and of the findings and wrong values of the first one's step and threads."""
        position, who = places[0][0], [thread for at, thread in places if at == places[0][0]]
        notes = [
            str(finding)
            for finding in self.trace.findings
            if any((at.block, at.position) == (timeline.block, position) for at in locate(self.trace, finding))
        ]
        for name, elements in self._wrong.items():
            accesses = timeline.accesses(name)
            now = accesses.between(position - 1, position)
            mine = accesses.store[now] & np.isin(accesses.thread[now], who)
            for flat in np.unique(accesses.element[now][mine]).tolist():
                if str(flat) in elements:
                    holds, wanted = elements[str(flat)]
                    place = element(name, flat, self.trace.arrays[name].shape)
                    notes.append(f"{place} holds {holds} in the end, and {wanted} was wanted.")
        return PicturedRun(timeline, position, places, tuple(notes))

    def picture(self, step: int | None = None, *, hint: str = HINT) -> StaticPicture:
        """Draw a few of the animation's frames, or the step that is chosen or given; ``hint`` is written below it.

        A run that breaks a rule is drawn at the first step that does, with the threads that take part.
        """
        return picture(self._pictured_runs(step), hint)

    def save(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Write the stepper as a separate page, at the current step; return the page's path.

        The page needs no kernel, no network and no other file.
        """
        file = pathlib.Path(path)
        title = f"{' beside '.join(trace.kernel_name for trace in self._traces)}, step by step"
        fallback = self.picture(hint="")._repr_html_()
        file.write_text(page(title, self.get_state(), fallback), encoding="utf-8")
        return file

    def save_picture(
        self, path: str | os.PathLike[str], step: int | Iterable[int] | None = None, *, seconds: float = 1.0
    ) -> pathlib.Path:
        """Write a picture of a step, for a slide or a handout; return its path.

        The path ends in .png, .svg or .gif. Without ``step`` it is that of :meth:`picture`, and a GIF has the ends of
        the animation's frames; of a GIF ``step`` may be several, as ``range(8, 24)``, and each is shown for
        ``seconds``. Raises ValueError for another kind of file, for several steps in a PNG or an SVG, for too many in a
        GIF, and for a step or a time that there is not.
        """
        steps = list(islice(step, MAX_FRAMES + 1)) if isinstance(step, Iterable) else [step]
        if steps == [None] and str(path).lower().endswith(".gif"):
            animation = self.timeline.animation
            steps = [int(animation.order[end - 1]) + 1 for _, end in animation.frames][:MAX_FRAMES]
        kind_of(path, len(steps))
        last = len(self.timeline)
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

    def _offer_orders(self, *orders: Mapping[str, Sequence[int]]) -> None:
        """Offer other orders of each run's statements."""
        of_runs = [
            _encoded(each, Timeline.of(trace, (0, 0, 0))) for each, trace in zip(orders, self._traces, strict=True)
        ]
        self._orders = json.dumps(of_runs) if any(of_runs) else ""

    @property
    def _traces(self) -> list[Trace]:
        """The trace of the run, and of the one beside it."""
        return [self.trace, *([self._other_run.trace] if self._other_run is not None else [])]

    def __repr__(self) -> str:
        view = self._described()
        said = sentence(view.timeline, *view.places[0])
        lines = [f"step {view.position} of {len(view.timeline)}: {said}", *view.notes]
        texts = ["\n".join([summary(self.trace), *lines])]
        for trace in self._traces[1:]:
            other = Timeline.of(trace, (0, 0, 0))
            position = self._statement[1]
            position = position if 0 < position <= len(other) else other.representative_step(0)
            texts.append(f"{summary(trace)}\nstep {position} of {len(other)}: {sentence(other, position, 0)}")
        return "\n\n".join(texts)


def _encoded(orders: Mapping[str, Sequence[int]], timeline: Timeline) -> list[list[Any]]:
    for name, cycles in orders.items():
        each = np.asarray(cycles)
        if each.shape != (len(timeline),):
            raise ValueError(f"The order {name!r} has {each.size} cycles; block (0, 0, 0) takes {len(timeline)} steps.")
        if any((np.diff(each[timeline.warps == warp], prepend=0) < 0).any() for warp in np.unique(timeline.warps)):
            raise ValueError(f"The order {name!r} ends a statement before the one before it in the same warp.")
    return [[name, np.asarray(each).tolist(), getattr(each, "waits", ())] for name, each in orders.items()]


def _payload(run: Any) -> str:
    if getattr(run, "trace", None) is None:
        raise ValueError("This run has no trace. Launch it with simulate(kernel, trace=True)[grid, block](...).")
    return encode(run.trace)


def compare(
    run: Any,
    other: Any,
    *,
    step: int = 0,
    statements_of: int = 0,
    block: Sequence[int] = (0, 0),
    panels: Sequence[str] = PANELS,
    orders: Sequence[Mapping[str, Sequence[int]]] = ({}, {}),
) -> Stepper:
    """Return a stepper that plays two launches side by side: naive and tiled, or with and without padding.

    A step is one multiply-add of the element of C that the chosen thread computes first, whichever block and thread of
    the second launch compute it, so both show the same k and the same partial sum. Where nothing is multiplied, it is
    an iteration of the innermost loops. With ``statements_of`` 1 or 2 a step is a statement of that launch, and the
    other one is shown after the same multiply-add. ``block`` is the first launch's; ``panels`` are those of Stepper,
    ``orders`` those of the first launch and of the second, by the same names. Raises ValueError as it does. The static
    picture and the text show both.

    >>> A, B, C = np.ones((3, 16, 16), np.float32)
    >>> runs = [simulate(rung(name).make(), trace=True)[1, (16, 16)](A, B, C) for name in ("naive", "tiled")]
    >>> both = compare(*runs, step=5)
    """
    data = _payload(other)
    if len({tuple(each) for each in orders}) != 1 or len(orders) != 2:
        raise ValueError(f"orders are two tables with the same names, not {', '.join(str([*each]) for each in orders)}")
    stepper = Stepper(run, block=block, panels=panels)
    stepper._other, stepper._other_run = data, other
    stepper._offer_orders(*orders)
    stepper.statements_of = statements_of
    stepper.step = step
    return stepper
