"""Arithmetic that is in float64 by accident: many times slower on most GPUs, and easy to overlook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..findings import Finding
from ..observer import Observer

if TYPE_CHECKING:
    from ..compile.unit import Unit


class PromotionObserver(Observer):
    """Converts the compiler's list of promotions to warnings that name the operand."""

    def warnings(self, unit: Unit) -> None:
        for promotion in unit.promotions.values():
            self.add(
                Finding(
                    "float64",
                    promotion.line,
                    f"{promotion.expression} is computed in {promotion.wide}, because {promotion.operand}; "
                    f"write {promotion.narrow}(...) around it to stay in {promotion.narrow}",
                )
            )
