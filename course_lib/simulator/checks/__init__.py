"""Observers that judge a launch, one rule a file; each overrides only the hooks that it needs.

To add a rule, write a file here and add its class to the list, which :func:`simulate` reads.
"""

from ..observer import Observer
from .barriers import BarriersObserver
from .bounds import BoundsObserver
from .constants import ConstantsObserver
from .copies import CopiesObserver
from .failures import FailuresObserver
from .initialization import InitializationObserver
from .products import ProductsObserver
from .promotion import PromotionObserver
from .races import RacesObserver

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

__all__ = ["JUDGES"]
