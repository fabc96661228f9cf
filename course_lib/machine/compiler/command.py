"""The command `tile-by-tile machine-code`: record the machine code that answers where no compiler is installed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from .find import HOW, available
from .recorded import FILE, record


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(prog="tile-by-tile machine-code", description=__doc__)
    parser.add_argument("what", choices=("record",), help="compile every recorded kernel anew; no GPU is needed")
    parser.parse_args(arguments)
    if not available():
        parser.exit(2, f"No compiler is installed: {HOW}.\n")
    from ..gpu.command import progress

    FILE.write_text(json.dumps(record(progress), indent=1) + "\n", encoding="utf-8")
    print(f"{FILE}: {FILE.stat().st_size:,} bytes")
    return 0
