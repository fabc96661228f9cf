"""Which profile runs: the default one, or everything (`uv run pytest --nightly`).

A test marked ``@pytest.mark.nightly`` runs in the nightly profile alone. A test whose number of cases depends on the
profile asks `NIGHTLY`.
"""

import os
import random

import numpy as np
import pytest

#: Set by the option `--nightly` (conftest.py at the top level), before any test module is imported.
NIGHTLY = os.environ.get("TILE_BY_TILE_PROFILE") == "nightly"


def at_night(*values):
    """Return one case of `pytest.mark.parametrize` that runs in the nightly profile alone."""
    return pytest.param(*values, marks=pytest.mark.nightly)


def every(step, cases):
    """Return all the cases of one parameter; by day the first of them runs, and every so many-th after it."""
    return [case if number % step == 0 else at_night(case) for number, case in enumerate(cases)]


def drawn():
    """Return a generator of random numbers: the same ones by day, new ones at night; a failing test prints its seed."""
    seed = random.randrange(2**32) if NIGHTLY else 7
    print(f"np.random.default_rng({seed})")
    return np.random.default_rng(seed)
