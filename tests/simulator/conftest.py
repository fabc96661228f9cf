"""What the tests of generated kernels and of the table of cases share."""

import pytest
from oracles.numba_simulator import NumbaSimulator


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(scope="session")
def numba_simulator():
    """Numba's own simulator, in a process of its own."""
    simulator = NumbaSimulator()
    yield simulator
    simulator.close()
