"""The table of kernels with bugs: `load(name)` is a bug with its twin, the same kernel without the mistake.

Each file has safe kernels, and after each of them the bugs that are edits of it; case.py says how a row is written.
"""

from . import blocks, copies, grids, products, vectors  # noqa: F401
from .case import SILENT_KINDS, Case, cases, same  # noqa: F401

CASES = cases()
NAMES = tuple(CASES)
load = CASES.__getitem__
#: Those that compute-sanitizer has judged: not those of warpgroups and of the copy engine, no assertions, and no
#: barriers or dimensions of the grid.
SANITIZED = tuple(
    name
    for name in NAMES
    if not name.startswith(("wgmma_", "bulk_", "assertion_", "grid_sum", "grid_barrier", "grid_of"))
)
