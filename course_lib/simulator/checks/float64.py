"""Arithmetic in float64 by accident: it is many times slower on most GPUs, and easy to overlook."""

from ..compile.compiled_kernel import CompiledKernel
from ..findings import Finding
from ..observer import Observer


class Float64Observer(Observer):
    """Reports the promotions that the compiled kernel lists."""

    def warnings(self, compiled: CompiledKernel) -> None:
        for promotion in compiled.promotions.values():
            said = (
                f"{promotion.expression} is computed in {promotion.wide}, because {promotion.operand}; write "
                f"{promotion.advice} to stay in {promotion.narrow}"
            )
            self.add(Finding("float64", promotion.line, said))
