"""Step through a launch in the browser: `Stepper(run)`, two with `compare(run, other)`, `explore()` with controls.

`Waiting(machine)` is the model of waiting with sliders.
"""

from .explore import Explorer, explore
from .stepper import Stepper, compare
from .waiting import Waiting

__all__ = ["Explorer", "Stepper", "Waiting", "compare", "explore"]
