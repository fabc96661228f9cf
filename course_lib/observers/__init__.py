"""Observers of a launch, one a file; each overrides only the hooks that it needs.

To add an observer, write a file here and add its class to one of the two lists, which :func:`simulate` reads.
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

#: Observers that count, besides the traffic itself: ``columns()`` returns each count by its name in
#: :class:`~course_lib.run.TrafficRow`.
COUNTERS: tuple[type[Counter], ...] = (CoalescingObserver, BanksObserver)
#: Observers that find violations, and report them with ``add``.
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
