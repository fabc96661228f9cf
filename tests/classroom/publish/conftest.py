"""A launch that tests of pages share."""

import pytest
from launches.samples import launch


@pytest.fixture(scope="session")
def launch_of_tiled():
    """The traced launch of the tiled kernel."""
    return launch("tiled")
