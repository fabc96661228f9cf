"""A reader's answers are kept beside the notebook, and a file that cannot be read or written costs no traceback."""

import json
from types import SimpleNamespace

import IPython
import pytest
from exercises.oracles import ORACLES

from course_lib.exercises import EXERCISES, check, explain, predict, progress
from course_lib.exercises.progress import Score, score

NAME = "forty-eight"


def useful_share(mix):
    return mix["FFMA"] / sum(mix.values())


def not_begun(mix): ...


def blocks_that_fit(threads, registers, shared):
    return ORACLES["blocks-that-fit"][1](threads, registers, shared)


@pytest.fixture
def begun(monkeypatch, tmp_path):
    """Begin anew, as a kernel does that was restarted."""
    monkeypatch.setattr(progress, "place", lambda: tmp_path / ".lesson.progress.json")

    def begun():
        score.cache_clear()
        return score()

    yield begun
    score.cache_clear()


def test_answers_survive_a_restart(begun):
    begun()
    predict("How many?", 19).guess = "18"
    predict("How many?", 19, guess="2*8+3")
    explain(NAME, EXERCISES[NAME].model).ticks().children[1].value = True
    assert check("useful-share", useful_share)
    before = str(score())

    assert str(begun()) == before
    again = predict("How many?", 19)
    assert (again.guess, again.right) == ("2*8+3", "yes") and "your guess: 2*8+3" in again._repr_html_()
    assert "predictions: 0 right of 1 given, 1 asked" in before  # the first guess counts
    assert explain(NAME, EXERCISES[NAME].model).points == score().points[NAME][0] == 1
    assert check("useful-share", not_begun).status == "not yet"
    assert score().points["useful-share"][0] > 0, "an exercise that is solved stays solved in a fresh copy"
    assert "kept in .lesson.progress.json" in before


def test_an_optional_exercise_is_checked_and_does_not_count(begun):
    begun()
    assert check("blocks-that-fit", blocks_that_fit).points == 8
    assert score().points == {}


def test_nothing_is_written_before_an_answer(begun, tmp_path):
    begun()
    predict("How many?", 19)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 100_000,
        '{"guesses": {}}',
        '{"guesses": {"q": {"right": 3, "latest": "1"}}, "points": {}, "ticks": {}, "attempts": []}',
        '{"guesses": {}, "points": {"a": [1]}, "ticks": {}, "attempts": []}',
        '{"guesses": {}, "points": {"a": [1, 2]}, "ticks": {"a": ["b"]}, "attempts": [3]}',
        b"\xff\xfe\x00",
    ],
)
def test_a_damaged_file_is_put_aside(tmp_path, text):
    path = tmp_path / ".lesson.progress.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())

    score = Score.kept(path)

    assert "is damaged: your answers begin anew" in str(score) and score.guesses == {}
    assert (tmp_path / ".lesson.progress.json.damaged").read_bytes() == (
        text if isinstance(text, bytes) else text.encode()
    )
    score.guess("q", right=True, answer="1")
    assert Score.kept(path).answers == {"q": "1"} and "damaged" not in str(score)


def test_a_folder_that_takes_no_file_is_told(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    score = Score(path=tmp_path / "file" / ".lesson.progress.json")

    score.guess("q", right=True, answer="1")

    assert "cannot be written" in str(score) and "answers last until the kernel stops" in score._repr_html_()
    assert score.guesses == {"q": True}


def test_a_file_is_replaced_in_one_step(tmp_path, monkeypatch):
    score = Score(path=tmp_path / ".lesson.progress.json")
    score.guess("q", right=True, answer="1")
    kept = score.path.read_text(encoding="utf-8")

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("pathlib.Path.replace", full)
        score.guess("q", right=True, answer="2")
    assert "No space left" in score.note and [path.name for path in tmp_path.iterdir()] == [score.path.name]
    assert score.path.read_text(encoding="utf-8") == kept


def test_two_notebooks_of_a_folder_have_a_file_each(tmp_path, monkeypatch):
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(user_ns={}))
    monkeypatch.delenv("TILE_BY_TILE_READER", raising=False)
    names = []
    for lesson in ("00_start_here", "02_naive"):
        monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / f"{lesson}.ipynb"))
        names.append(progress.place().name)
    assert names == [".00_start_here.progress.json", ".02_naive.progress.json"]
    monkeypatch.setenv("TILE_BY_TILE_READER", "1")  # another process: a notebook that a command in a cell executes
    assert progress.place() is None


@pytest.mark.parametrize("session", [None, "console-1", "elsewhere/lesson.ipynb"])
def test_without_a_reader_there_is_no_file(monkeypatch, tmp_path, session):
    monkeypatch.delenv("TILE_BY_TILE_READER", raising=False)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    if session:
        monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / session))
    assert progress.place() is None  # no IPython
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(user_ns={}))
    assert progress.place() is None


def test_a_button_clears_the_answers_at_the_second_click(tmp_path):
    score = Score(path=tmp_path / ".lesson.progress.json")
    score.guess("q", right=True, answer="1")
    score.try_out({"kernel": "k"})
    assert json.loads(score.path.read_text(encoding="utf-8"))["attempts"] == [{"kernel": "k"}]
    button, said = progress._button(score).children

    button.click()
    assert score.path.exists() and "Click again" in button.description
    button.click()

    assert list(tmp_path.iterdir()) == [] and score.attempts == []
    assert str(score).startswith("predictions: 0 right of 0 given, 1 asked") and said.value.startswith("Cleared")
