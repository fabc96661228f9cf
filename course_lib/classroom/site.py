"""Writes the course as a site: lessons as pages with live steppers and predictions, and bugs to find.

tile-by-tile site --out _site
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ..lazy import called
from .lessons import MOVED
from .pages.frame import write
from .publish.convert import executed
from .publish.deck import SHOW_FOR_SLIDES
from .publish.links import links_of
from .publish.site_pages import site


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    options = _parser().parse_args(arguments)
    if options.lite and not (options.out / options.lite / "lab" / "index.html").is_file():
        print(
            f"site: {options.out / options.lite} has no JupyterLite site; write it first: "
            f"uv run --group lite python tools/build_lite.py --out {options.out / options.lite}",
            file=sys.stderr,
        )
        return 2
    from nbclient.exceptions import CellExecutionError  # here, so that a missing extra is told by `publish`

    options.out.mkdir(parents=True, exist_ok=True)  # before the lessons are executed
    try:
        files = _files(options)
    except (CellExecutionError, ValueError) as error:
        print(f"Nothing is written: {error}", file=sys.stderr)
        return 1
    write(options.out, files)
    print(f"{options.out}: {_summary(files)}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=called("site"), description="Write the course as a site.")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to; its other files stay")
    parser.add_argument("--address", default="", help="the site's address, for the cards that other sites show of it")
    parser.add_argument(
        "--lite", default="", help="folder in it with the lessons as a JupyterLite site: each page has a link to that"
    )
    parser.add_argument("--repository", default="", help="owner/name on GitHub: pages link to Binder and Colab")
    parser.add_argument("--solutions", action="store_true", help="pages of the solutions, too")
    parser.add_argument(
        "--stored", action="store_true", help="lessons show their stored pictures, and are not executed; no slides"
    )
    parser.add_argument("--jobs", type=int, default=2, help="lessons that are executed at a time (2)")
    return parser


def _files(options: argparse.Namespace) -> dict[str, str | bytes]:
    """Return the files of the site by name; so many lessons are executed at a time as the options say."""
    with ThreadPoolExecutor(max(options.jobs, 1)) as jobs:
        return site(
            options.solutions,
            _as_stored if options.stored else _for_pages_and_slides,
            jobs.map,
            options.address,
            options.lite,
            options.repository,
            decks=not options.stored,
        )


def _as_stored(notebook: Any, folder: Path) -> Any:
    """Return a notebook with its stored outputs."""
    return notebook


def _for_pages_and_slides(notebook: Any, folder: Path) -> Any:
    """Execute a notebook once for both."""
    return executed(notebook, folder, SHOW_FOR_SLIDES)


def _summary(files: Mapping[str, str | bytes]) -> str:
    """Say how many pages a site has, how large it is, and how many of its links were checked."""
    pages = {name: str(text) for name, text in files.items() if name.endswith(".html") and Path(name).stem not in MOVED}
    megabytes = sum(map(len, files.values())) / 1e6
    links = links_of(pages)
    away = sum(target.startswith("http") for _, target in links)
    return f"{len(pages)} pages, {megabytes:.1f} MB; {len(links) - away} links checked, {away} lead elsewhere."
