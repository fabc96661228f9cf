"""A class on one machine: every user of a real JupyterHub runs all cells of a lesson at once (`hub.py` says how)."""

import asyncio
import importlib.util

import pytest
from classroom.deploy.hub import PROXY, USERS, a_class, hub_in

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(importlib.util.find_spec("jupyterhub") is None, reason="jupyterhub is not installed"),
    pytest.mark.skipif(PROXY is None, reason="configurable-http-proxy is not on the path"),
]


def test_every_user_runs_all_cells_at_once(tmp_path):
    with hub_in(tmp_path) as hub:
        errors = asyncio.run(a_class(hub))
    assert errors == [[] for _ in range(USERS)]
