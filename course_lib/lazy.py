"""Names of a package that are imported on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and the ``__dir__`` of a package.

    Args:
        package: the package's name.
        homes: the module of each name, relative to the package, such as ``{"check": ".exercises"}``. A name that ends
            its own module is that module: ``{"figures": ".figures"}``.
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(homes[name], package)
        thing = module if module.__name__ == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, thing)
        return thing

    return get, lambda: sorted(homes)
