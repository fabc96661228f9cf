"""Variants of the exercises: two students get two tasks, and each answer passes in its own."""

import json

import numpy as np
import pytest
from classroom.teach.cheats import LESSON
from classroom.teach.here import here
from nightly import every

from course_lib import check
from course_lib.classroom.teach import grade
from course_lib.classroom.teach.assignment import assignment
from course_lib.classroom.teach.cells import lesson_named, places
from course_lib.classroom.teach.command import main
from course_lib.classroom.teach.judge import judge
from course_lib.classroom.teach.submission import Answer, answers
from course_lib.exercises import EXERCISES, LESSONS
from course_lib.exercises.grading.exercise import Exercise
from course_lib.exercises.grading.tiles import TILE, width
from course_lib.exercises.variants import TILED, Variant, code_of

KERNELS = {e.name: lesson for lesson, found in LESSONS.items() for e in found if isinstance(e, Exercise)}
#: Two variants with other names and another width.
ONE, TWO = Variant("00000003"), Variant("00000001")


def handed_in(variant, lesson=LESSON, solved=True):
    cells = [(c["id"], c["source"]) for c in assignment(lesson, "plain", solved, variant)["cells"]]
    return answers(cells, places(lesson))


def judged(name, answer, variant):
    return judge(name, KERNELS[name], answer, own=False, variant=variant.code)


def test_the_two_differ():
    assert not {ONE.names[name] for name in "ABC"} & {TWO.names[name] for name in "ABC"}
    assert len({ONE.tile, TWO.tile, TILE}) == 3


@pytest.mark.parametrize("name", every(50, sorted(KERNELS, key=lambda name: name not in TILED)))
def test_a_solution_passes_in_its_own_variant_only(name):
    """In another one its names are refused; with the other's names its literal width is wrong."""
    own, other = (handed_in(variant, KERNELS[name])[name] for variant in (ONE, TWO))
    points = EXERCISES[name].points
    for answer, variant in ((own, ONE), (other, TWO)):
        verdict = judged(name, answer, variant)
        assert (verdict.status, verdict.points) == ("passed", points), verdict
    refused = judged(name, other, ONE)
    assert (refused.status, refused.points) == ("failed", 0)
    assert "your variant has the parameters" in refused.page and ", ".join(ONE.parameters("AB")) not in other.source
    if name in TILED:
        copied = own.source.replace("TILE", str(TWO.tile))
        assert judged(name, Answer(copied), ONE).points < points


def test_the_same_code_gives_the_same_notebook_and_others_differ():
    assert assignment(LESSON, "plain", variant=ONE) == assignment(LESSON, "plain", variant=Variant(ONE.code))
    assert code_of("key", "anna", LESSON) != code_of("key", "ben", LESSON) != code_of("other", "ben", LESSON)
    numbers = [
        variant.exercise(EXERCISES["barriers"]).task.inputs(np.random.default_rng(0), 16, 16, 16)[0]
        for variant in (ONE, TWO, ONE)
    ]
    assert np.array_equal(numbers[0], numbers[2]) and not np.array_equal(numbers[0], numbers[1])


@pytest.mark.parametrize("number", range(10))
def test_every_variant_is_as_difficult(number):
    """As many tiles, as many of them ragged; two, four or eight divide what they divide in the course."""
    variant = Variant(f"{number:08x}")
    for exercise in (EXERCISES[name] for name in KERNELS):
        wide = variant.width(exercise.name)
        assert exercise.name in TILED or wide == TILE
        shapes = exercise.task.shapes, variant.shapes(exercise)
        for old, new in zip(*(sum(each, ()) for each in shapes), strict=True):
            assert (old == 1) == (new == 1)
            assert -(-old // TILE) == -(-new // wide)
            assert (old % TILE == 0) == (new % wide == 0)
            assert wide != TILE or np.gcd(old, TILE) == np.gcd(new, TILE)
        for old, new in zip(*shapes, strict=True):
            assert len(set(old)) == len(set(new)), "rectangular where the course's are, and square where they are"


def test_only_exercises_without_sectors_and_banks_have_other_widths():
    """And all kernels of a lesson that use TILE have them, or none: there is one TILE in a notebook."""
    for lesson in LESSONS:
        using = {name for name, place in places(lesson).items() if "TILE" in place.source}
        assert using <= TILED or not using & TILED
        for name in using & TILED:
            counted = " ".join(budget.name for budget in EXERCISES[name].budgets)
            assert "sectors" not in counted and "bank" not in counted and "wavefronts" not in counted
    assert TILED <= set(KERNELS)


def test_the_assignment_says_what_the_student_has():
    cells = {cell["id"]: cell["source"] for cell in assignment(LESSON, "plain", variant=ONE)["cells"]}
    assert f"`{ONE.code}`" in cells["title"] and cells["imports"].endswith(f"\nTILE = {ONE.tile}")
    about, answer = cells["about-barriers"], cells[places(LESSON)["barriers"].cell]
    assert f"blocks of {ONE.tile}×{ONE.tile}" in about and f"({2 * ONE.tile}, {2 * ONE.tile}, {2 * ONE.tile})" in about
    assert answer.endswith(f'check("barriers", product, variant="{ONE.code}")')
    assert f"def product({', '.join(ONE.parameters('ABC'))}):" in answer


def test_the_texts_keep_their_articles_and_the_language():
    assert ONE.renamed("A warp loads A and A[row, k]; A is M×K. A tile of A. (A thread: B's and At, As, A_tile)") == (
        "A warp loads F and F[row, k]; F is M×K. A tile of F. (A thread: G's and Ft, Fs, F_tile)"
    )
    assert ONE.renamed("In the language C, sum_in_C adds to C") == "In the language C, sum_in_C adds to H"


def test_check_in_the_notebook_takes_the_code():
    def mine(F, G, H):
        for row in range(F.shape[0]):
            for col in range(G.shape[1]):
                H[row, col] = 0.0
                for k in range(1, F.shape[1]):
                    H[row, col] += F[row, k] * G[k, col]

    verdict = check("triple-loop", mine, variant=ONE.code)
    assert verdict.status == "failed" and "equals" not in repr(verdict) and "H is wrong" in repr(verdict)
    assert width() == TILE
    with pytest.raises(ValueError, match="eight digits"):
        check("triple-loop", mine, variant="mine")


# ---- the commands ----------------------------------------------------------------------------------------------


def test_the_commands_write_and_judge_the_variant_of_each_student(tmp_path, monkeypatch):
    monkeypatch.setattr(grade, "Sandbox", here())
    names = tmp_path / "names.txt"
    names.write_text("anna\n\nben\n", encoding="utf-8")
    lesson = lesson_named("0")
    key = ["--variant-key", "secret"]
    assert main(["assignment", "0", "--solved", "--students", str(names), "--out", str(tmp_path / "in"), *key]) == 0
    notebooks = {name: (tmp_path / "in" / name / f"{lesson}.ipynb").read_text("utf-8") for name in ("anna", "ben")}
    assert code_of("secret", "ben", lesson) in notebooks["ben"] and notebooks["anna"] != notebooks["ben"]
    other = json.loads(notebooks["anna"])
    (tmp_path / "in" / "carl").mkdir()
    (tmp_path / "in" / "carl" / "mine.ipynb").write_text(json.dumps(other), encoding="utf-8")
    files = ["--csv", str(tmp_path / "grades.csv"), "--feedback", str(tmp_path / "feedback")]
    assert main(["grade", str(tmp_path / "in"), "--lesson", "0", *key, *files]) == 0
    rows = (tmp_path / "grades.csv").read_text("utf-8").splitlines()
    passed = {row.split(",")[0] for row in rows if ",triple-loop," in row and ",passed," in row}
    assert passed == {"anna", "ben"}, rows
    assert any(row.startswith("carl,triple-loop,0,") and "keep the names" in row for row in rows), rows


@pytest.mark.parametrize(
    "names, more, told",
    [
        ("anna\nAnna\n", [], "'anna' is twice"),
        ("../anna\n", [], "'../anna' cannot be the name of a folder"),
        ("\n", [], "there is no name in it"),
        ("anna\n", ["--for", "nbgrader"], "one notebook for all"),
        ("anna\n", ["--variant-key", ""], "--variant-key is empty"),
    ],
)
def test_what_cannot_be_written_is_told(tmp_path, capsys, names, more, told):
    path = tmp_path / "names.txt"
    path.write_text(names, encoding="utf-8")
    out = ["--out", str(tmp_path / "in"), "--variant-key", "secret", "--students", str(path)]
    assert main(["assignment", "0", *out, *more]) == 1
    assert told in capsys.readouterr().err


def test_a_key_needs_students(capsys):
    assert main(["assignment", "0", "--variant-key", "secret"]) == 1
    assert "belong together" in capsys.readouterr().err
