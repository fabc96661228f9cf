"""What stands for a widget where none comes to life: on a page without a network, or in a notebook that was not run.

A page that nbconvert makes shows a widget's view before anything else that the same output holds, and such a view takes
its code from the network: without one the page shows nothing at all. So our widgets show themselves in two outputs:
HTML, a picture or a text, and the view alone, which, once it lives, hides the output before it (``web/still.js``).
Of a reader's own box, what stands for each of our widgets in it comes first, and then the box as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ipywidgets
import traitlets

from ..lessons import KEY
from ..png import packed_in

VIEW = "application/vnd.jupyter.widget-view+json"
HTML = "text/html"
#: Characters by which the browser knows a picture; at a PNG's end stands a checksum of all its pixels.
MARK = 32
#: The class of an element of HTML that stands for a widget.
CLASS = "tile-by-tile-still"


class Still(traitlets.HasTraits):
    """For a widget whose ``_repr_mimebundle_`` holds a view, and beside it HTML: a picture, or an element of class
    `CLASS`.
    """

    _still = traitlets.Unicode("").tag(sync=True)

    def _mark(self, mark: str) -> None:
        """Tell the browser what it will find."""
        self._still = mark

    def _ipython_display_(self) -> None:
        """Show what stands for the widget, and then the widget."""
        view = self._show_still()
        if view is not None:
            show_view(view)

    def _show_still(self) -> Any:
        """Show what stands for the widget; return its view, which is left."""
        from IPython.display import display

        data, metadata = self._repr_mimebundle_()  # type: ignore[attr-defined]  # every widget has it
        view = data.pop(VIEW, None)
        self._mark(mark_of(data))
        display(data, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]
        return view


def show_view(view: Any) -> None:
    """Show the view of a widget alone, in an output that says that it is the course's."""
    from IPython.display import display

    display({VIEW: view}, metadata={KEY: "view"}, raw=True)  # type: ignore[no-untyped-call]


def mark_of(data: dict[str, Any]) -> str:
    """By what the browser knows this output."""
    packed = packed_in(data.get(HTML, ""))
    return packed[-MARK:] if packed else CLASS


def _inside(box: ipywidgets.Box) -> Iterator[Still]:
    """Our widgets in a box, and in the boxes in it, in the order in which they stand."""
    for child in box.children:
        if isinstance(child, Still):
            yield child
        elif isinstance(child, ipywidgets.Box):
            yield from _inside(child)


def show_box(box: ipywidgets.Box) -> None:
    """Show a box; raise NotImplementedError, on which IPython shows it in its own way, where nothing in it is ours."""
    from IPython.display import display

    if isinstance(box, Still):
        box._ipython_display_()
        return
    ours = list(_inside(box))
    if not ours:
        raise NotImplementedError
    for widget in ours:
        widget._show_still()
    display(box._repr_mimebundle_(), raw=True)  # type: ignore[no-untyped-call]


def _stand_in_boxes() -> None:
    """Have IPython show readers' boxes so, where there is one."""
    from IPython import get_ipython

    shell = get_ipython()
    if shell is not None:
        shell.display_formatter.ipython_display_formatter.for_type(ipywidgets.Box, show_box)


_stand_in_boxes()
