"""What watches a launch, one observer a file. Each overrides only the hooks it needs.

A new observer is a file here, and its class stands in one of the two lists: that is all that :func:`simulate` looks at.
"""

from ..simulator.observer import Observer
from .banks import BanksObserver
from .barriers import BarriersObserver
from .bounds import BoundsObserver
from .coalescing import CoalescingObserver
from .constants import ConstantsObserver
from .copies import CopiesObserver
from .failures import FailuresObserver
from .initialization import InitializationObserver
from .products import ProductsObserver
from .promotion import PromotionObserver
from .races import RacesObserver
from .traffic import Counter

#: Those that count, besides the traffic itself: ``columns()`` gives each count by its name in
#: :class:`~course_lib.run.TrafficRow`.
COUNTERS: tuple[type[Counter], ...] = (CoalescingObserver, BanksObserver)
#: Those that find what is wrong, and report it with ``add``.
JUDGES: tuple[type[Observer], ...] = (
    BoundsObserver,
    InitializationObserver,
    CopiesObserver,
    ProductsObserver,
    RacesObserver,
    BarriersObserver,
    PromotionObserver,
    ConstantsObserver,
    FailuresObserver,
)

__all__ = ["COUNTERS", "JUDGES"]
