"""Step through a launch in the browser: `Stepper(run)`, `compare(run, other)` for two, `explore()` with controls."""

from .explore import Explorer, explore
from .stepper import Stepper, compare

__all__ = ["Explorer", "Stepper", "compare", "explore"]
