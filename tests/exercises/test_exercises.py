"""Each exercise: the skeleton says "not yet", the solution passes, a typical mistake meets the hint that names it."""

import importlib.util
import json
import re
from functools import cache
from pathlib import Path

import pytest

from course_lib.exercises import EXERCISES, check

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
LESSONS = ("02_naive", "04_tiling", "03_prefetching")

HEADER = "from numba import cuda, float32\n\nTILE = 8\n\n\n"
DOTS = re.compile(r"^ *\.\.\.\n", re.MULTILINE)


@cache
def _cells(path: Path) -> dict[str, str]:
    """The exercise cells of a notebook: {name of the exercise: source without the call of check}."""
    found = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        called = re.search(r'^check\("([\w-]+)", (\w+)\)$', source, re.MULTILINE)
        if cell["cell_type"] == "code" and called:
            assert called[1] not in found
            found[called[1]] = source[: called.start()].rstrip() + "\n"
    return found


def skeletons() -> dict[str, str]:
    return {name: text for lesson in LESSONS for name, text in _cells(NOTEBOOKS / f"{lesson}.ipynb").items()}


def solutions() -> dict[str, str]:
    return {
        name: text for lesson in LESSONS for name, text in _cells(NOTEBOOKS / "solutions" / f"{lesson}.ipynb").items()
    }


def fill(skeleton: str, *answers: str) -> str:
    """Put one answer in the place of each ``...``."""
    parts = DOTS.split(skeleton)
    assert len(parts) == len(answers) + 1
    return parts[0] + "".join(f"{answer.rstrip()}\n{rest}" for answer, rest in zip(answers, parts[1:], strict=True))


def kernel_from(text: str, folder: Path):
    """Import ``text`` as a module, so that its source can be found, and return the kernel in it."""
    file = folder / "answer.py"
    file.write_text(HEADER + text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("answer", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    name = re.search(r"^def (\w+)\(", text, re.MULTILINE)[1]
    return getattr(module, name)


def _fill_ins(name):
    """The answers of the solution, one per fill-in of the skeleton."""
    pattern = "(.+?\n)".join(re.escape(part) for part in DOTS.split(skeletons()[name]))
    return list(re.fullmatch(pattern, solutions()[name], re.DOTALL).groups())


def _verdict(name, tmp_path, *answers):
    return check(name, kernel_from(fill(skeletons()[name], *answers), tmp_path))


def test_every_exercise_is_in_a_lesson_and_has_a_solution():
    assert list(skeletons()) == list(EXERCISES) == list(solutions())


@pytest.mark.parametrize("name", EXERCISES)
def test_solution_and_skeleton_are_equal_outside_the_fill_in(name):
    """And the skeleton says truly how many lines are missing, give or take one."""
    answers = _fill_ins(name)
    announced = [int(n) for n in re.findall(r"# your code here \(about (\d+) lines?\)\n *\.\.\.\n", skeletons()[name])]
    assert len(announced) == len(answers) >= 1
    for lines, answer in zip(announced, answers, strict=True):
        assert abs(answer.count("\n") - lines) <= 1


@pytest.mark.parametrize("name", EXERCISES)
def test_skeleton_is_not_yet_done(name, tmp_path):
    verdict = check(name, kernel_from(skeletons()[name], tmp_path))
    assert (verdict.status, verdict.passed) == ("not yet", False)
    assert repr(verdict).startswith(f"{name}: not yet\n")


@pytest.mark.parametrize("name", EXERCISES)
def test_solution_passes_and_shows_its_counts(name, tmp_path):
    verdict = check(name, kernel_from(solutions()[name], tmp_path))
    assert verdict.passed, verdict
    assert verdict.hint is None
    assert len(verdict.checks) == 2 + len(EXERCISES[name].budgets)
    assert repr(verdict) == repr(check(name, kernel_from(solutions()[name], tmp_path)))


def _replaced(name, *changes):
    """The solution's fill-ins with some text replaced; each text must be there."""
    answers = _fill_ins(name)
    for old, new in changes:
        assert any(old in answer for answer in answers), old
        answers = [answer.replace(old, new) for answer in answers]
    return answers


FROM_GLOBAL = "(A[row, start + k] * B[start + k, col] if row < M and col < N and start + k < K else float32(0))"

WRONG = [
    ("transposed", "no guard", [("if row < M and col < N", "if row >= 0 or col >= 0")], "reach beyond C"),
    ("transposed", "B by columns", [("B[col, k]", "B[k, col]")], "order of B's indices"),
    (
        "transposed",
        "x and y swapped",
        [
            ("blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y", "blockIdx.q * cuda.blockDim.q + cuda.threadIdx.q"),
            ("blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x", "blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y"),
            ("blockIdx.q * cuda.blockDim.q + cuda.threadIdx.q", "blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x"),
        ],
        "x and y look swapped",
    ),
    ("transposed", "one term short", [("range(K)", "range(K - 1)")], "last term"),
    (
        "transposed",
        "sum in C",
        [("acc += A[row, k] * B[col, k]", "C[row, col] += A[row, k] * B[col, k]"), ("        C[row, col] = acc", "")],
        "holds no zeros",
    ),
    (
        "transposed",
        "store in the loop",
        [("        C[row, col] = acc", "            C[row, col] = acc")],
        "store it once",
    ),
    (
        "transposed",
        "a load too many",
        [("acc += A[row, k] * B", "acc += (A[row, k] + A[row, k]) / float32(2) * B")],
        "one element of A and one of B",
    ),
    (
        "two-columns",
        "A loaded twice",
        [("+= a *", "+= A[row, k] *"), ("a = A[row, k]", "pass")],
        "keep it in a variable",
    ),
    ("two-columns", "same column twice", [("left + 1", "left")], "both columns hold the same"),
    ("two-columns", "two columns further", [("left + 1", "left + 2")], "left and left + 1"),
    ("barriers", "no first barrier", [("        cuda.syncthreads()\n        for", "        for")], "need a barrier"),
    ("barriers", "no second barrier", [("k, tx]\n        cuda.syncthreads()", "k, tx]")], "need a barrier"),
    (
        "barriers",
        "barrier in the inner loop",
        [("k, tx]\n        cuda", "k, tx]\n            cuda")],
        "inside the loop over k",
    ),
    ("barriers", "stops one short", [("range(TILE)", "range(TILE - 1)")], "last element of every tile"),
    ("barriers", "from global memory", [("A_tile[ty, k] * B_tile[k, tx]", FROM_GLOBAL)], "leave A and B alone"),
    ("barriers", "starts over", [("        for k", "        acc = float32(0)\n        for k")], "from tile to tile"),
    (
        "barriers",
        "barrier in a guard",
        [
            (
                "        cuda.syncthreads()\n        for",
                "        if row < M and col < N:\n            cuda.syncthreads()\n        for",
            )
        ],
        "out of any if",
    ),
    (
        "gram",
        "uncoalesced",
        [
            ("other = cuda.blockIdx.x * TILE + ty", "pass"),
            ("if other < M and start + tx < K", "if col < M and start + ty < K"),
            ("A[other, start + tx]", "A[col, start + ty]"),
            ("cols[tx, k]", "cols[k, tx]"),
        ],
        "tx run along the row",
    ),
    ("gram", "rows of the block's own row", [("cuda.blockIdx.x * TILE + ty", "row")], "not at blockIdx.y"),
    ("gram", "wrong guard", [("if other < M and", "if row < M and")], "not `row`"),
    ("gram", "no second barrier", [("[tx, k]\n        cuda.syncthreads()", "[tx, k]")], "finished with them"),
    (
        "gram",
        "A times A",
        [
            ("A[other, start + tx]", "A[start + ty, col]"),
            ("if other < M and start + tx < K", "if start + ty < M and col < K"),
            ("cols[tx, k]", "cols[k, tx]"),
        ],
        "this is A·A",
    ),
    (
        "gram",
        "second tile unused",
        [("cols[tx, k]", "(A[col, start + k] if col < M and start + k < K else float32(0))")],
        "one element of each tile",
    ),
    (
        "gram",
        "barrier in the inner loop",
        [("[tx, k]\n        cuda", "[tx, k]\n            cuda")],
        "two barriers per pair",
    ),
    (
        "one-buffer",
        "loads twice",
        [("= A[row, start + tx]", "= float32(0.5) * (A[row, start + tx] + A[row, start + tx])")],
        "each tile, once",
    ),
    (
        "one-buffer",
        "a barrier too many",
        [("= a_next\n", "= a_next\n        cuda.syncthreads()\n")],
        "two barriers per round",
    ),
    ("one-buffer", "one tile too many", [("row < M and start + tx < K", "row < M")], "a tile that does not exist"),
    (
        "one-buffer",
        "no barrier before",
        [("        cuda.syncthreads()\n        A_tile", "        A_tile")],
        "must wait twice",
    ),
    ("one-buffer", "no barrier after", [("b_next\n        cuda.syncthreads()", "b_next")], "must wait twice"),
    ("last-round", "asks per thread", [("if start < K", "if start + tx < K")], "ask about start"),
    ("last-round", "no question", [("if start < K", "if True")], "nothing to store"),
    ("last-round", "barrier outside", [("            cuda.syncthreads()", "        cuda.syncthreads()")], "can go too"),
    ("last-round", "no barrier", [("            cuda.syncthreads()", "")], "must also wait"),
]


@pytest.mark.parametrize("name, mistake, changes, hint", WRONG, ids=[f"{w[0]}: {w[1]}" for w in WRONG])
def test_a_typical_mistake_fails_with_the_hint_that_names_it(name, mistake, changes, hint, tmp_path):
    verdict = _verdict(name, tmp_path, *_replaced(name, *changes))
    assert verdict.status == "failed"
    assert hint in verdict.hint, verdict


def test_late_loads_are_no_prefetch(tmp_path):
    """The loads move behind the multiplies: right values, and the order is graded."""
    fetch, store = _fill_ins("one-buffer")
    verdict = _verdict("one-buffer", tmp_path, "        pass\n", fetch + store)
    assert verdict.status == "failed"
    assert [passed for passed, _ in verdict.checks[:3]] == [True] * 3
    assert "before the multiplies" in verdict.hint


def test_a_kernel_that_does_nothing_is_not_yet_done(tmp_path):
    assert _verdict("transposed", tmp_path, "    pass").status == "not yet"


def test_what_the_simulator_refuses_is_a_failure_with_its_words(tmp_path):
    verdict = _verdict("transposed", tmp_path, "    C[0, 0] = [1, 2]")
    assert verdict.status == "failed"
    assert "line" in verdict.hint
    assert "Traceback" not in repr(verdict)


def test_a_loop_that_never_ends_is_reported_with_its_line(tmp_path):
    answer = "    row = cuda.grid(1)\n    while row >= 0:\n        row += 1"
    verdict = _verdict("transposed", tmp_path, answer)
    assert verdict.status == "failed"
    lines = (tmp_path / "answer.py").read_text(encoding="utf-8").splitlines()
    assert f"line {lines.index('    while row >= 0:') + 1}: this loop" in verdict.hint


def test_a_constant_answer_cannot_pass(tmp_path):
    """What is right for 1×1 matrices, or all zeros, is wrong for the others."""
    verdict = _verdict("transposed", tmp_path, "    if cuda.grid(1) == 0:\n        C[0, 0] = A[0, 0] * B[0, 0]")
    assert verdict.status == "failed"
    assert "C is wrong in" in repr(verdict)
    assert max(map(len, repr(verdict).splitlines())) <= 100


def test_wrong_arguments_meet_one_clear_sentence():
    def no_matrices(x):
        pass

    with pytest.raises(TypeError, match="name of the exercise first"):
        check(no_matrices, "barriers")
    with pytest.raises(ValueError, match="there is no exercise 'barrier'; the exercises are transposed"):
        check("barrier", no_matrices)
    with pytest.raises(TypeError, match="takes the kernel itself.*not NoneType"):
        check("barriers", None)
    with pytest.raises(ValueError, match=r"takes \(A, B, C\), and no_matrices takes \(x\)"):
        check("barriers", no_matrices)
    assert check("barriers", lambda A, B, C: None).status in ("failed", "not yet")
