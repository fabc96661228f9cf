"""Arithmetic that became float64 by accident: many times slower on most GPUs, and easy to overlook."""

from __future__ import annotations

from ..simulator.findings import Finding
from ..simulator.observer import Observer


class PromotionObserver(Observer):
    """Turns the compiler's list of promotions into warnings that name the operand."""

    def warnings(self, unit):
        for promotion in unit.promotions.values():
            self.add(Finding("float64", "warning", promotion.line, None, None, None, (),
                             f"{promotion.expression} is computed in float64, because {cause(promotion.operand)}; "
                             "write float32(...) around it to stay in float32"))


def cause(operand: str) -> str:
    return operand if " is " in operand else f"{operand} is float64"
