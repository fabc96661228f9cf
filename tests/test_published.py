"""The list of public kernels, its table in the documentation, and the tool that writes it."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
LISTED = tomllib.loads((ROOT / "tools" / "published.toml").read_text("utf-8"))["project"]


def test_the_list_and_its_table_have_the_same_kernels():
    """Each project with a commit and a licence, each kernel that is refused with a line and a reason."""
    kernels = [kernel for project in LISTED for kernel, *_ in project["kernels"]]
    rows = re.findall(r"^\|.*\| `(.*?:\w+)` \| (.*) \|$", (ROOT / "docs" / "published.md").read_text("utf-8"), re.M)
    assert [kernel for kernel, _ in rows] == kernels != []
    assert all(re.fullmatch(r"[0-9a-f]{40}", project["commit"]) and project["licence"] for project in LISTED)
    refused = [said for _, said in rows if said.startswith("refused")]
    assert all(re.match("refused: line [0-9]+: .", said) for said in refused)


def test_a_checkout_is_run_and_the_others_are_missing(tmp_path):
    """The tool runs what is there, names what is not, and leaves the page as it is."""
    before = (ROOT / "docs" / "published.md").read_bytes()
    folder = tmp_path / "patosmolar+ppds" / "cv9"
    folder.mkdir(parents=True)
    text = "from numba import cuda\n@cuda.jit\ndef convolve(result, mask, image):\n    result[0, 0] = mask[0, 0]\n"
    (folder / "main.py").write_text(text)
    told = subprocess.run(
        [sys.executable, ROOT / "tools" / "published.py", tmp_path], capture_output=True, text=True, check=False
    )
    assert told.returncode == 2 and (ROOT / "docs" / "published.md").read_bytes() == before
    assert "| patosmolar/ppds | none given | `cv9/main.py:convolve` | race |" in told.stdout
    assert "`xrspatial/aspect.py:_run_gpu` | missing |" in told.stdout
