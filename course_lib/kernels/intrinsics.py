"""Intrinsics that run in three places: on a GPU, on the thread simulator, and in numba's own simulator."""

from numba import config
from numba.extending import intrinsic


def declared(kind, in_python, **options):
    """Return a decorator that makes an intrinsic of its typing function, with `options` as numba's.

    kind: what the thread simulator makes of it, as `__simulated_as__`. in_python: the same as a Python function, for
    numba's simulator.
    """

    def decorate(typer):
        if config.ENABLE_CUDASIM:
            function = in_python
        else:
            function = intrinsic(**options)(typer) if options else intrinsic(typer)
            function.py_func = in_python
        function.__simulated_as__ = kind
        return function

    return decorate
