"""Step through a launch in the browser: `Stepper(run)`, `compare(run, other)` for two, `explore()` with controls.

The widgets need the extra ``course``; the other modules here, NumPy alone.
"""

from typing import TYPE_CHECKING

from ...lazy import lazily

if TYPE_CHECKING:
    from .explorer import Explorer, explore
    from .stepper import Stepper, compare

__all__ = ["Explorer", "Stepper", "compare", "explore"]

__getattr__, __dir__ = lazily(
    __name__,
    {
        **dict.fromkeys(("Explorer", "explore"), ".explorer"),
        **dict.fromkeys(("Stepper", "compare"), ".stepper"),
    },
)
