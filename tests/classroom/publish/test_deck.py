"""Which cells of a lesson become slides, and what each of them shows."""

import re

import nbformat
import pytest

from course_lib.classroom.publish import deck, speaker
from course_lib.classroom.publish.speaker import annotate
from course_lib.simulator.formatting import html_table
from course_lib.trace.viewer import Stepper
from course_lib.trace.viewer.page import STEPPER, place

KERNEL = """before = 1


@cuda.jit
def kernel(C):
    C[0] = 1  # one


assert before, "not for a slide"
"""
EXERCISE = """Write a line.

- Budget: none.

<details><summary>Hint: where?</summary>There.</details>
<details><summary>Hint: the line</summary><code>C[0] = 2</code></details>"""


def text(source, kind="fragment", **metadata):
    return nbformat.v4.new_markdown_cell(source, metadata={"slideshow": {"slide_type": kind}} | metadata)


def code(source, *printed, kind="fragment", **metadata):
    outputs = [nbformat.v4.new_output("stream", text=line) for line in printed]
    return nbformat.v4.new_code_cell(source, outputs=outputs, metadata={"slideshow": {"slide_type": kind}} | metadata)


def slides(*cells):
    return deck.slides_of(nbformat.v4.new_notebook(cells=list(cells)))


def shown(*cells):
    return [" ".join(slide.parts) for slide in slides(*cells)]


def test_a_slide_ends_after_what_there_is_to_look_at():
    """The heading is that of the section; "-" stays on the slide, and "skip" is not shown."""
    found = slides(
        text("# 1 · Lesson", "slide"),
        text("## 1.1 First\n\nOne.", "slide"),
        code("print(2)", "two"),
        text("Three.", "-"),
        text("Four."),
        text("Five.", "skip"),
        text("## 1.2 Second\n\nSix.", "slide"),
    )
    assert [slide.heading for slide in found] == ["1.1 First", "1.1 First", "1.2 Second"]
    first, second, third = (" ".join(slide.parts) for slide in found)
    assert all(word in first for word in ("One.", "two", "Three."))
    assert "Four." in second and "Six." in third
    assert not any("Five." in part or "print(" in part for part in (first, second, third))


def test_the_metadata_name_what_of_a_text_is_shown():
    """By first words, in the order of the text; "---" begins a slide; what is left is the speaker's."""
    source = (
        "The *first* sentence. A [second](glossary.md) one? (Third.)\n\n- an item\n- another\n\n| a |\n|---|\n| b |"
    )
    one, two = slides(text(source, deck=["A second", "---", "another", "| a |"]))
    assert "<p>A second one?</p>" in one.parts[0] and "first" not in one.parts[0]
    assert "<li>another</li>" in two.parts[0] and "<table>" in two.parts[0] and "an item" not in two.parts[0]
    assert one.said == ["The *first* sentence. … (Third.)"] and two.said == ["- an item"]
    with pytest.raises(ValueError, match="begins with 'Fourth'"):
        slides(text(source, deck=["Fourth"]))
    (whole,) = slides(text(source))
    assert "first" in whole.parts[0] and "Third" not in whole.parts[0]


def test_what_the_lesson_says_more_keeps_its_order_and_its_slide():
    """Also what is folded; what follows the last text that is shown may belong to the next slide."""
    folded = "<details><summary>After</summary>\n\nTwo. More.\n\n</details>"
    one, two = slides(text(f"Before. One.\n\n{folded}\n\nEnd.", deck=["One", "---", "Two"]))
    assert (one.said, two.said) == (["Before."], ["… More.\n\nEnd."])
    one, two = slides(text("One. More.\n\nLast.", deck=["One", "---"]), code("print(2)", "two"))
    assert (one.said, two.said) == ([], ["… More.\n\nLast."])


def test_code_is_shown_without_launches_and_checks():
    """A kernel as it is; of other code the output, unless the metadata ask for more."""
    (kernel,) = shown(code(KERNEL))
    assert "kernel" in kernel and "one" in kernel and "before" not in kernel and "assert" not in kernel
    assert shown(code("x = 1"), code("check('name', f)", "not yet"), code("score()", "0 of 1")) == []
    (both,) = shown(code("x = 1\nprint(x)", "printed", deck=["code", "output"]))
    assert "printed" in both and "print" in both.replace("printed", "")
    assert shown(code("print(x)", "printed", deck=[])) == []
    assert "one\ntwo" in shown(code("x", "one", "\n", "two"))[0] and shown(code("x", "\n")) == []


def test_the_metadata_name_lines_that_are_new_and_rows_that_are_kept():
    (marked,) = shown(code(KERNEL, deck=["code", "C[0]"]))
    (line,) = re.findall(r'<span class="hll">(.*?)\n', marked)
    assert "# one" in line and "def" not in line
    (since,) = shown(code(KERNEL, deck=["code", "Marked: new since 4.2", "C[0]"]))
    assert since == marked.replace("Marked: new", "Marked: new since 4.2")
    with pytest.raises(ValueError, match="begins with 'D'"):
        shown(code(KERNEL, deck=["code", "D"]))
    (numbered,) = shown(code(KERNEL, deck=["numbered", "code"]))
    assert re.findall(r'class="linenos">\s*(\d+)<', numbered) == ["4", "5", "6"]
    table = html_table([("", "n"), ("loads", "1"), ("stores", "2"), ("time", "3")])

    def with_table(*rows):
        cell = code("x", deck=["output", *rows])
        cell.outputs = [nbformat.v4.new_output("display_data", data={"text/html": table})]
        return shown(cell)[0]

    assert [word in with_table("loads", "time") for word in ("n", "loads", "stores", "time")] == [1, 1, 0, 1]
    with pytest.raises(ValueError, match="begins with 'store '"):
        with_table("store ")


def test_an_exercise_is_left_to_the_reader_unless_the_class_does_it():
    """Then its answer, the last hint, has a slide of its own; hints are on none."""
    alone = [text(EXERCISE), code(KERNEL, tags=["exercise"])]
    assert shown(*alone) == []
    task, answer = shown(text(EXERCISE, deck=["Write", "Budget"]), code(KERNEL, tags=["exercise"], deck=["code"]))
    assert "Write a line." in task and "kernel" in task and "There." not in task and "C[0] = 2" not in task
    assert "C[0] = 2" in answer and "kernel" in answer


def test_the_answer_of_an_exercise_is_its_solution():
    """The lines that were to be written are marked; the line that says where is gone."""
    given = KERNEL.replace("C[0] = 1  # one", "# your code here (about 1 line)\n    ...")
    exercise = code(given, tags=["exercise"], deck=["code"])
    book = nbformat.v4.new_notebook(cells=[text(EXERCISE, deck=["Write"]), exercise])
    task, answer = (" ".join(slide.parts) for slide in deck.slides_of(book, {exercise.id: KERNEL}))
    assert "your code here" in task and "# one" not in task
    (line,) = re.findall(r'<span class="hll">(.*?)\n', answer)
    assert "# one" in line and "your code here" not in answer


def test_a_stepper_opens_at_the_step_to_which_its_slide_links(launch_of_tiled):
    """Its views are closed; links stay beside the heading, and those to the glossary are text."""
    stepper = Stepper(launch_of_tiled, step=1)
    state = place({name: getattr(stepper, name) for name in STEPPER.traits if hasattr(stepper, name)})
    live = nbformat.v4.new_code_cell("x", outputs=[nbformat.v4.new_output("display_data", data={"text/html": state})])
    (slide,) = slides(text("See [a read](#step=9), a [warp](glossary.md)."), live)
    assert '"step": 9' in slide.parts[1] and '"panels": []' in slide.parts[1]
    assert slide.steps == [("a read", "#step=9")] and slide.live
    assert "glossary" not in deck.page([slide], "A deck")
    (plain,) = slides(text("See it."), live)
    assert '"step": 1' in plain.parts[1]


def test_tracks_have_a_slide_of_their_own(launch_of_tiled):
    """Both slides lead to the steps of the text."""
    stepper = Stepper(launch_of_tiled)
    state = place({name: getattr(stepper, name) for name in STEPPER.traits if hasattr(stepper, name)})
    live = nbformat.v4.new_code_cell("x", outputs=[nbformat.v4.new_output("display_data", data={"text/html": state})])
    live.metadata["deck"] = ["tracks", "output"]
    tracks, whole = slides(text("See [a read](#step=9).", deck=[]), live)
    assert tracks.live and whole.live and tracks.steps == whole.steps == [("a read", "#step=9")]
    live.metadata["deck"] = ["tracks"]
    (alone,) = slides(text("See [a read](#step=9).", deck=[]), live, text("They overlap.", "-"))
    assert alone.live and "They overlap" in alone.parts[-1]


def test_the_minutes_run_through_the_lesson():
    """Those of a section, as the notes have them, and one for questions, are divided among its slides.

    The notes come once.
    """
    found = slides(
        text("## 4.1 Pairs of tiles\n\nOne.", "slide"),
        text("Two.", "subslide"),
        text("## 4.2 The kernel\n\nThree.", "slide"),
    )
    found[0].cells = ["pairs"]
    annotate(found, "04_tiling")
    assert [round(sum(slide.minutes for slide in found[:end])) for end in (2, 3)] == [6, 22]
    assert found[0].notes.startswith("**Minutes 0–") and " of 22.**" in found[0].notes
    assert ["which tiles of A and B" in slide.notes for slide in found] == [True, False, False]
    assert found[2].notes.startswith("**Minutes 6–22 of 22, the last one for questions.**")


def test_notes_of_a_slide_have_minutes_of_their_own_and_say_what_a_short_lecture_skips(monkeypatch):
    """The other slides of the section share the rest; the second slide of a cell has its own notes.

    The minute for questions is at a slide that no lecture skips.
    """
    found = slides(
        text("# 4 · Tiling\n\nGoal.", "slide"),
        text("## 4.1 Pairs\n\nOne.\n\nTwo.", "slide", deck=["One", "---", "Two"]),
    )
    for slide, cell in zip(found, ("title", "pairs", "pairs"), strict=True):
        slide.cells = [cell]
    said = {"pairs": "Time: 4 min. First.", "pairs 2": f"{speaker.SKIP} Second."}
    monkeypatch.setattr(speaker, "notes_at", lambda lesson: said)
    monkeypatch.setattr(speaker, "notes_of", lambda lesson: {"4.1 Pairs": "Time: 5 min."})
    monkeypatch.setattr(speaker, "minutes_of", lambda lesson: {"4.1 Pairs": 5})
    annotate(found, "04_tiling")
    assert [slide.minutes for slide in found] == [2, 5, 1]
    assert "Second" not in found[1].notes and found[2].notes.endswith("Second.")
    assert "7 minutes, 1 of them for questions" in found[0].notes
