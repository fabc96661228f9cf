"""The verdict of check(): ticks, crosses and grey rings, the student's own lines, the first hint, and the viewer."""

import html
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...simulator.formatting import as_code
from ...trace.notebook_outputs import VIEW
from ...trace.palette import COLOURS
from ...trace.viewer.fallback import show_view
from ...trace.viewer.stepper import PANELS
from .stepper_at import OpenedViewer

PASSED, FAILED, NOT_YET, ANSWERED = "passed", "failed", "not yet", "answered"
_MARKS = {True: "✓", False: "✗", None: "○"}
#: Green, vermilion and grey, readable on light and on dark pages; the marks say the same without colour.
_COLOURS = {True: COLOURS["C"], False: COLOURS["B"], None: "#8c8c8c"}


@dataclass(frozen=True)
class Check:
    """One check; ``passed`` is None if it could not be judged.

    ``lines`` are the numbered lines of the kernel that it concerns.
    """

    passed: bool | None
    text: str
    lines: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, repr=False)
class Verdict:
    """The result of `check`. ``status`` is "passed", "failed" or "not yet", or "answered" for an answer in words, which
    the reader compares with a model answer; only a passed verdict is true.

    ``hint`` is the advice on the first check that failed, ``remarks`` are useful but do not affect the grade;
    ``points`` of ``of`` were reached. ``opens`` and `show` open the viewer at the step of the mistake, with these
    ``views``.
    ``ticks`` makes the boxes in which a reader ticks the points of an answer in words.

    >>> verdict = Verdict("addresses", "failed", hint="count rows first")
    >>> bool(verdict), verdict.hint
    (False, 'count rows first')
    """

    exercise: str
    status: str
    checks: tuple[Check, ...] = ()
    hint: str | None = None
    remarks: tuple[str, ...] = ()
    points: int = 0
    of: int = 0
    opens: Callable[[], OpenedViewer] | None = field(default=None, compare=False)
    views: tuple[str, ...] = field(default=PANELS, compare=False)
    ticks: Callable[[], Any] | None = field(default=None, compare=False)

    @property
    def hint_id(self) -> str:
        """The id of the hint: that of a repair, the kind of a finding, or the name of a budget or of a diagnosis."""
        return getattr(self.hint, "id", "")

    @property
    def passed(self) -> bool:
        return self.status == PASSED

    def __bool__(self) -> bool:
        return self.passed

    def show(self) -> Any:
        """The viewer at the step of the mistake; raises ValueError if there is nothing to show."""
        return self.opened().stepper

    def opened(self) -> OpenedViewer:
        """The same, with what the step is."""
        if self.opens is None:
            raise ValueError(f"there is no step to show: {self.exercise} is {self.status!r}")
        found = self.opens()
        found.stepper.panels = self.views
        return found

    def _head(self) -> str:
        points = f", {self.points} of {self.of} points" if self.status != NOT_YET else ""
        points += " by your own count" if self.status == ANSWERED else ""
        return f"{self.exercise}: {self.status}{points}"

    def __repr__(self) -> str:
        lines = [self._head()]
        for check in self.checks:
            lines += _wrapped(f"{_MARKS[check.passed]} {check.text}")
            lines += [f"      line {number:>3} | {text.strip()}" for number, text in check.lines]
        lines += _wrapped(f"Hint: {self.hint}") if self.hint else []
        for remark in self.remarks:
            lines += _wrapped(f"Remark: {remark}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(map(_row, self.checks))
        hint = f"<p><b>Hint:</b> {as_code(self.hint)}</p>" if self.hint else ""
        remarks = "".join(f"<p><b>Remark:</b> {as_code(remark)}</p>" for remark in self.remarks)
        said = f"{rows}{hint}{remarks}"
        if self.status == ANSWERED:
            said = f"<details><summary>Compare with a model answer</summary>{said}</details>"
        edge, head = _COLOURS[{PASSED: True, FAILED: False}.get(self.status)], as_code(self._head())
        return f'<div style="border-left:4px solid {edge};padding:2px 12px"><p><b>{head}</b></p>{said}</div>'

    def _ipython_display_(self) -> None:
        """Show text and HTML, then a button that opens the viewer after a failure, or boxes to tick.

        Button and boxes are a separate output, because a page without a kernel shows only the verdict.
        """
        from IPython.display import display

        said = {"text/plain": repr(self), "text/html": self._repr_html_()}
        display(said, raw=True)  # type: ignore[no-untyped-call]
        live = None
        if self.opens is not None:
            live = _button(self)
        elif self.ticks is not None:
            live = self.ticks()
        if live is not None:
            show_view(live._repr_mimebundle_()[VIEW])


def _button(verdict: Verdict) -> Any:
    """A button "Show me", which the viewer replaces, below a line that says what its step is."""
    import ipywidgets

    button = ipywidgets.Button(description="Show me", tooltip="open the viewer at the step of the mistake")
    box = ipywidgets.VBox([button])

    def replace(_: Any) -> None:
        found = verdict.opened()
        says = ipywidgets.HTML(f"<p><b>Shown</b> is {as_code(found.description)}</p>")
        says.add_class("tt-opened")
        box.children = (says, found.stepper)

    button.on_click(replace)
    return box


def _wrapped(paragraph: str) -> list[str]:
    return textwrap.wrap(paragraph, 100, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _row(check: Check) -> str:
    mark = f'<span style="color:{_COLOURS[check.passed]};font-weight:bold">{_MARKS[check.passed]}</span>'
    quoted = "".join(
        f'<br><code style="margin-left:1.4em">line {number} | {html.escape(text.strip())}</code>'
        for number, text in check.lines
    )
    return f'<p style="margin:2px 0">{mark} {as_code(check.text)}{quoted}</p>'
