"""Each exercise: the skeleton says "not yet", right answers pass, plausible wrong ones meet the hint that names them.

The answers are in answers/, a file for each lesson. For each exercise ``WRONG`` and ``NIGHTLY`` have what is wrong: the
change, and the id of the hint (with words of it, where other mistakes meet the same id); ``RIGHT`` has what is
different: the change. A change is a list of (old, new), applied to the cell of the solution, or a list with one text
for each fill-in of the skeleton, or a text that takes the place of the cell. By day every ninth
answer of ``WRONG`` and every third of ``RIGHT`` is tried, `--nightly` tries all: the verdicts of ``NIGHTLY`` take long,
since many repairs are launched, and other answers to the same and to other exercises run every line of
`course_lib/exercises` that they run.
"""

import ast
import importlib.util
import itertools
import json
import math
import re
from functools import cache
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from exercises.tables import DOTS, TABLES, applied, tables
from nightly import every
from oracles.mutation import mutants
from oracles.rewrites import REWRITES
from oracles.sources import import_module

from course_lib import simulate
from course_lib.exercises import EXERCISES, check, explain
from course_lib.exercises.grading.budgets import global_loads
from course_lib.exercises.grading.exercise import Exercise
from course_lib.exercises.grading.explain import Explanation
from course_lib.exercises.grading.grades import launch
from course_lib.exercises.grading.source import read
from course_lib.exercises.grading.verdict import Check, Verdict
from course_lib.exercises.progress import score
from course_lib.kernels import rung
from course_lib.simulator.findings import SimulatorError
from course_lib.simulator.language.source.reading import read as read_source
from course_lib.simulator.repairs.table import candidates

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
LESSONS = sorted(path.name for path in NOTEBOOKS.glob("[0-9]*.ipynb"))
ANSWERS = [tables(path.stem) for path in sorted((Path(__file__).parent / "answers").glob("*.py"))]
WRONG, NIGHTLY, RIGHT = (
    [
        (name, what, answer)
        for lesson in ANSWERS
        for name, answers in lesson.get(table, {}).items()
        for what, answer in answers.items()
    ]
    for table in TABLES
)
#: What stands above a lesson's exercises, where it is not this.
HEADERS = {name: lesson["HEADER"] for lesson in ANSWERS if "HEADER" in lesson for name in lesson["WRONG"]}

HEADER = "from numba import cuda, float32\n\nTILE = 8\n\n\n"
KERNELS = [name for name, exercise in EXERCISES.items() if not isinstance(exercise, Explanation)]
IN_WORDS = [name for name in EXERCISES if name not in KERNELS]
FILLED = [name for name in KERNELS if not EXERCISES[name].given]
GIVEN = [name for name in KERNELS if EXERCISES[name].given]


@cache
def _cells(path: Path) -> dict[str, str]:
    """The exercise cells of a notebook: {name of the exercise: source without the call of check}."""
    found = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            continue
        called = re.search(r'^check\("([\w-]+)", (\w+)\)$', source, re.MULTILINE)
        asked = re.search(r'^explain\(\s*"([\w-]+)",\s*"""(.*?)""",?\s*\)$', source, re.MULTILINE | re.DOTALL)
        if called or asked:
            name = (called or asked)[1]
            assert name not in found, name
            found[name] = source[: called.start()].rstrip() + "\n" if called else asked[2]
    return found


@cache
def skeletons() -> dict[str, str]:
    return {name: text for lesson in LESSONS for name, text in _cells(NOTEBOOKS / lesson).items()}


@cache
def solutions() -> dict[str, str]:
    paths = [NOTEBOOKS / "solutions" / lesson for lesson in LESSONS]
    return {name: text for path in paths if path.exists() for name, text in _cells(path).items()}


_numbers = itertools.count()


def kernel_from(text: str, folder: Path, header: str = HEADER):
    """Import ``text`` as a module, so that its source can be found, and return the kernel in it."""
    file = folder / f"answer{next(_numbers)}.py"
    file.write_text(header + text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("answer", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    *_, name = re.findall(r"^def (\w+)\(", text, re.MULTILINE)
    return getattr(module, name)


def _fill_ins(name):
    """The answers of the solution, one per fill-in of the skeleton."""
    pattern = "(.+?\n)".join(re.escape(part) for part in DOTS.split(skeletons()[name]))
    return list(re.fullmatch(pattern, solutions()[name], re.DOTALL).groups())


def _text(name, change):
    return applied(change, solutions()[name], skeletons()[name])


def _verdict(name, tmp_path, change):
    return check(name, kernel_from(_text(name, change), tmp_path, HEADERS.get(name, HEADER)))


# ---- every exercise -------------------------------------------------------------------------------------------


def test_every_exercise_is_in_a_lesson_and_has_a_solution():
    assert list(skeletons()) == list(EXERCISES) == list(solutions())


def test_every_diagnosis_has_an_id():
    """A class's page counts by it how many met the mistake."""
    kernels = [exercise for exercise in EXERCISES.values() if isinstance(exercise, Exercise)]
    found = [(exercise.name, each) for exercise in kernels for each in (*exercise.diagnoses, *exercise.symptoms)]
    assert not [name for name, each in found if each.__name__ == "diagnosis"]


@pytest.mark.parametrize("name", KERNELS)
def test_answers_are_tried(name):
    """A plausible wrong one, and a right one beside the solution."""
    assert name in {exercise for exercise, *_ in WRONG}
    assert name in {exercise for exercise, *_ in RIGHT}


@pytest.mark.parametrize("name", FILLED)
def test_solution_and_skeleton_are_equal_outside_the_fill_in(name):
    """And the skeleton says truly how many lines are missing, give or take one."""
    answers = _fill_ins(name)
    announced = [int(n) for n in re.findall(r"# your code here \(about (\d+) lines?\)\n *\.\.\.\n", skeletons()[name])]
    assert len(announced) == len(answers) >= 1
    for lines, answer in zip(announced, answers, strict=True):
        assert abs(answer.count("\n") - lines) <= 1


def _statements(source: str) -> dict[str, str]:
    """The functions of a source without decorators and docstrings, which the lesson alone has: {name: text}."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            node.decorator_list, node.body = [], node.body[ast.get_docstring(node) is not None :]
            found[node.name] = ast.unparse(node)
    return found


@pytest.mark.parametrize("name", GIVEN)
def test_the_kernel_given_is_the_one_in_the_lesson(name):
    """Both have the same statements, and the solution keeps the name and the parameters."""
    head = re.compile(r"^def .*$", re.MULTILINE)
    given = _statements(EXERCISES[name].given)
    assert given
    assert given.items() <= _statements(skeletons()[name]).items()
    assert head.findall(skeletons()[name]) == head.findall(solutions()[name])


@pytest.mark.parametrize("name", KERNELS)
def test_skeleton_is_not_yet_done(name, tmp_path):
    verdict = check(name, kernel_from(skeletons()[name], tmp_path, HEADERS.get(name, HEADER)))
    assert (verdict.status, verdict.passed, bool(verdict)) == ("not yet", False, False)
    assert repr(verdict).startswith(f"{name}: not yet\n")


@pytest.mark.parametrize("name", KERNELS)
def test_solution_passes_and_shows_its_counts(name, tmp_path):
    verdict = _verdict(name, tmp_path, [])
    assert verdict, verdict
    assert verdict.hint is None
    assert len(verdict.checks) == verdict.points == verdict.of == EXERCISES[name].points


@pytest.mark.parametrize("case", every(61, list(itertools.product(KERNELS, REWRITES))), ids=": ".join)
def test_a_solution_in_other_words_passes(case, tmp_path):
    """A check judges what a kernel does, however its lines are written."""
    name, rewrite = case
    text = REWRITES[rewrite](solutions()[name])
    verdict = check(name, kernel_from(text, tmp_path, HEADERS.get(name, HEADER)))
    assert verdict, f"{text}\n{verdict}"


@pytest.mark.parametrize("case", EXERCISES["free-paddings"].cases[2:], ids=EXERCISES["free-paddings"].describe)
def test_paddings_without_conflict_are_those_of_the_kernel(case):
    """Counted again as wavefronts of `padded`, for matrices that are one tile."""
    (T, most), free = case.arguments, 0
    for padding in range(most + 1):
        run = simulate(rung("padded").make(T, padding=padding))[1, (T, T)](*np.ones((3, T, T), np.float32))
        loads = run.traffic.select(space="shared", op="load", array="B_tile")
        free += loads.wavefronts == loads.requests
    assert free == case.want


def _holds(exercise, kernel, shapes):
    try:
        return not any(o.differs.any() or o.run.errors for o in (launch(exercise, kernel, shape) for shape in shapes))
    except SimulatorError:
        return False


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name", [n for n in KERNELS if isinstance(EXERCISES[n], Exercise) and EXERCISES[n].task.larger_sizes == "every"]
)
def test_what_passes_holds_at_further_sizes(name, tmp_path):
    """No mutant of a solution passes that fails at other sizes: a check needs no more launches than it makes."""
    exercise, rng = EXERCISES[name], np.random.default_rng(len(name))
    columns = tuple(zip(*exercise.task.shapes, strict=True))
    further = []
    for _ in range(20):  # sizes that are equal in all launches of the check are equal here
        chosen = {
            c: math.gcd(*c) * int(rng.choice([1, 2, 3, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40])) for c in columns
        }
        further.append(tuple(chosen[column] for column in columns))
    for mutant in mutants(HEADERS.get(name, HEADER) + solutions()[name]):
        module = import_module(mutant.source, tmp_path)
        *_, function = re.findall(r"^def (\w+)\(", mutant.source, re.MULTILINE)
        kernel = getattr(module, function)
        if _holds(exercise, kernel, exercise.task.launches) and check(name, kernel):
            assert _holds(exercise, kernel, further), mutant


@pytest.mark.parametrize("answer", every(3, RIGHT), ids=[f"{r[0]}: {r[1]}" for r in RIGHT])
def test_another_right_answer_passes(answer, tmp_path):
    name, _, change = answer
    verdict = _verdict(name, tmp_path, change)
    assert verdict, verdict


@pytest.mark.parametrize(
    "name, change, hint",
    [
        pytest.param(name, *answer, id=f"{name}: {what}", marks=() if number in by_day else pytest.mark.nightly)
        for answers, by_day in ((WRONG, range(0, len(WRONG), 9)), (NIGHTLY, ()))
        for number, (name, what, answer) in enumerate(answers)
    ],
)
def test_a_plausible_mistake_fails_with_the_hint_that_names_it(name, change, hint, tmp_path):
    verdict = _verdict(name, tmp_path, change)
    assert verdict.status == "failed"
    assert not verdict
    id, _, place = hint.partition(": ")
    assert verdict.hint_id == id and place in verdict.hint, verdict
    assert max(map(len, repr(verdict).splitlines())) <= 140  # a quoted line may be longer than the text


#: Answers as people typed them: with the mistake that two readers named, and the id of the hint that names it.
TYPED = json.loads((Path(__file__).parent / "as_typed.json").read_text(encoding="utf-8"))
TYPED_HEADER = "import numpy as np\nfrom numba import uint64\n"


@pytest.mark.parametrize("answer", every(30, TYPED), ids=lambda answer: f"{answer['exercise']}: {answer['what']}")
def test_an_answer_as_it_was_typed_meets_the_hint_that_names_its_mistake(answer, tmp_path):
    """Both readers named the mistakes from the answers alone; "none" is the hint for an answer that is right.

    Of a kernel the hint also names lines, unless what is missing stands nowhere.
    """
    name, code = answer["exercise"], answer["code"]
    if name in IN_WORDS:
        said = re.search(r'"""(.*?)"""', code, re.DOTALL)[1]
        verdict = explain(name, said)
    else:
        verdict = check(name, kernel_from(code, tmp_path, TYPED_HEADER + HEADERS.get(name, HEADER)))
    assert ("none" if verdict.passed else verdict.hint_id) == answer["hint"], verdict
    if isinstance(EXERCISES[name], Exercise) and verdict.hint_id not in ("", "never-stored"):
        assert re.search(r"\blines? \d", verdict.hint), verdict


@pytest.mark.parametrize("name", IN_WORDS)
def test_words_are_compared_by_the_reader(name):
    """No answer in words gets a tick by itself; the model answer comes after an attempt, folded; the reader counts."""
    score.cache_clear()
    exercise = EXERCISES[name]
    unfilled = explain(name, skeletons()[name])
    assert unfilled.status == "not yet" and exercise.model[:40] not in unfilled._repr_html_()
    for answer in (exercise.model, solutions()[name], " ".join(["not"] * 9)):
        verdict = explain(name, answer)
        assert (verdict.status, verdict.points, verdict.of) == ("answered", 0, len(exercise.ideas))
        assert exercise.model[:40] in " ".join(repr(verdict).split())
        assert "✓" not in repr(verdict) + verdict._repr_html_()
        before, folded = unescape(verdict._repr_html_()).split("<details>")
        assert all(check.text[:20] not in before and check.text[:20] in folded for check in verdict.checks)
    assert (explain(name, exercise.model, found=(1,)).points, score().points[name]) == (1, (1, exercise.points))
    none = explain(name, exercise.model, found=())
    assert (none.points, none.hint, score().points[name]) == (0, None, (0, exercise.points))
    with pytest.raises(ValueError, match="has the points 1 to"):
        explain(name, exercise.model, found=(9,))


def test_ticks_are_what_the_score_shows(monkeypatch):
    score.cache_clear()
    boxes = explain("forty-eight", EXERCISES["forty-eight"].model).ticks().children[1:]
    assert score().points["forty-eight"] == (0, 2)
    for tick in boxes:
        tick.value = True
    boxes[0].value = False
    assert score().points["forty-eight"] == (1, 2)
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw, metadata=None: shown.append(set(data)))
    explain("forty-eight", EXERCISES["forty-eight"].model)._ipython_display_()
    explain("forty-eight", "")._ipython_display_()
    assert shown == [
        {"text/plain", "text/html"},
        {"application/vnd.jupyter.widget-view+json"},
        {"text/plain", "text/html"},
    ]


# ---- how verdicts are found -----------------------------------------------------------------------------------


def test_a_kernel_that_stores_nothing_is_told_so(tmp_path):
    verdict = _verdict("transposed", tmp_path, ["    pass"])
    assert verdict.status == "failed"
    assert verdict.checks[1].text == "your kernel never stores into C for (M, N, K) = (16, 16, 16)"
    assert [check.passed for check in verdict.checks] == [True, False, None, None]
    assert verdict.points == 0


def test_a_loop_that_never_ends_is_reported_with_its_line(tmp_path):
    kernel = kernel_from(
        _text("transposed", ["    row = cuda.grid(1)\n    while row >= 0:\n        row += 1"]), tmp_path
    )
    (file,) = tmp_path.iterdir()
    lines = file.read_text(encoding="utf-8").splitlines()
    verdict = check("transposed", kernel)
    assert verdict.status == "failed"
    assert f"line {lines.index('    while row >= 0:') + 1}: this loop" in verdict.hint


def test_a_constant_answer_cannot_pass(tmp_path):
    """What is right for 1×1 matrices, or all zeros, is wrong for the others."""
    verdict = _verdict("transposed", tmp_path, ["    if cuda.grid(1) == 0:\n        C[0, 0] = A[0, 0] * B[0, 0]"])
    assert verdict.status == "failed"
    assert "C is wrong in 256 of 256 elements" in repr(verdict)
    assert re.search(r"first C\[0, 0\]: got -?[\d.]+, wanted -?[\d.]+", " ".join(repr(verdict).split()))
    assert max(map(len, repr(verdict).splitlines())) <= 100


def test_values_of_a_kernel_that_breaks_a_rule_get_no_tick(tmp_path):
    """What lies beyond the row of a tile is added as 0 here, and is another element on a GPU."""
    verdict = _verdict("too-deep", tmp_path, [("range(TILE)", "range(TILE + 1)")])
    assert "reads A_tile[0, 8], outside its shape" in " ".join(verdict.checks[0].text.split())
    assert "guard the access" not in repr(verdict)
    assert verdict.checks[1].passed is None
    assert verdict.checks[1].text.startswith("C is right here, but may be wrong on a GPU")


def test_values_can_be_checked_in_the_head(tmp_path):
    verdict = _verdict("transposed", tmp_path, [("C[row, col] = acc", "C[row, col] = acc + 1")])
    got, wanted = re.search(r"got (-?\d+), wanted (-?\d+)$", verdict.checks[1].text).groups()
    assert int(got) == int(wanted) + 1


def test_parameters_in_another_order_are_told(tmp_path):
    text = solutions()["transposed"].replace("(A, B, C)", "(C, A, B)")
    assert "and transposed takes (C, A, B)" in check("transposed", kernel_from(text, tmp_path)).checks[0].text


def test_findings_and_values_bear_the_students_names(tmp_path):
    text = REWRITES["other parameters"](solutions()["transposed"])
    wrong = check("transposed", kernel_from(text.replace("C_x[row, col] = acc", "C_x[row, col] = 1000"), tmp_path))
    assert "first C_x[0, 0]: got 1000, wanted " in wrong.checks[1].text
    assert wrong.show().step > 0
    text = REWRITES["other parameters"](solutions()["along-the-row"]).replace(
        "] = float32", "] = A_x[row, col] = float32"
    )
    elsewhere = check("along-the-row", kernel_from(text, tmp_path))
    assert "stores into A_x, which the kernel may only read" in elsewhere.checks[0].text


def test_a_broken_rule_quotes_the_students_lines(tmp_path):
    verdict = _verdict("barriers", tmp_path, [("k, tx]\n        cuda.syncthreads()", "k, tx]")])
    quoted = [text.strip() for _, text in verdict.checks[0].lines]
    assert quoted == ["A_tile[tx, ty] = 0", "acc += A_tile[k, ty] * B_tile[k, tx]"]
    assert "| acc += A_tile[k, ty] * B_tile[k, tx]" in repr(verdict)
    assert "| acc += A_tile[k, ty] * B_tile[k, tx]</code>" in verdict._repr_html_()


@pytest.mark.nightly
def test_no_cause_is_named_that_is_not_one(tmp_path):
    """Two mistakes at once: undoing one of them does not make the kernel right, so it is not blamed."""
    change = [("A_tile[k, ty]", "A_tile[ty, k]"), ("C[row, col] = acc", "C[row, col] = acc + acc")]
    verdict = _verdict("barriers", tmp_path, change)
    assert verdict.status == "failed"
    assert "wrong way round" not in verdict.hint


def test_what_the_simulator_refuses_is_a_failure_with_its_words_and_its_line(tmp_path):
    verdict = _verdict("transposed", tmp_path, ["    row, col = cuda.grid(2)\n    C[col, row] = [1, 2]"])
    assert "line" in verdict.hint and "Traceback" not in repr(verdict)
    assert [check.passed for check in verdict.checks] == [False, None]
    assert "[1, 2]" in verdict.checks[0].lines[0][1]


def test_a_changed_kernel_is_what_its_text_says(tmp_path):
    """For every change that is tried to find the place of a mistake; and none of them changes the student's tree."""
    source = read(kernel_from(solutions()["barriers"], tmp_path))
    before = ast.dump(source.tree)
    tried = [read_source(source.kernel.changed(each.changes)).tree for each in candidates(source.kernel, "wrong")]
    assert len(tried) > 50
    for tree in tried:
        assert ast.dump(ast.parse(ast.unparse(tree)).body[0]) == ast.dump(tree)
    assert len({ast.dump(tree) for tree in tried} - {before}) > 50
    assert ast.dump(source.tree) == before


def test_a_name_that_takes_the_place_of_another_is_of_its_kind(tmp_path):
    """Names of numbers and of arrays take the place of others; that of the package never does."""
    source = read(kernel_from(solutions()["barriers"], tmp_path))
    tried = [each for each in candidates(source.kernel, "wrong") if each.id == "one-name-or-number"]
    replaced = {node.id for each in tried for node, _ in each.changes if isinstance(node, ast.Name)}
    assert {"row", "col"} <= replaced and "cuda" not in replaced


def test_a_verdict_on_unshared_work_says_how_much_each_thread_should_do(tmp_path):
    """The first block does all: in a launch of two blocks 8 elements in a thread, where 4 are enough."""
    verdict = _verdict(
        "side-by-side",
        tmp_path,
        "@cuda.jit\ndef first_block(A, C):\n    if cuda.blockIdx.x == 0:\n"
        "        for i in range(cuda.threadIdx.x, A.size, 32):\n            C[i] = float32(2) * A[i]\n",
    )
    assert verdict.hint_id == "work-not-shared"
    (failed,) = [check for check in verdict.checks if check.passed is False]
    assert re.findall(r"\d+ elements", failed.text) == ["8 elements", "4 elements"]


def test_remarks_are_no_faults(tmp_path):
    verdict = _verdict("transposed", tmp_path, [("acc = float32(0)", "acc = 0.0"), ("@cuda.jit\n", "")])
    assert verdict.passed
    plain, double = verdict.remarks
    assert "put @cuda.jit on the line above" in plain
    assert "acc = 0.0 is a double-precision number" in double
    assert repr(verdict).count("Remark: ") == 2


def test_what_a_kernel_prints_is_not_shown_for_every_launch(tmp_path, capsys):
    verdict = _verdict("transposed", tmp_path, [("acc = float32(0)", "acc = float32(0)\n        print(row, col)")])
    assert verdict.passed
    assert "check shows nothing that a kernel prints" in verdict.remarks[0]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("formula", "limit", "allowed"),
    [
        ("none", "", 0),
        ("2·⌈K/8⌉ + 1", "", 9),
        ("⌊K/4⌋·N", "", 42),
        ("⌈K/T⌉·(T + 1)", "", 36),
        ("1 where 4 divides N, else 4", "1 if N % 4 == 0 else 4", 4),
    ],
)
def test_a_limit_is_computed_from_its_formula(formula, limit, allowed):
    """From the sizes of the launch and the width of the tiles; from `limit` where the exercise states it in words."""
    assert global_loads(formula, "", limit).allowed({"M": 5, "N": 7, "K": 26}) == allowed


def test_the_further_launch_is_larger_and_of_the_same_kind():
    """What divides a size in all launches divides it there, and sizes that are always equal are equal there."""
    tasks = {name: EXERCISES[name].task for name in ("two-columns", "gram", "tiles-of-transpose", "divergent")}
    by_name = {name: task.launches for name, task in tasks.items()}
    assert by_name["two-columns"][-1] == (20, 24, 56)
    assert by_name["gram"][-1] == (25, 25, 72)
    assert by_name["tiles-of-transpose"][-1] == (32, 32, 72)
    assert by_name["divergent"] == tasks["divergent"].shapes  # its table holds no larger matrices


def test_a_kernel_that_takes_no_step_has_nothing_to_show(tmp_path):
    verdict = check("transposed", kernel_from('@cuda.jit\ndef nothing(A, B, C):\n    """Does nothing."""\n', tmp_path))
    assert verdict.status == "failed"
    with pytest.raises(ValueError, match="no step to show"):
        verdict.show()


def test_a_verdict_shows_the_viewer_where_it_went_wrong(tmp_path, monkeypatch):
    verdict = _verdict("barriers", tmp_path, [("k, tx]\n        cuda.syncthreads()", "k, tx]")])
    stepper = verdict.show()
    assert stepper.timeline.step(stepper.step).line in dict(verdict.checks[0].lines)
    assert stepper.panels == ("findings", "fragments", "launch")  # waits, sectors and banks come after lesson 4
    beyond = _verdict("flat", tmp_path, [("k * width + col", "(k + 1) * width + col")])  # at the end of its loop
    assert "misses B[64] (out of bounds)" in repr(beyond.show())
    wrong = _verdict("barriers", tmp_path, [("C[row, col] = acc", "C[row, col] = acc + 1")])
    stepper = wrong.show()
    stored = stepper.timeline.step(stepper.step).accesses[0]
    assert (stored.array, stored.op) == ("C", "store")
    assert re.search(r"C\[0, 0\] holds (-?\d+) in the end, and (-?\d+) was wanted\.$", repr(stepper))
    passed = _verdict("barriers", tmp_path, [])
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw, metadata=None: shown.append(set(data)))
    wrong._ipython_display_()
    assert shown == [{"text/plain", "text/html"}, {"application/vnd.jupyter.widget-view+json"}]
    passed._ipython_display_()
    assert shown[2:] == [{"text/plain", "text/html"}]
    with pytest.raises(ValueError, match="no step to show"):
        passed.show()


def test_grey_is_no_tick():
    verdict = Verdict("x", "failed", (Check(True, "a"), Check(False, "b"), Check(None, "c")), "do <this>")
    assert repr(verdict) == "x: failed, 0 of 0 points\n  ✓ a\n  ✗ b\n  ○ c\n  Hint: do <this>"
    shown = verdict._repr_html_()
    assert "#8c8c8c" in shown and "do &lt;this&gt;" in shown


def test_wrong_arguments_meet_one_clear_sentence():
    def no_matrices(x):
        pass

    with pytest.raises(TypeError, match="name of the exercise first"):
        check(no_matrices, "barriers")
    with pytest.raises(ValueError, match="there is no exercise 'barrier'; the exercises are"):
        check("barrier", no_matrices)
    with pytest.raises(ValueError, match="answered with a kernel"):
        explain("barriers", "words")
    for thing, said in ((None, "got None"), (no_matrices, "no_matrices takes (x)"), (3, "got an int")):
        verdict = check("barriers", thing)
        assert verdict.status == "failed"
        assert said in verdict.checks[0].text
    assert check("barriers", lambda A, B, C: None).status == "failed"
