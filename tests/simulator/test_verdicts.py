"""The published page of verdicts is what its command writes."""

import re
import sys
from pathlib import Path

import kernels_with_bugs as corpus
import pytest

TOOLS = str(Path(__file__).resolve().parents[2] / "tools")
sys.path.insert(0, TOOLS)
import verdicts  # noqa: E402

sys.path.remove(TOOLS)

ROWS = re.findall(r"^\| \[(.*)\]\(\.\./tests/kernels_with_bugs/\w+\.py\).*$", verdicts.PAGE.read_text(), re.MULTILINE)


def test_the_page_lists_every_kernel_once():
    assert ROWS == [name.replace("_", " ") for name in corpus.NAMES]


@pytest.mark.parametrize(
    "name",
    [
        "lock_with_a_fence_of_the_block",
        "locks_in_opposite_order",
        "lost_update_between_two_atomics",
        "vertex_after_the_last",
    ],
)
def test_a_row_is_what_a_run_gives(name):
    assert verdicts.judge(name).row in verdicts.PAGE.read_text().splitlines()


@pytest.mark.nightly
def test_the_page_is_what_the_command_writes():
    text = verdicts.PAGE.read_text()
    assert verdicts.page(text, verdicts.tables([verdicts.judge(name) for name in corpus.NAMES])) == text
