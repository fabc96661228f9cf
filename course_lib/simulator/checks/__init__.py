"""Observers that check a launch, a group of rules a file; each overrides only the hooks that it needs.

To add a rule, write a file here with its subclass of ``Observer``, and a row in ``findings.KINDS``.
"""

from importlib import import_module
from pkgutil import iter_modules

from ..observer import Observer

_MODULES = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
#: Observers that find violations, and report them with ``add``: those of every file here.
CHECKS: tuple[type[Observer], ...] = tuple(
    check
    for module in _MODULES
    for check in vars(module).values()
    if isinstance(check, type) and issubclass(check, Observer) and check.__module__.startswith(module.__name__)
)

__all__ = ["CHECKS"]
