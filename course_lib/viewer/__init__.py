"""Step through a launch in the browser: `Stepper(run)`, two with `compare(run, other)`, `explore()` with controls."""

from .explore import Explorer, explore
from .stepper import Stepper, compare

__all__ = ["Explorer", "Stepper", "compare", "explore"]
