"""Twelve bugs to find: each is what its page says, by the simulator and by NumPy."""

import re

import numpy as np
import pytest
from nightly import every

from course_lib.__main__ import main
from course_lib.classroom import lessons
from course_lib.classroom.pages import bugs

ALL = bugs.bugs()
#: What the kernel without the bug computes: the array that it fills, and its values by NumPy.
RIGHT = {
    1: ("C", lambda A, B, C: A @ B),
    2: ("out", lambda x, out: x.sum(keepdims=True)),
    3: ("out", lambda x, out: x.sum(keepdims=True)),
    4: ("bins", lambda x, bins: np.bincount(x, minlength=10)),
    5: ("out", lambda x, out: x.sum(0)[::-1]),
    6: ("out", lambda x, out: x[::-1]),
    7: ("out", lambda x, out: x - x[np.arange(x.size) // 64 * 64]),
    8: ("out", lambda x, out: 2 * x),
    9: ("out", lambda x, out: np.append(0, np.diff(x))),
    10: ("C", lambda A, B, C: A @ B),
    11: ("out", lambda x, out: x.sum(1)),
    12: ("out", lambda A, out: A.sum(0)),
}
bug = pytest.mark.parametrize("bug", ALL, ids=lambda bug: bug.kind + str(bug.number))


@bug
def test_the_kernel_has_the_bug_and_its_twin_is_right(bug):
    """Findings are of the one kind, with those that follow from it; the slow kernels break no rule, and are right."""
    run, _ = bug.run()
    kinds = {each.kind for each in run.findings}
    twin, arrays = bug.run(twin=True)
    name, right = RIGHT[bug.number]

    assert bug.kind in kinds if bug.kind not in bugs.SLOW else not kinds
    assert not twin.findings
    np.testing.assert_allclose(arrays[name], right(**arrays), rtol=1e-6)


@pytest.mark.parametrize(("number", "found", "best"), [(11, 32, 1), (12, 32, 4)])
def test_what_the_slow_ones_cost(number, found, best):
    """Thirty-two lanes in one bank; thirty-two lanes in 32 sectors of eight numbers, where four hold them."""
    assert [ALL[number - 1].for_each_request(twin) for twin in (False, True)] == [found, best]


@pytest.mark.parametrize("bug", every(3, ALL), ids=lambda bug: bug.kind + str(bug.number))
def test_the_page_shows_no_answer_before_a_click(bug):
    """Marks are gone, a right line can be clicked, and the stepper is at the step of the finding."""
    page = bugs.pages()[f"bug_{bug.number:02}.html"]
    before, _, answer = page.body.partition('<div class="answer" hidden>')
    code = re.findall(r"<code>(.*?)</code>", before)

    assert len(code) == len(bug.lines()) and not re.search(r"# (bug|twin|<-|&lt;-|counted)", page.body)
    assert {n for n, right in enumerate(re.findall(r'data-right="(\d)"', before), 1) if right == "1"} == bug.marked(
        "<-"
    )
    assert bug.marked("<-") and 'class="new"' in answer
    assert bug.stepper().step > 0


def test_the_command_writes_pages_that_need_nothing_else(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("webbrowser.open", lambda address: print(address))
    assert bugs.main([str(tmp_path / "hunt")]) == 0
    assert (tmp_path / "hunt" / "bug_01.html").as_uri() in capsys.readouterr().out
    written = {path.name for path in (tmp_path / "hunt").rglob("*.*")}
    assert {"bug_12.html", "site.css", "site.js", "stepper.js", "stepper.css", "bug_12.data.js"} <= written
    for page in (tmp_path / "hunt").glob("*.html"):
        loaded = re.findall(r'(?:src|href)="([^"#]+)"', page.read_text(encoding="utf-8"))
        assert all((tmp_path / "hunt" / file).exists() for file in loaded), page.name

    (tmp_path / "file").write_text("")
    for command in (["bugs", "--write-only"], ["site", "--out"], ["export", str(next(lessons.files())), "--output"]):
        assert main([*command, str(tmp_path / "file")]) == 2
        assert str(tmp_path / "file") in capsys.readouterr().err
