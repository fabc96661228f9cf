"""Every slide of every lesson: nothing is cut off at 1280×720, no picture is missing, no prediction shows its code."""

from pathlib import Path

import nbformat
import pytest

from course_lib.publish.convert import HEIGHT, SMALLEST, WIDTH, cut, lines_of, slides

LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("[0-9]*.ipynb"))
#: Those of the default profile: the first, one with most kinds of outputs, and the last. The others are laid out alike.
BY_DAY = ("00", "09", "13")
#: Pages through all slides and measures each: by how much its content is taller or wider than its frame, how much
#: smaller it is drawn, whether a picture is missing, and its first words.
MEASURE = """async () => {
  const found = [];
  for (const slide of Reveal.getSlides()) {
    const { h, v } = Reveal.getIndices(slide);
    Reveal.slide(h, v);
    await new Promise(requestAnimationFrame);
    const blocks = [...slide.querySelectorAll(".jp-OutputArea-output, .jp-InputArea-editor, table, img")];
    found.push({
      tall: slide.scrollHeight - slide.clientHeight,
      wide: Math.max(slide.scrollWidth - slide.clientWidth, ...blocks.map((b) => b.scrollWidth - b.clientWidth - 18)),
      zoom: Number(slide.style.zoom || 1),
      missing: [...slide.querySelectorAll("img")].filter((image) => !image.naturalWidth).length,
      text: slide.innerText.trim(),
    });
  }
  return found;
}"""


def measured(page, notebook, tmp_path):
    file = tmp_path / "lesson.slides.html"
    file.write_text(slides(notebook, "Lesson"), encoding="utf-8")
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.goto(file.as_uri())
    page.wait_for_function("() => window.Reveal?.isReady()")
    return page.evaluate(MEASURE)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[] if path.stem.startswith(BY_DAY) else [pytest.mark.nightly])
        for path in LESSONS
    ],
)
def test_every_slide_of_a_lesson_fits(new_page, path, tmp_path):
    """As it is stored: steppers are pictures here, and live ones keep to a height of their own."""
    notebook = nbformat.read(path, 4)
    found = measured(new_page(), notebook, tmp_path)
    assert len(found) >= 15
    for slide in found:
        assert (slide["tall"] <= 2, slide["wide"] <= 2, slide["missing"]) == (True, True, 0), slide
        assert slide["zoom"] >= SMALLEST
        assert "predict(" not in slide["text"], slide["text"][:80]


def test_a_slide_that_is_too_tall_is_drawn_smaller(new_page, tmp_path):
    lines = "\n\n".join(f"Line {number}." for number in range(15))
    cell = nbformat.v4.new_markdown_cell(f"# One\n\n{lines}", metadata={"slideshow": {"slide_type": "slide"}})
    (found,) = measured(new_page(), nbformat.v4.new_notebook(cells=[cell]), tmp_path)
    assert SMALLEST <= found["zoom"] < 1 and found["tall"] <= 2


def test_a_prediction_without_its_code_takes_no_lines_for_it():
    code = nbformat.v4.new_code_cell("predict(\n    1,\n    2,\n)", metadata={"jupyter": {"source_hidden": True}})
    assert lines_of(code) == 0
    assert cut(nbformat.v4.new_notebook(cells=[code])).cells[0].source == code.source
