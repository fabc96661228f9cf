"""The stepper with controls: choosing another kernel, size, tile width or block runs the simulator again."""

import html
import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

import ipywidgets
import numpy as np
import traitlets

from ...simulator.findings import SimulatorError
from ...simulator.hardware import ceil_div
from ...simulator.run import Run
from ..simulate import simulate
from .fallback import WithFallback
from .payload import encode
from .stepper import PANELS, Stepper

#: The smallest and the largest n, and the tile widths that the controls offer.
SIZES = (1, 64)
TILE_WIDTHS = (1, 2, 4, 8, 16, 32)
#: The n and the tile width that are shown first, unless the kernels are those of `CONFLICTING`.
FIRST_SIZE, FIRST_WIDTH = 4, 2
#: The n of the plots of loads: those up to the chosen one, at least so many, and the chosen one itself.
PLOTTED_SIZES, PLOTTED_AT_LEAST = (4, 8, 16, 32), 16
#: The largest tile of a kernel that is offered by default, since the matrices are small.
TILE_SIDE = 16
# One control sets parameters that the kernels name differently; a single block must hold the whole matrix.
WIDTHS: dict[str, Callable[[int, int], int]] = {
    "tile_width": lambda n, width: width,
    "block_width": lambda n, width: width,
    "width": lambda n, width: n,
}
#: Elements after each row of a tile, for kernels whose factory takes them.
PADDINGS = (0, 1, 2, 3, 4, 8)
SQUARE = "as wide"
#: What a rung or the simulator raises for sizes that it does not support.
REFUSED = (SimulatorError, ValueError)
#: The narrowest tile of float32 in whose columns the lanes of a warp meet in banks.
CONFLICTING = 8
#: The n of the launches that a page without a kernel holds, beside the explorer's first one, and how many tiles are in
#: a row of their matrices at most.
RECORDED_SIZES, RECORDED_TILES = (4, 8, 16), 4


class Explorer(WithFallback, ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets has no annotations
    """A stepper with controls for the kernel, n (A, B and C are n×n), the tile width and, for kernels that use them,
    the height of the block and the padding.

    A change launches the kernel on the simulator again and replaces the trace; step, block and thread stay if the new
    launch has them. If a combination cannot be launched, one sentence says why, and the stepper keeps the last launch.
    The matrices hold small whole numbers, always the same. Below the stepper, a section that can be opened plots the
    loads of all its kernels against n and against the tile width, and their sectors if the view "warp" is offered.

    >>> explorer = explore(["naive", "tiled"], n=16, tile_width=8)
    >>> explorer.n.value, explorer.tile_width.value
    (16, 8)
    """

    _recipe = traitlets.Unicode().tag(sync=True)  # for pages made of a notebook's widget states

    def __init__(
        self, rungs: Sequence[Any], kernel: str, n: int, tile_width: int, padding: int, panels: Sequence[str] = PANELS
    ) -> None:
        """Make the controls, and the stepper of the first launch; ``rungs`` are the kernels, ``kernel`` the first."""
        self._rungs = {rung.name: rung for rung in rungs}
        self._counted: dict[tuple[str, int, int], tuple[int, int] | None] = {}
        self._make_controls(kernel, n, tile_width, padding)
        self.message = ipywidgets.HTML(value="")
        self.stepper = Stepper(self._launch(), panels=panels)
        self._sectors = "warp" in panels  # the view that explains sectors
        self._make_plots()
        for control in self._controls:
            control.observe(self._relaunch, names="value")
        self._offer()
        row = ipywidgets.HBox(self._controls, layout={"flex_flow": "row wrap"})
        recipe = {"kernels": list(self._rungs), "n": n, "tile_width": tile_width}
        super().__init__([row, self.message, self.stepper, self.plots], _recipe=json.dumps(recipe))

    def _make_controls(self, kernel: str, n: int, tile_width: int, padding: int) -> None:
        titles = [(rung.title, rung.name) for rung in self._rungs.values()]
        self.kernel = ipywidgets.Dropdown(options=titles, value=kernel, description="Kernel", **_wide(26))
        self.n = ipywidgets.IntSlider(n, *SIZES, description="n", continuous_update=False, **_wide(18))
        self.tile_width = ipywidgets.Dropdown(
            options=TILE_WIDTHS, value=tile_width, description="Tile width", **_wide(12)
        )
        heights = (SQUARE, *TILE_WIDTHS)
        self.block_height = ipywidgets.Dropdown(options=heights, description="Block height", **_wide(14))
        self.padding = ipywidgets.Dropdown(options=PADDINGS, value=padding, description="Padding", **_wide(10))

    def _make_plots(self) -> None:
        """Make the section below the stepper, whose plots are drawn when a reader opens it."""
        self._plot = ipywidgets.Image(format="png", layout={"max_width": "100%", "object_fit": "contain"})
        self._plot.layout.display = "none"
        self._counting = ipywidgets.HTML("Every kernel is launched at several sizes; the plots appear in a moment.")
        title = "Loads and sectors of all kernels" if self._sectors else "Loads of all kernels"
        self.plots = ipywidgets.Accordion([ipywidgets.VBox([self._counting, self._plot])], titles=(title,))
        self.plots.observe(self._draw_plots, names="selected_index")

    @property
    def _controls(self) -> tuple[ipywidgets.Widget, ...]:
        return (self.kernel, self.n, self.tile_width, self.block_height, self.padding)

    def _offer(self) -> None:
        """Show the controls that the chosen kernel uses."""
        rung = self._rungs[self.kernel.value]
        is_used = {
            self.tile_width: _has_width(rung),
            self.block_height: "block_width" in rung.params and self._two_dimensional,
            self.padding: _takes_padding(rung),
        }
        for control, used in is_used.items():
            control.layout.display = None if used else "none"

    @property
    def _two_dimensional(self) -> bool:
        """Whether the chosen kernel's blocks have more than one row, so that their height can be set."""
        rung, n = self._rungs[self.kernel.value], self.n.value
        _, block = rung.launch(n, n, n, **_params(rung, n, 2))
        return bool(block[1] > 1)

    def _launch(self) -> Run:
        """Run the chosen kernel on C = A·B with the chosen sizes, and return the run with its trace."""
        rung, n, width = self._rungs[self.kernel.value], self.n.value, self.tile_width.value
        block = None  # that of the kernel
        can_be_set = "block_width" in rung.params and self._two_dimensional
        if can_be_set and self.block_height.value != SQUARE:
            block = width, self.block_height.value
        padding = self.padding.value if _takes_padding(rung) else None
        return run_product(rung, n, width, block, padding, trace=True)

    def _relaunch(self, change: object = None) -> None:
        try:
            self.stepper.replace(self._launch())
        except REFUSED as error:
            self.message.value = f"<b>Not launched.</b> {html.escape(_first_sentence(error))}"
        else:
            self.message.value = ""
            self._offer()
        self._draw_plots()

    # --- plots ---------------------------------------------------------------------------------------------------

    def counts(self, n: int, tile_width: int) -> dict[str, tuple[int, int]]:
        """(global loads, their sectors) of a whole launch, for each kernel that supports these sizes."""
        found = {}
        for name, rung in self._rungs.items():
            key = (name, n, tile_width)
            if key not in self._counted:
                count: tuple[int, int] | None = None  # it may have no such launch, and so no point in the plot
                with suppress(*REFUSED):
                    loads = run_product(rung, n, tile_width).traffic.select(space="global", op="load")
                    count = loads.accesses, loads.sectors
                self._counted[key] = count
            if counted := self._counted[key]:
                found[rung.title] = counted
        return found

    def _draw_plots(self, change: object = None) -> None:
        if self.plots.selected_index != 0:
            return
        from ..figures.counts import explored

        n, width = self.n.value, self.tile_width.value
        sizes = sorted({size for size in PLOTTED_SIZES if size <= max(PLOTTED_AT_LEAST, n)} | {n})
        by_n = {size: self.counts(size, width) for size in sizes}
        by_width = {each: self.counts(n, each) for each in TILE_WIDTHS if each <= max(2, n)}
        picture = explored(by_n, by_width, n, width, self._sectors)
        self._plot.value = picture.png
        self._plot.alt = repr(picture)
        self._plot.layout.display, self._counting.layout.display = None, "none"

    def _mark(self, mark: str) -> None:
        self.stepper._mark(mark)  # its module looks for the output before the widget

    def __repr__(self) -> str:
        chosen = f"kernel {self.kernel.value}, n = {self.n.value}, tile width {self.tile_width.value}"
        return f"Explorer: {chosen}\n{self.stepper!r}"

    def _repr_html_(self) -> str:
        return self.stepper._repr_html_()


def recorded(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return launches of an `Explorer` (its traits by name) for a page without a kernel.

    Each has a "setting", what the controls show, and the stepper's "data". Empty if a rung is not the course's.
    """
    from ...kernels import LADDER

    recipe, known = json.loads(state["_recipe"]), {rung.name: rung for rung in LADDER}
    if not set(recipe["kernels"]) <= set(known):
        return []
    return [launch for name in recipe["kernels"] for launch in _recorded(known[name], recipe)]


def _recorded(rung: Any, recipe: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    grid = {(n, width) for n, width in product(RECORDED_SIZES, TILE_WIDTHS) if width <= n <= RECORDED_TILES * width}
    sizes = {(n, width if _has_width(rung) else n) for n, width in {*grid, (recipe["n"], recipe["tile_width"])}}
    paddings = PADDINGS if _takes_padding(rung) else (None,)
    for (n, width), padding in product(sorted(sizes), paddings):
        try:
            run = run_product(rung, n, width, padding=padding, trace=True)
        except REFUSED:
            continue
        shown = {"Kernel": rung.title, "n": n, "Tile width": width if _has_width(rung) else None, "Padding": padding}
        setting = {name: value for name, value in shown.items() if value is not None}
        assert run.trace is not None
        yield {"setting": setting, "data": encode(run.trace)}


def run_product(
    rung: Any,
    n: int,
    tile_width: int,
    block: tuple[int, int] | None = None,
    padding: int | None = None,
    *,
    trace: bool = False,
) -> Run:
    """Run a kernel of the ladder on C = A·B of n×n small whole numbers; ``block`` replaces the kernel's block shape.

    ``padding``: elements after each row of a tile, for a kernel that takes them.
    """
    params = _params(rung, n, tile_width)
    numbers = np.random.default_rng(4)
    A, B = numbers.integers(1, 10, (2, n, n)).astype(np.float32)
    C = np.zeros((n, n), np.float32)
    grid, shape = rung.launch(n, n, n, **params)
    if block is not None:
        grid, shape = (ceil_div(n, block[0]), ceil_div(n, block[1])), block
    made = rung.make(**params) if padding is None else rung.make(**params, padding=padding)
    run: Run = simulate(made, trace=trace)[grid, shape](A, B, C)
    return run


def _has_width(rung: Any) -> bool:
    return bool({"tile_width", "block_width"} & set(rung.params))


def _takes_padding(rung: Any) -> bool:
    return "padding" in inspect.signature(rung.make).parameters


def _params(rung: Any, n: int, tile_width: int) -> dict[str, int]:
    return {name: WIDTHS[name](n, tile_width) for name in rung.params if name in WIDTHS}


def _wide(ems: int) -> dict[str, Any]:
    """The layout of a control ``ems`` wide, with as much width for its description as the words need."""
    layout = {"width": f"{ems}em", "flex": "0 0 auto", "margin": "2px 1.5em 2px 0"}
    return {"layout": layout, "style": {"description_width": "initial"}}


def _first_sentence(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text.split(". ")[0].rstrip(".") + "."


def small_rungs() -> list[Any]:
    """Return the rungs of the ladder whose tiles fit small matrices."""
    from ...kernels import LADDER

    return [rung for rung in LADDER if max(rung.tile(**_params(rung, TILE_SIDE, TILE_SIDE)) or (1,)) <= TILE_SIDE]


def explore(
    kernels: Sequence[Any] | None = None,
    *,
    kernel: str | None = None,
    n: int | None = None,
    tile_width: int | None = None,
    padding: int = 0,
    panels: Sequence[str] = PANELS,
) -> Explorer:
    """Return a stepper with controls for the kernel, n, the tile width, the block's height and the padding.

    ``kernels`` are names of `course_lib.kernels.LADDER` (those that a lesson has explained), or rungs; by default, the
    kernels whose tiles fit small matrices, each shown within 150 ms. From register_2d on a block executes 10,000 to
    60,000 statements even for a small n, and a choice takes up to a second. ``kernel`` is the first one shown, by
    default "tiled" or the first of ``kernels``. The first n is 4 in tiles of 2; for a kernel with padded tiles, 8 and
    8, the smallest with bank conflicts. ``padding`` is the number of elements after each row of a tile;
    ``panels`` are the stepper's. Raises ValueError for a kernel, an n (1 to 64), a tile width (1, 2, 4, 8, 16, 32), a
    padding (0, 1, 2, 3, 4, 8) or a panel that the controls do not offer.

    >>> widget = explore(["naive", "tiled"], n=16, tile_width=8)
    """
    rungs = small_rungs() if kernels is None else _chosen_rungs(kernels)
    conflicts = kernels is not None and any(map(_takes_padding, rungs))
    if n is None:
        n = CONFLICTING if conflicts else FIRST_SIZE
    if tile_width is None:
        tile_width = CONFLICTING if conflicts else FIRST_WIDTH
    _refuse_unoffered(n, tile_width, padding)
    names = [rung.name for rung in rungs]
    if kernel is None:
        kernel = "tiled" if "tiled" in names else names[0]
    if kernel not in names:
        raise ValueError(f"There is no kernel {kernel!r}; choose from {', '.join(names)}.")
    return Explorer(rungs, kernel, n, tile_width, padding, panels)


def _chosen_rungs(kernels: Sequence[Any]) -> list[Any]:
    """Return the rungs that names or rungs mean; raise ValueError for a name without one, and for none at all."""
    from ...kernels import LADDER  # imports numba, which only `explore` needs

    known = {rung.name: rung for rung in LADDER}
    unknown = [each for each in kernels if isinstance(each, str) and each not in known]
    if unknown or not kernels:
        raise ValueError(f"There is no kernel {', '.join(unknown) or 'named'}; choose from {', '.join(known)}.")
    return [known[each] if isinstance(each, str) else each for each in kernels]


def _refuse_unoffered(n: int, tile_width: int, padding: int) -> None:
    """Raise ValueError for an n, a tile width or a padding that the controls do not offer."""
    if not SIZES[0] <= n <= SIZES[1]:
        raise ValueError(f"n is {n}; the explorer draws matrices from {SIZES[0]} to {SIZES[1]}.")
    for what, chosen, offered in (("tile width", tile_width, TILE_WIDTHS), ("padding", padding, PADDINGS)):
        if chosen not in offered:
            raise ValueError(f"The {what} is {chosen}; choose from {', '.join(map(str, offered))}.")
