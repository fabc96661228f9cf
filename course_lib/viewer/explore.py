"""The stepper with controls beside it: another kernel, size or tile width reruns the simulator."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import ipywidgets
import numpy as np

from ..simulate import simulate
from .stepper import Stepper

SIZES = (1, 16)
TILE_WIDTHS = (1, 2, 4, 8, 16)
# One control for what the kernels call by their own names; a single block must hold the whole matrix.
WIDTHS = {
    "tile_width": lambda n, width: width,
    "block_width": lambda n, width: width,
    "width": lambda n, width: n,
}


class Explorer(ipywidgets.VBox):
    """A stepper under three controls: the kernel, n (A, B and C are n×n) and the tile width.

    A change launches the kernel on the simulator again and replaces the trace. A combination that cannot be
    launched is answered with one sentence, and the stepper keeps the launch it had. The matrices hold small
    whole numbers, the same ones every time.
    """

    def __init__(self, rungs: Sequence[Any], kernel: str, n: int, tile_width: int) -> None:
        self._rungs = {rung.name: rung for rung in rungs}
        titles = [(rung.title, rung.name) for rung in rungs]
        self.kernel = ipywidgets.Dropdown(options=titles, value=kernel, description="Kernel", **_wide(26))
        self.n = ipywidgets.IntSlider(n, *SIZES, description="n", continuous_update=False, **_wide(18))
        self.tile_width = ipywidgets.Dropdown(
            options=TILE_WIDTHS, value=tile_width, description="Tile width", **_wide(12)
        )
        self.message = ipywidgets.HTML(value="")
        self.stepper = Stepper(self._launch())
        for control in self._controls:
            control.observe(self._relaunch, names="value")
        row = ipywidgets.HBox(self._controls, layout={"flex_flow": "row wrap"})
        super().__init__([row, self.message, self.stepper])

    @property
    def _controls(self) -> tuple[ipywidgets.Widget, ...]:
        return (self.kernel, self.n, self.tile_width)

    def _launch(self) -> Any:
        """Run the chosen kernel on C = A·B with the chosen sizes, and return the run with its trace."""
        rung, n, width = self._rungs[self.kernel.value], self.n.value, self.tile_width.value
        params = _params(rung, n, width)
        numbers = np.random.default_rng(4)
        A, B = numbers.integers(1, 10, (2, n, n)).astype(np.float32)
        C = np.zeros((n, n), np.float32)
        grid, block = rung.launch(n, n, n, **params)
        return simulate(rung.make(**params), trace=True)[grid, block](A, B, C)

    def _relaunch(self, change: object = None) -> None:
        try:
            self.stepper.run = self._launch()
        except Exception as error:  # whatever a kernel or a launch refuses belongs under the controls
            self.message.value = f"<b>Not launched.</b> {html.escape(_first_sentence(error))}"
        else:
            self.message.value = ""

    def __repr__(self) -> str:
        chosen = f"kernel {self.kernel.value}, n = {self.n.value}, tile width {self.tile_width.value}"
        return f"Explorer: {chosen}\n{self.stepper!r}"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Offer the controls and the stepper, and its picture to readers who have not run the notebook."""
        bundle = super()._repr_mimebundle_(**kwargs)
        data, _ = self.stepper._repr_mimebundle_()
        return bundle | {"text/plain": repr(self), "image/png": data["image/png"]}


def _params(rung: Any, n: int, tile_width: int) -> dict[str, int]:
    return {name: WIDTHS[name](n, tile_width) for name in rung.params if name in WIDTHS}


def _wide(ems: int) -> dict[str, Any]:
    """Give a control its width and its description as much of it as the words need."""
    layout = {"width": f"{ems}em", "flex": "0 0 auto", "margin": "2px 1.5em 2px 0"}
    return {"layout": layout, "style": {"description_width": "initial"}}


def _first_sentence(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text.split(". ")[0].rstrip(".") + "."


def explore(rungs: Sequence[Any] | None = None, *, kernel: str = "tiled", n: int = 4, tile_width: int = 2) -> Explorer:
    """Return a stepper with controls for the kernel, n and the tile width.

    ``rungs`` are those of `course_lib.kernels.LADDER` whose tiles fit matrices this small, unless others are
    given. Raises ValueError for a kernel, an n (1 to 16) or a tile width (1, 2, 4, 8, 16) that the controls do
    not offer.
    """
    if not SIZES[0] <= n <= SIZES[1]:
        raise ValueError(f"n is {n}; the explorer draws matrices from {SIZES[0]} to {SIZES[1]}.")
    if tile_width not in TILE_WIDTHS:
        raise ValueError(f"The tile width is {tile_width}; choose from {', '.join(map(str, TILE_WIDTHS))}.")
    if rungs is None:
        from ..kernels import LADDER  # numba: only readers who explore wait for it

        rungs = [rung for rung in LADDER if max(rung.tile(**_params(rung, n, tile_width)) or (1,)) <= SIZES[1]]
    if kernel not in {rung.name for rung in rungs}:
        raise ValueError(f"There is no kernel {kernel!r}; choose from {', '.join(rung.name for rung in rungs)}.")
    return Explorer(rungs, kernel, n, tile_width)
