"""Which profile runs: the default one, or everything (`uv run pytest --nightly`).

A test marked ``@pytest.mark.nightly`` runs in the nightly profile alone. A test whose number of cases depends on the
profile asks `NIGHTLY`.
"""

import os

#: Set by the option `--nightly` (conftest.py at the top level), before any test module is imported.
NIGHTLY = os.environ.get("TILE_BY_TILE_PROFILE") == "nightly"
