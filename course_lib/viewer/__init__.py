"""Step through a launch in the browser: `Stepper(run)`, and `explore()` with controls beside it."""

from .explore import Explorer, explore
from .stepper import Stepper

__all__ = ["Explorer", "Stepper", "explore"]
