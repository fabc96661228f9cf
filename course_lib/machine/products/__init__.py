"""Products C = A·B of any shape and layout, by the kernel and the tile that suit the shape.

README.md in this folder says how a plan is chosen and how it was measured.
"""

from typing import TYPE_CHECKING

from ...lazy import lazily

if TYPE_CHECKING:
    from .multiplication import product
    from .planning import TILES, Gpu, ProductPlan, plan

__all__ = ["TILES", "Gpu", "ProductPlan", "plan", "product"]

__getattr__, __dir__ = lazily(
    __name__,
    {"product": ".multiplication", **dict.fromkeys(("TILES", "Gpu", "ProductPlan", "plan"), ".planning")},
)
