"""Bundles the browser side of each of the viewer's widgets into the one module and the one stylesheet that it takes.

    uv run python tools/build_viewer.py          format and lint the sources, check their types, then bundle
    uv run python tools/build_viewer.py --check  say what of this fails or would change; write nothing

The sources are course_lib/trace/viewer/web/; the bundles, beside the widgets that take them, are committed, so only who
changes the sources needs Node.js with npm, which fetches the tools that tools/viewer/package.json names. biome.jsonc
holds the style, also of the site's scripts and of the tests' own. The first line of a bundle holds two digests, of the
sources and of what follows it: without Node.js, they tell whether somebody changed the one and not the other.
"""

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from course_lib.trace import palette

REPOSITORY = Path(__file__).parents[1]
PACKAGE = REPOSITORY / "course_lib"
SOURCES = PACKAGE / "trace" / "viewer" / "web"
COMPILERS = REPOSITORY / "tools" / "viewer"
#: The entry of each bundle, and the bundle.
BUNDLES = {
    SOURCES / "index.js": SOURCES.parent / "stepper.js",
    SOURCES / "style" / "index.css": SOURCES.parent / "stepper.css",
    SOURCES / "timing_model.js": PACKAGE / "machine" / "timing_model" / "timing_model.js",
    SOURCES / "style" / "timing_model.css": PACKAGE / "machine" / "timing_model" / "timing_model.css",
    SOURCES / "sliders.js": PACKAGE / "machine" / "sliders" / "sliders.js",
    SOURCES / "style" / "sliders.css": PACKAGE / "machine" / "sliders" / "sliders.css",
    SOURCES / "predict.js": PACKAGE / "exercises" / "predict.js",
}
TOKENS = SOURCES / "style" / "tokens.css"
HEAD = "/* Built by tools/build_viewer.py; change course_lib/trace/viewer/web instead. sources {} bundle {} */\n"


def tokens() -> str:
    """Return the stylesheet of the palette's colours, which course_lib/trace/palette.py defines."""
    rows = "".join(f"  {name}: {colour};\n" for name, colour in palette.tokens().items())
    head = "/* Written by tools/build_viewer.py from course_lib/trace/palette.py. */"
    return f"{head}\n.tt-root,\n.tt-sliders-widget,\n.tt-unreadable {{\n{rows}}}\n"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def digest_of_sources(entry: Path) -> str:
    """Digest the files from which an entry is bundled: all those of its kind."""
    paths = sorted(SOURCES.rglob(f"*{entry.suffix}"))
    files = [f"{path.relative_to(SOURCES).as_posix()}\n{path.read_text(encoding='utf-8')}" for path in paths]
    return digest("\0".join([*files, (COMPILERS / "package.json").read_text(encoding="utf-8")]))


def stale(entry: Path, bundle: Path) -> str | None:
    """Say what is wrong with a bundle, judged by its digests; None where nothing is."""
    head, _, body = bundle.read_text(encoding="utf-8").partition("\n")
    if head + "\n" != HEAD.format(digest_of_sources(entry), digest(body)):
        return f"{bundle.name} is not the bundle of course_lib/trace/viewer/web: run tools/build_viewer.py"
    return None


def fetched_tools() -> Path:
    """Return the folder of the commands of `tools/viewer/package.json`, fetched if any is not there.

    Raises FileNotFoundError if npm is needed and not there.
    """
    wanted = json.loads((COMPILERS / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    packages = COMPILERS / "node_modules"
    here = [packages / name / "package.json" for name in wanted]
    versions = [json.loads(path.read_text(encoding="utf-8"))["version"] if path.exists() else None for path in here]
    if versions != [*wanted.values()]:
        npm = shutil.which("npm")
        if npm is None:
            raise FileNotFoundError("The browser's code needs Node.js with npm (Debian: apt-get install npm).")
        subprocess.run([npm, "install", "--no-package-lock", "--no-audit", "--no-fund"], cwd=COMPILERS, check=True)
    return packages / ".bin"


def check_style(commands: Path, write: bool) -> None:
    """Format and lint the browser's code; raise CalledProcessError where it fails. ``write``: change the files."""
    how = ["check", "--write"] if write else ["ci"]
    subprocess.run([commands / "biome", *how, "--error-on-warnings"], cwd=REPOSITORY, check=True)


def check_types(commands: Path) -> None:
    """Raise CalledProcessError, after TypeScript has said why, where the JSDoc types do not fit."""
    subprocess.run([commands / "tsc", "--project", SOURCES / "jsconfig.json"], check=True)


def bundled(commands: Path, entry: Path) -> str:
    """Return the bundle of an entry with its first line."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / entry.name
        options = ["--bundle", "--minify", "--format=esm", "--target=es2022", "--charset=ascii", "--log-level=warning"]
        subprocess.run([commands / "esbuild", entry, *options, f"--outfile={out}"], cwd=SOURCES, check=True)
        body = out.read_text(encoding="utf-8")
    return HEAD.format(digest_of_sources(entry), digest(body)) + body


def main() -> int:
    parser = argparse.ArgumentParser(description="Bundle the stepper's browser side.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if style, types or bundles differ")
    writes = not parser.parse_args().check
    if writes:
        TOKENS.write_text(tokens(), encoding="utf-8")
    faults = [f"{TOKENS.name} is not that of the palette"] * (TOKENS.read_text(encoding="utf-8") != tokens())
    try:
        commands = fetched_tools()
        check_style(commands, write=writes)
        check_types(commands)
    except FileNotFoundError as error:
        print(error)
        return 1
    except subprocess.CalledProcessError as error:
        return error.returncode
    for entry, bundle in BUNDLES.items():
        made = bundled(commands, entry)
        if writes:
            bundle.write_text(made, encoding="utf-8")
            print(f"{bundle.name}: {len(made) / 1000:.0f} kB")
        elif made != bundle.read_text(encoding="utf-8"):
            faults.append(stale(entry, bundle) or f"{bundle.name} is not what the tools make of its sources")
    print("\n".join(faults) or "The bundles are those of these sources.")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
