"""predict(): guesses are compared with what a run gave, counted once, and the answer is folded until there is one."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from course_lib.classroom import pages
from course_lib.exercises import predict
from course_lib.exercises.guesses import key
from course_lib.exercises.progress import Score, score


@pytest.fixture(autouse=True)
def fresh_score():
    score.cache_clear()


def test_without_a_guess_the_answer_is_folded_and_the_text_is_stable():
    asked = predict("How many loads?", np.int64(8), because="`2*K` of them.")
    assert repr(asked) == (
        "Predict: How many loads?\n  no guess yet: run this cell to guess, or add guess=… to it\n"
        "  answer: 8. `2*K` of them."
    )
    before, folded = asked._repr_html_().split("<details>")
    assert "8" not in before and "8. <code>2*K</code> of them." in folded
    assert repr(predict("How many loads?", 8, because="`2*K` of them.")) == repr(asked)
    assert str(score()) == "predictions: 0 right of 0 given, 1 asked"


#: (truth, guess, what becomes of it)
GUESSES = [
    (8, 8, "yes"),
    (8, "8", "yes"),
    (8, " 8.0 ", "yes"),
    (8, 9, "no"),
    (1024, "1,024", "yes"),
    (1024, "1 024", "yes"),
    (1024, "1'024", "yes"),
    (1024, "1.024", "yes"),  # German thousands
    (270_336, "270 336", "yes"),
    (270_336, "270\u202f336", "yes"),
    (11_538, "11,500", "yes"),  # nobody knows a large number exactly
    (11_538, "11500", "yes"),
    (11_538, "11.5", "no"),
    (11_538, "12000", "no"),
    (11_538, "11,000", "no"),
    (9_999, "10,000", "no"),
    (1000, 1001, "no"),  # whole numbers are compared exactly
    (np.float32(4), 4, "yes"),
    (0.25, "1/4", "yes"),
    (1.3333, "1.33", "yes"),
    (1.3333, "1.3", "no"),
    (1.3333, "1,33", "yes"),
    (0.25, "0,25", "yes"),
    (0.25, ",25", "yes"),
    (0.25, "0,3", "no"),
    (0.25, "a quarter", "yes"),
    (0.25, "25 %", "yes"),
    (0.25, "0.25%", "no"),
    (0.1875, "0.19", "yes"),
    (0.1875, "19 %", "yes"),
    (0.1875, "0.18", "no"),
    (0.1875, "0.2", "no"),
    (0.0076, "0.01", "no"),
    (4.98, "5", "yes"),
    (0.5, "50%", "yes"),
    (62.06, "about 62 times", "yes"),
    (62.06, "62x", "yes"),
    (8, "eight", "yes"),
    (8, "8 apples", ""),
    (19, "2*8+3", "yes"),
    (19, " 2 × 8 + 3 ", "yes"),
    (1024, "2^10", "yes"),
    (1_026, "1,024 + 2", "yes"),
    (-4, "-(2+2)", "yes"),
    (8, "08", ""),
    (8, "9**9**9**9", ""),  # no value, and no wait for one
    (8, "(" * 1000, ""),
    (8, "-" * 90 + "8", "yes"),
    (8, "8 if 1 else 9", ""),
    (8, "open('x')", ""),
    (8, "8j", ""),
    (8, "8 KB", ""),
    (8, "1,4", "no"),
    (1, "True", ""),
    ((16, 4), "2*8, 8 / 2", "yes"),
    ((1, 4), "1, 4", "yes"),
    ((1, 4), "1 and 4", "yes"),
    ((1024, 2), "1,024, 2", "yes"),  # as the answer is shown
    ((1, 2_048, 1_000_000), "1, 2,048, 1,000,000", "yes"),
    ((100, 200, 300), "100,200 300", "yes"),
    ((1, 4), (1, 4), "yes"),
    ((1, 4), "4 1", "no"),
    ((1, 4), "1", ""),
    ((1, 4), "(1, 4)", "yes"),
    ((24, 6), "24 and six", "yes"),
    ((0.25, 0.25, 0.25), "0,25 0,25 0,25", "yes"),
    ((0.25, 0.25, 0.25), "0,25, 0,25, 0,25", "yes"),
    ((0.25, 0.5), "0,25; 0,5", "yes"),
    ((0.25, 0.5), "0,5; 0,25", "no"),
    (True, "yes", "yes"),
    (True, "3", ""),
    (np.True_, False, "no"),
    (True, "Y", "yes"),
    ("line 12", "Line 12", "yes"),
    ("1101", "1 1 0 1", "yes"),
    ("1101", "1,1,0,1", "yes"),
    ("1101", "(1, 1), (0, 1)", "yes"),
    ("1101", "1 0 1 1", "no"),
    ("1101", "block (1, 1)", ""),
    (8, "many", ""),
    (8, "nan", ""),
    (8, "1/0", ""),
    (8, "", ""),
]


@pytest.mark.parametrize("truth, guess, right", GUESSES)
def test_a_guess_is_compared(truth, guess, right):
    asked = predict("?", truth, guess=guess)
    assert asked.right == right
    assert bool(asked.problem) == (right == "" and guess != "")


@pytest.mark.parametrize(
    "question, truth, guess, right",
    [
        ("How many loads does it make?", 8, "8 loads", "yes"),
        ("How many loads does it make?", 8, "9 loads", "no"),
        ("How many loads does it make?", 8, "8 stores", ""),
        ("How many threads, and how many loads?", (24, 6), "24 threads, 6 loads", "yes"),
        ("How many GFLOP/s can it reach?", 993.9, "994 GFLOP/s", "yes"),
        ("How many percent does it use?", 50, "50 %", "yes"),
        ("How many percent does it use?", 0.5, "50 %", "no"),
        ("How many percent does it use?", 0.5, "0.5 %", "yes"),
    ],
)
def test_a_unit_of_the_question_may_follow_the_number(question, truth, guess, right):
    assert predict(question, truth, guess=guess).right == right


def test_the_reason_is_a_sentence_of_its_own():
    assert repr(predict("How many loads?", 8, because="one of A and one of B.")).endswith(
        "answer: 8. One of A and one of B."
    )


def test_ranges_hold_a_number_and_texts_hold_the_truth():
    ranges = ((None, 2), (2, 8), (8, None))
    asked = predict("How much faster?", 5.9, choices=ranges, guess="2 to 8")
    assert (asked.right, asked.answer) == ("yes", "5.9 (2 to 8)")
    assert predict("?", 2, choices=ranges, guess="under 2").right == "no"
    assert predict("?", 8, choices=ranges, guess="8 or more").right == "yes"
    assert predict("?", 5.9, choices=ranges, guess="3.5").right == "yes"
    assert predict("?", 5.9, choices=ranges, guess="1,5").right == "no"
    assert predict("?", 5.9, choices=ranges, guess="2 TO 8").right == "yes"
    assert predict("?", 0.5, choices=((0, 0.3), (0.3, 0.9)), guess="50 %").right == "yes"
    assert predict("?", 0.5, choices=((0, 0.3), (0.3, 0.9)), guess="7").right == ""
    assert predict("?", 8, choices=ranges, guess="many").problem.startswith(
        "'many' cannot be compared; please give one"
    )
    assert predict("?", "A", choices=("A", "B"), guess="B").right == "no"
    with pytest.raises(ValueError, match="no range of the choices holds the truth 9"):
        predict("?", 9, choices=((0, 2), (2, 8)))
    with pytest.raises(ValueError, match="none of the choices"):
        predict("?", "C", choices=("A", "B"))
    with pytest.raises(TypeError, match="not nan"):
        predict("?", float("nan"))


def test_the_first_guess_counts_and_every_question_once():
    for guess in (7, 8, None):
        predict("first", 8, guess=guess)
    predict("second", 8, guess=8)
    predict("third", 8)
    assert str(score()) == "predictions: 1 right of 2 given, 3 asked"
    assert str(Score({}, {"a": (2, 4), "b": (3, 3)})).endswith("exercises: 5 of 7 points")


def test_a_given_guess_stands_beside_the_truth():
    wrong = predict("How <many>?", 8, guess="<b>")
    assert "&lt;many&gt;" in wrong._repr_html_() and "&lt;b&gt;" in wrong._repr_html_()
    assert "✗ wrong, your guess: 7 · the answer: 8" in predict("How many?", 8, guess=7)._repr_html_()
    assert "your guess 7 is wrong\n  answer: 8" in repr(predict("How many?", 8, guess=7))
    assert "your guess 8 is right\n  answer: 8" in repr(predict("How many?", 8, guess=8))


def test_the_widget_comes_with_a_text_and_folded_html():
    data, _ = predict("How many?", 8)._repr_mimebundle_()
    assert {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"} <= set(data)


def test_a_page_without_a_kernel_judges_in_the_same_way():
    """``judge.js`` knows the answer's text alone, and offers buttons where the answer is yes or no."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no Node.js")
    code = (Path(pages.__file__).parent / "judge.js").read_text(encoding="utf-8")
    cases = [
        (predict("?", truth).answer, guess, right)
        for truth, guess, right in GUESSES
        if isinstance(guess, str) and guess and not isinstance(truth, bool | np.bool_) and key(str(truth)).isascii()
    ]
    # Python's powers and nested brackets have limits of their own; a text of letters is no answer there
    own = {"9**9**9**9", "(" * 1000, "-" * 90 + "8", "block (1, 1)", "08", "1/0"}
    cases = [case for case in cases if case[1] not in own]
    script = (
        code[: code.index("const models")]
        + f"""
const cases = {json.dumps(cases)};
console.log(JSON.stringify(cases.map(([answer, guess]) => judged(guess, answer, [], "?")[0])));"""
    )
    said = subprocess.run([node, "-e", script], capture_output=True, text=True, check=True, timeout=60).stdout
    assert [[*case[:2], now] for case, now in zip(cases, json.loads(said), strict=True)] == [[*case] for case in cases]
