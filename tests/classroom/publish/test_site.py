"""The course as a site: pages that link to each other, and to nothing that is not there."""

import re
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbconvert.filters import markdown2html

from course_lib.classroom import export, lessons
from course_lib.classroom import site as command
from course_lib.classroom.publish import site as pages_of
from course_lib.classroom.publish.links import dead_links, linked, links_of, refuse_duplicates
from course_lib.exercises import LESSONS

PAGE = '<h1 id="A-%C2%B7-b">A · b</h1><a href="{}">there</a><img src="data:image/png;base64,AA">'


def test_a_dead_link_is_found():
    """A page that is missing, a place that is missing, and a picture that would be loaded; not another site's."""
    right = ["#A-%C2%B7-b", "#A-·-b", "more/c.html", "https://example.org/x", "b.html#top", ""]
    wrong = ["#Z", "d.html", "more/b.html", "c.html#A-·-b", "B.html"]
    others = {"b.html": "<p>", "more/c.html": '<a href="../b.html">b</a><img src="x.png">'}
    assert dead_links(others) == ["more/c.html: x.png"]
    others["more/c.html"] = '<a href="../b.html">b</a>'
    for target in right:
        assert dead_links({"a.html": PAGE.format(target), **others}) == [], target
    for target in wrong:
        assert dead_links({"a.html": PAGE.format(target), **others}) == [f"a.html: {target}"]
    assert links_of({"a.html": PAGE.format("b.html")}) == [("a.html", "b.html")]


def test_links_to_notebooks_lead_to_their_pages():
    page = '<a href="04_tiling.ipynb">4</a><a href="glossary.md#Tile">t</a><a href="https://a.org/b.md">b</a>'
    known = {"04_tiling.ipynb": "04_tiling.html"}
    assert linked(page, known.get) == '<a href="04_tiling.html">4</a><a >t</a><a href="https://a.org/b.md">b</a>'


def test_no_two_pages_have_one_name():
    refuse_duplicates(["a.html", "solutions/a.html"])
    with pytest.raises(ValueError, match="two pages would be called Glossary.html"):
        refuse_duplicates(["glossary.html", "Glossary.html"])


def small_course(tmp_path, monkeypatch):
    """The pages of two lessons, with their stored outputs, and links to these two alone."""
    for path in lessons.files():
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"\[([^\[\]\n]*)\]\((?!0[01])\d\d_\w+\.ipynb\)", r"\1", text)
        if path.name[:2] in ("00", "01") or path.suffix == ".md":
            (tmp_path / path.name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(lessons, "home", lambda: tmp_path)
    rungs = [replace(rung, lesson="") for rung in pages_of.small_rungs()]
    monkeypatch.setattr(pages_of, "small_rungs", lambda: rungs)
    monkeypatch.setattr(pages_of, "roadmap", lambda: type("Map", (), {"_repr_markdown_": lambda self: "the map"})())
    monkeypatch.setattr(pages_of, "html_page", text_alone)
    return pages_of.site(execute=lambda notebook, folder: notebook)


def text_alone(notebook, title, theme, bar):
    """A page as nbconvert makes it, without its code and its style, which take a second a page."""
    return bar + "".join(markdown2html(cell.source) for cell in notebook.cells if cell.cell_type == "markdown")


def test_pages_lead_to_each_other(tmp_path, monkeypatch):
    """From a lesson to the next and back, to the terms that it names; none to solutions, nor to speaker's notes."""
    pages = small_course(tmp_path, monkeypatch)
    others = {"index.html", "gallery.html", "glossary.html", "numba_and_cuda_c.html", "sources.html", "LICENSE.html"}
    assert set(pages) == {"00_start_here.html", "01_threads_and_data.html"} | others
    found = links_of(pages)
    assert ("01_threads_and_data.html", "00_start_here.html") in found
    assert ("00_start_here.html", "glossary.html#Kernel") in found
    assert {page for page, target in found if target == "index.html"} == set(pages) - {"index.html"}
    assert {target for page, target in found if page == "index.html"} >= set(pages) - {"index.html"}
    assert 'rel="next">1 · Threads and data →' in pages["00_start_here.html"]
    assert "the map" in pages["index.html"] and "| 40 |" not in pages["index.html"]
    assert not any("solutions/" in target for _, target in found)
    assert not any("Speaker notes" in page for page in pages.values())

    (tmp_path / "glossary.md").write_text("# Glossary\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"00_start_here.html: glossary.html#Kernel"):
        pages_of.site(execute=lambda notebook, folder: notebook)


@pytest.mark.nightly
def test_the_command_writes_the_whole_site(tmp_path, capsys):
    """With solutions; by their stored outputs, which leaves only the gallery to execute."""
    assert command.main(["--out", str(tmp_path), "--stored", "--solutions"]) == 0
    pages = 2 * len(LESSONS) + 6  # lessons, solutions, index, gallery, glossary, numba and CUDA C, sources and licence
    assert re.search(rf": {pages} pages, [\d.]+ MB; \d{{3,4}} links checked", capsys.readouterr().out)
    assert (tmp_path / "solutions" / "04_tiling.html").is_file()
    gallery = (tmp_path / "gallery.html").read_text(encoding="utf-8")
    assert gallery.count('class="tile-by-tile-state"') == 12


def test_pages_exported_together_have_names_of_their_own(tmp_path, capsys):
    notebook = nbformat.v4.new_notebook()
    for folder in (tmp_path, tmp_path / "solutions"):
        folder.mkdir(exist_ok=True)
        nbformat.write(notebook, folder / "a.ipynb")
    both = [str(tmp_path / "a.ipynb"), str(tmp_path / "solutions" / "a.ipynb")]
    assert export.main([*both, "--output", str(tmp_path / "out")]) == 2
    assert "two pages would be called a.html" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_workflow_writes_the_site():
    text = (Path(__file__).parents[3] / ".github" / "workflows" / "pages.yml").read_text(encoding="utf-8")
    assert "uv run python -m course_lib.site --out _site" in text and "path: _site" in text
