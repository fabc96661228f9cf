"""Fallbacks: pictures or texts in place of widgets that do not run, as in a notebook that was not run.

On a page of nbconvert, a widget's view has priority over the rest of its output, but the view's code comes from the
network: without a network the page shows nothing at all. So our widgets have two outputs: the fallback, as HTML, and
the view alone, which hides the output before it once it runs (``web/fallback.js``). For a reader's own box, the
fallbacks of all our widgets in it come first, and then the box.

A cell that is run again replaces its outputs, so the widgets that it showed before are closed: the page and the kernel
then forget their data. A closed widget that still has a name opens again when it is shown.
"""

import gc
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import ipywidgets
import traitlets
from IPython import get_ipython

from ..notebook_outputs import HTML, KEY, VIEW
from ..png import packed_in

#: Characters by which the browser recognises a picture: a PNG ends with a checksum of all its pixels.
MARK = 32
#: The class of a fallback that is an element of HTML; stored notebooks have it.
CLASS = "tile-by-tile-still"


class WithFallback(traitlets.HasTraits):
    """Base of widgets with a fallback for who has not run the notebook: a picture, or HTML of class `CLASS`."""

    _fallback = traitlets.Unicode("").tag(sync=True)

    def __init__(self, *args: Any, **traits: Any) -> None:
        super().__init__(*args, **traits)
        shown_in(get_ipython())

    def _mark(self, mark: str) -> None:
        """Set the text by which the browser finds the fallback."""
        self._fallback = mark

    def open(self) -> None:
        """Connect the widget with its views, also once it has been closed."""
        self.__dict__.pop("_repr_mimebundle_", None)  # ipywidgets' close() hides the method
        self.layout.open()  # type: ignore[attr-defined]  # every widget has one
        super().open()  # type: ignore[misc]

    def close(self) -> None:
        """Disconnect the widget and its layout, whose model would keep the views of the widget on the page."""
        super().close()  # type: ignore[misc]
        self.layout.close()  # type: ignore[attr-defined]

    def _repr_html_(self) -> str:
        return self.picture()._repr_html_()  # type: ignore[attr-defined]  # unless it has its own HTML

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Offer the view, the fallback and the text; a box of ipywidgets has no metadata."""
        made = super()._repr_mimebundle_(**kwargs) or {}  # type: ignore[misc]  # every widget has it
        data, metadata = made if isinstance(made, tuple) else (made, {})
        return data | {"text/plain": repr(self), HTML: self._repr_html_()}, metadata

    def _ipython_display_(self) -> None:
        """Show the fallback, then the widget."""
        view = self._show_fallback()
        if view is not None:
            show_view(view)

    def _show_fallback(self) -> Any:
        from IPython.display import display

        shown = shown_in(get_ipython())
        if shown:
            shown.now.add(self)
        for widget in (*_inside(self), self):
            widget.open()  # if it was closed
        data, metadata = self._repr_mimebundle_()
        view = data.pop(VIEW, None)
        self._mark(mark_of(data))
        display(data, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]
        return view


def show_view(view: Any) -> None:
    """Show the view of a widget alone, in an output that says that it is the course's."""
    from IPython.display import display

    display({VIEW: view}, metadata={KEY: "view"}, raw=True)  # type: ignore[no-untyped-call]


def mark_of(data: dict[str, Any]) -> str:
    """The text by which the browser finds this output."""
    packed = packed_in(data.get(HTML, ""))
    return packed[-MARK:] if packed else CLASS


def _inside(box: Any) -> Iterator[WithFallback]:
    """Our widgets in a box, and in the boxes inside it, in order; none in a widget that is no box."""
    for child in getattr(box, "children", ()):
        if isinstance(child, WithFallback):
            yield child
        elif isinstance(child, ipywidgets.Box):
            yield from _inside(child)


def show_box(box: ipywidgets.Box) -> None:
    """Show a box; without our widgets in it, raise NotImplementedError, so that IPython shows it in its own way."""
    from IPython.display import display

    if isinstance(box, WithFallback):
        box._ipython_display_()
        return
    ours = list(_inside(box))
    if not ours:
        raise NotImplementedError
    for widget in ours:
        widget._show_fallback()
    display(box._repr_mimebundle_(), raw=True)  # type: ignore[no-untyped-call]


class ShownWidgets:
    """The widgets that the cells of a notebook show. When a cell has been run again, those of its last run are closed.

    shell: where the running of cells is followed, and where a reader's box with our widgets gets their fallbacks.
    Front ends that give a cell no identifier replace nothing.
    """

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.now: set[Any] = set()  # those that the running cell has shown so far
        self.by_cell: dict[str, set[Any]] = {}
        shell.display_formatter.ipython_display_formatter.for_type(ipywidgets.Box, show_box)
        shell.events.register("pre_run_cell", lambda info: self.now.clear())
        shell.events.register("post_run_cell", self._after)

    def _after(self, result: Any) -> None:
        if self._replace(result.info.cell_id):
            gc.collect()  # a widget and its traits refer to each other

    def _replace(self, cell: str | None) -> bool:
        """Close the widgets that only the last run of this cell has shown; return whether that had shown any."""
        shown = {*self.now}
        self.now.clear()
        before = self.by_cell.pop(cell, set()) if cell else set()
        if cell and shown:
            self.by_cell[cell] = shown
        for widget in before.difference(*self.by_cell.values()):
            for each in (widget, *_inside(widget)):
                each.close()
            names = [name for name, value in self.shell.user_ns.items() if value is widget]
            if names and all(name.startswith("_") for name in names):  # it is kept only as an earlier output
                self.shell.del_var(names[0])
        return bool(before)


@lru_cache(maxsize=2)
def shown_in(shell: Any) -> ShownWidgets | None:
    """Return the widgets that cells of this shell show, followed from the first call on; None without a shell."""
    return None if shell is None else ShownWidgets(shell)
