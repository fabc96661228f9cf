"""Takes the README's pictures: docs/stepper.png, a frame of tiled, and docs/stepper.gif, naive beside tiled.

    uv run python tools/picture_readme.py

Needs Chromium or Chrome, as the browser tests do. The pictures come from saved pages, so nothing else runs.
"""

import io
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from course_lib.kernels import rung
from course_lib.trace.viewer import Stepper, compare
from course_lib.trace.viewer.explorer import run_product

DOCS = Path(__file__).parents[1] / "docs"
FRAME_MS, LAST_MS = 700, 2500  # how long each step of the animation is shown
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def frames_of(page: Page, shown: Stepper, folder: str, *size: int) -> list[Image.Image]:
    """Return a picture of each step that the right arrow goes to, in a window of that size."""
    page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    page.goto(shown.save(Path(folder, "stepper.html")).as_uri())
    root, count = page.locator(".tt-root"), page.locator(".tt-count")
    root.press("Home")
    frames, told = [], ""
    while count.text_content() != told:
        told = count.text_content() or ""
        page.evaluate("document.activeElement.blur()")
        page.wait_for_function("document.getAnimations().every(each => each.playState !== 'running')")
        frames.append(Image.open(io.BytesIO(root.screenshot())).convert("RGB"))
        root.press("ArrowRight")
    return frames


def main() -> None:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    naive, tiled = (run_product(rung(name), 8, 4, trace=True) for name in ("naive", "tiled"))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", chromium), args=FLAGS)
        page = browser.new_page(color_scheme="light", reduced_motion="reduce")
        frames = frames_of(page, compare(naive, tiled), folder, 1150, 830)
        frames = frames_of(page, Stepper(run_product(rung("tiled"), 16, 4, trace=True)), folder, 1280, 760)
        frames[len(frames) // 2].save(DOCS / "stepper.png", optimize=True)
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
