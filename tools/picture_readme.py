"""Takes the README's pictures of the stepper: docs/stepper.png, and docs/stepper.gif, a few steps of a tile.

    uv run python tools/picture_readme.py

Needs Chromium or Chrome, as the browser tests do. The pictures come from a saved page, so nothing else runs.
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from course_lib import simulate
from course_lib.kernels.tiled import tiled
from course_lib.trace.viewer import Stepper

DOCS = Path(__file__).parents[1] / "docs"
SIZE = {"width": 1280, "height": 980}
FRAMES, FRAME_MS, LAST_MS = 18, 700, 2500  # the steps of the animation, and how many milliseconds each is shown
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def stepper() -> Stepper:
    """Tiles of 4×4 in 8×8 matrices of small whole numbers, in the middle of the second tile."""
    numbers = np.random.default_rng(4)
    A, B = numbers.integers(1, 10, (2, 8, 8)).astype(np.float32)
    run = simulate(tiled(4), trace=True)[(2, 2), (4, 4)](A, B, np.zeros((8, 8), np.float32))
    return Stepper(run, thread=(1, 2))


def shot(page: Page) -> Image.Image:
    return Image.open(io.BytesIO(page.locator(".tt-root").screenshot())).convert("RGB")


def main() -> None:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    shown = stepper()
    shown.step = shown.timeline.telling_step(0) - FRAMES // 2
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = shown.save(Path(folder, "stepper.html"))
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", chromium), args=FLAGS)
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(path.as_uri())
        page.locator(".tt-count").wait_for()
        frames = []
        for step in range(FRAMES):
            page.locator(".tt-root").press("ArrowRight")
            page.evaluate("document.activeElement.blur()")
            frames.append(shot(page))
            if step == FRAMES // 2 - 1:
                frames[-1].save(DOCS / "stepper.png", optimize=True)
        browser.close()
    small = [frame.resize((frame.width * 3 // 4, frame.height * 3 // 4), Image.Resampling.LANCZOS) for frame in frames]
    strip = Image.fromarray(np.vstack([np.asarray(frame) for frame in small]))  # so that no frame's colours are missing
    # Half the palette are the commonest colours, exactly, for spread ones tint the many light greys; half are spread.
    common = sorted(strip.getcolors(1 << 24), reverse=True)[:127]
    spread = strip.quantize(128, method=Image.Quantize.MAXCOVERAGE).getpalette()
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for _, colour in common for part in colour] + spread)
    first, *rest = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in small]
    last = [FRAME_MS] * len(rest) + [LAST_MS]
    first.save(DOCS / "stepper.gif", save_all=True, append_images=rest, duration=last, loop=0, optimize=True)
    print(*(f"docs/{path.name}: {path.stat().st_size / 1000:.0f} kB" for path in DOCS.glob("stepper.*")))


if __name__ == "__main__":
    main()
