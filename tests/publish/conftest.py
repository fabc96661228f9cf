"""Makes tests/browser's fixtures available: a page is opened in a real browser."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
