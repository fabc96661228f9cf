"""Every kernel of the tables in `cases`: its values, counts, findings and refusals; see there."""

import ast
import re
import warnings
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from oracles import numba_cpu, reference
from oracles.comparison import assert_same_counts
from oracles.sources import import_kernel
from simulator.cases import cases

from course_lib import UnsupportedKernelError, simulate
from course_lib.simulator import findings
from course_lib.simulator.language.source import packages


def tagged(case, number, text):
    """Return (kind, array, line, index, count) of a tag for a finding, None for what it leaves open."""
    kind, array, index, count = re.match(r"(\S+)(?: (?!x\d)([^\s(]+))?(?: (\(.*\)))?(?: x(\d+))?$", text).groups()
    return kind, array, number, index and ast.literal_eval(index), count and int(count)


def check_findings(case, run, record):
    """Compare the findings with the tags, and with what the reference has found, if it is the judge."""
    tags = [tagged(case, n, one.strip()) for sort, text, n in case.tags if sort == "?" for one in text.split(";")]
    named = {tag[0] for tag in tags}
    found = {f for f in run.findings if f.kind != "float64" or f.kind in named}
    for tag in tags:
        like = {
            f
            for f in found
            for has in [(f.kind, f.array, f.line, f.index, f.count)]
            if all(wanted in (None, one) for wanted, one in zip(tag, has, strict=True))
        }
        assert like, (tag, run.findings)
        found -= like
    if record is not None:
        noted = {("uninitialized-read", *one) for one in record.uninitialized}
        noted |= {("negative-index", *one) for one in record.negative}
        noted |= {("out-of-bounds", *one) for one in record.out_of_bounds}
        assert {(f.kind, f.array, f.line) for f in found if f.kind != "race"} == noted
        found = {f for f in found if f.kind == "race"}
        assert bool(found) == bool(record.races())
    else:
        assert not found


def close(got, want, rtol=1e-7, atol=0):
    np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)
    return True


def line_of(source, text):
    return next(number for number, line in enumerate(source.split("\n"), 1) if text in line)


def check(expression, names):
    """Assert that an expression is true, with a comparison of arrays element by element."""
    tree = ast.parse(expression, mode="eval").body
    if isinstance(tree, ast.Compare) and len(tree.ops) == 1 and isinstance(tree.ops[0], ast.Eq):
        left, right = (
            eval(compile(ast.Expression(side), expression, "eval"), names) for side in (tree.left, tree.comparators[0])
        )
        if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
            np.testing.assert_array_equal(left, right, err_msg=expression)
        else:
            assert left == right, expression
    else:
        assert eval(expression, names), expression


def check_refusal(case, launched):
    """Assert that the launch ends in the error of the tag, for its line, with its words."""
    ((_, text, line),) = [tag for tag in case.tags if tag[0] == "!"]
    kind, words = "UnsupportedKernelError", text.split()
    if words and words[0].endswith("Error"):
        kind, *words = words
    with pytest.raises(getattr(findings, kind)) as caught:
        launched()
    assert type(caught.value).__name__ == kind
    message = re.sub(r"(?<=\d),(?=\d{3})", "", str(caught.value))  # numbers without commas between thousands
    assert line in (None, caught.value.line), message
    assert line is None or message.startswith(f"line {line}: ")
    if kind == "UnsupportedKernelError":
        assert "\n" not in message, message
    assert [word for word in words if not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", message)] == [], message


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_case(case, folder, monkeypatch, request):
    kernel = import_kernel(case.source, folder)
    launch, options = case.launched()
    given, before = case.given(), case.given()

    def launched():
        return simulate(kernel, **{"strict": False, **options})[launch](*given.values())

    if case.table.alone:
        with pytest.raises(UnsupportedKernelError, match=f"but {case.table.package} has"):
            launched()
    if case.table.package:
        monkeypatch.setattr(packages, "installed", lambda: case.table.package)
    if any(sort == "!" for sort, *_ in case.tags):
        if case.table.judge == "numba":
            with warnings.catch_warnings(), pytest.raises(Exception):  # noqa: B017, PT011
                warnings.simplefilter("error")  # numba compiles some on the CPU, as an experiment
                numba.njit(kernel.py_func)(*given.values())
        return check_refusal(case, launched)
    run, record, want = launched(), None, list(case.given().values())
    if case.table.judge == "reference":
        record = reference.run(kernel, *launch[:2], *want)
        assert_same_counts(run, record)
    elif case.table.judge == "numba":
        numba_cpu.run(case.source, *((d,) if isinstance(d, int) else d for d in launch[:2]), want)
    elif case.table.judge == "cudasim":
        want = request.getfixturevalue("numba_simulator").run(case.source, *launch, want)
    for (name, got), right in zip(given.items(), want if case.table.judge else (), strict=bool(case.table.judge)):
        np.testing.assert_array_equal(got, right, err_msg=name)
    check_findings(case, run, record)
    messages = "\n".join(finding.message for finding in run.findings)
    names = {**case.table.names, **given, "old": SimpleNamespace(**before), "run": run, "close": close}
    names["traffic"] = run.traffic.select
    names["line"] = lambda text: line_of(case.source, text)
    names["said"] = lambda *words: all(word in messages for word in words)
    for expression in case.checks:
        check(expression, names)
