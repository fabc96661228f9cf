"""The course as a site: pages that link to each other, and to nothing that is not there."""

import json
import re
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from course_lib.classroom import export, lessons
from course_lib.classroom import site as command
from course_lib.classroom.publish import site_pages
from course_lib.classroom.publish.links import dead_links, linked, links_of

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


@pytest.fixture
def course(tmp_path, monkeypatch):
    """The files of two lessons, with their stored outputs, and links to these two alone; one bug; no ladder."""
    for path in lessons.files():
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"\[([^\[\]]*)\]\((?!0[01])\d\d_\w+\.ipynb\)", r"\1", text)
        if path.name[:2] in ("00", "01") or path.suffix == ".md":
            (tmp_path / path.name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(lessons, "home", lambda: tmp_path)
    few = (replace(site_pages.bugs.bugs()[7], number=1),)
    monkeypatch.setattr(site_pages.bugs, "bugs", lambda: few)
    monkeypatch.setattr(site_pages, "course_map", lambda: type("Map", (), {"markdown": lambda self: "the map"})())
    address = "https://course.example"
    return lambda *first, **more: site_pages.site(
        *first, execute=lambda notebook, folder: notebook, address=address, **more
    )


def test_pages_lead_to_each_other(course, tmp_path):
    """From a lesson to the next and back, to the terms that it names; none to solutions, nor to speaker's notes."""
    files = course()
    pages = {name: text for name, text in files.items() if name.endswith(".html")}
    others = {"index.html", "bug_01.html", "glossary.html", "numba_and_cuda_c.html", "sources.html", "LICENSE.html"}
    assert set(pages) == {"00_start_here.html", "01_threads_and_data.html"} | others
    found = links_of(pages)
    assert ("01_threads_and_data.html", "00_start_here.html") in found
    assert ("00_start_here.html", "glossary.html#Kernel") in found
    assert {page for page, target in found if target == "index.html"} == set(pages)
    assert {target for page, target in found if page == "index.html"} >= set(pages)
    assert '<a rel="next" href="01_threads_and_data.html" title="1 · Threads and data">' in pages["00_start_here.html"]
    assert 'rel="prev"' not in pages["00_start_here.html"] and 'rel="next"' not in pages["01_threads_and_data.html"]
    assert "the map" in pages["index.html"]
    assert not any("solutions/" in target for _, target in found)
    assert not any("Speaker notes" in page for page in pages.values())
    assert '"notebooks/00_start_here.ipynb" download' in pages["00_start_here.html"]
    assert json.loads(files["notebooks/00_start_here.ipynb"])["nbformat"] == 4

    (tmp_path / "glossary.md").write_text("# Glossary\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"00_start_here.html: glossary.html#Kernel"):
        course()


def test_outputs_are_folded_only_after_a_question(course):
    """A page folds what a prediction before it asks for; all other outputs, and so pictures, are in sight."""
    for name, text in course().items():
        if not name[:2].isdigit() or not name.endswith(".html"):
            continue
        before, folded, _ = str(text).partition('<details class="fold after">')
        assert not folded or "tile-by-tile-still" in before, name  # of a prediction, as it is stored


def test_a_known_repository_is_linked(course):
    """Each lesson opens in Binder and in Colab; without the address there are no such links."""
    files = course(repository="someone/course")
    page = files["01_threads_and_data.html"]
    for service in (
        "https://mybinder.org/v2/gh/someone/course/",
        "https://colab.research.google.com/github/someone/course/",
    ):
        assert re.search(rf'href="{re.escape(service)}[^"]*notebooks/01_threads_and_data.ipynb"', page)
    assert not any("mybinder" in str(text) for text in course().values())


def test_a_page_says_what_it_is_and_repeats_nothing(course):
    """What pages share is in files of its own; prompts and imports are gone, and code that only prepares is folded."""
    files = course()
    for name, text in files.items():
        if not name.endswith(".html"):
            continue
        assert not any(files[f"assets/{shared}"] in text for shared in ("site.css", "site.js", "stepper.js")), name
        assert re.search(r'<meta name="description" content="[^"]{20,}">', text), name
        assert '<meta property="og:image" content="https://course.example/assets/card.png">' in text
        assert "data:image/png" not in text and "In&nbsp;[" not in text and "import numpy" not in text, name
    assert files["assets/card.png"].startswith(b"\x89PNG")
    assert {"assets/site.css", "assets/site.js", "assets/search.js", "assets/stepper.js", "assets/icon.svg"} <= set(
        files
    )
    rows = json.loads(re.search(r"\((.*)\);", files["assets/search.js"], re.DOTALL)[1])
    heading = next(row for row in rows if row[1].startswith("1.1 "))
    assert heading[0].startswith("01_threads_and_data.html#1.1-") and len(heading[2]) > 100
    page, _, place = heading[0].partition("#")
    assert re.search(rf'<h[23] id="{re.escape(place)}"', files[page])


#: The pages of lessons that README and docs once named, each with a word that a heading of today's lesson has.
ONCE = {
    "00_start_here": "Start here",
    "01_threads_and_data": "Threads",
    "02_naive": "naive",
    "03_shared_memory": "Shared memory",
    "04_tiling": "Tiling",
    "05_coalescing": "Coalescing",
    "06_bank_conflicts": "Bank conflicts",
    "07_register_tiles": "Register tiles",
    "08_unrolling_and_occupancy": "Occupancy",
    "09_prefetching": "Prefetching",
    "10_waiting": "Waiting",
    "11_towards_best": "One instruction can load four elements",
    "12_the_last_20_percent": "Two numbers that make a speed",
    "13_debugging": "Debugging",
    "14_speed_tests": "Speed tests",
    "15_many_shapes": "Many shapes",
    "16_tensor_cores": "Tensor cores",
    "17_wgmma": "wgmma",
    "18_capstone": "Capstone",
    "express": "The short way",
}


@pytest.mark.parametrize("once", ONCE)
def test_an_address_that_was_named_once_leads_to_the_lesson_of_today(once):
    """No lesson has the old name of another one."""
    here = {path.stem: path for path in lessons.files() if path.suffix == ".ipynb"}
    assert (once in here) != (once in lessons.MOVED)
    now = json.loads(here[lessons.MOVED.get(once, once)].read_text(encoding="utf-8"))
    prose = "\n".join("".join(cell["source"]) for cell in now["cells"] if cell["cell_type"] == "markdown")
    assert any(ONCE[once] in heading for heading in re.findall(r"^#+ (.+)$", prose, re.MULTILINE))


@pytest.mark.parametrize("once", ["Naive-put-right", "What-the-tile-buys"])
def test_a_section_that_had_another_name_is_found_by_it(course, once):
    """An anchor of the old name stands before today's heading, and the page of the site has it."""
    page = str(course()["numba_and_cuda_c.html"])
    heading = re.search(r"<h2", page[page.index(f'id="{once}"') :])
    assert heading and heading.start() < 100


def test_a_page_of_an_old_name_leads_on(course, tmp_path, monkeypatch):
    """Where the site has the lesson of today, for its solutions, too; elsewhere there is none."""
    monkeypatch.setattr(lessons, "MOVED", {"07_threads": "01_threads_and_data", "08_tiling": "04_tiling"})
    files = course()
    assert "08_tiling.html" not in files
    assert '<meta http-equiv="refresh" content="0; url=01_threads_and_data.html">' in files["07_threads.html"]
    assert links_of({"07_threads.html": files["07_threads.html"]}) == 2 * [
        ("07_threads.html", "01_threads_and_data.html")
    ]
    assert not set(lessons.MOVED) & {Path(name).stem for name in files["assets/search.js"].split('"')}


def test_every_page_leads_to_its_lesson_in_the_browser(course, tmp_path, capsys):
    """To the lesson itself from a lesson's page; without such a site, no page has a link to it."""
    pages = {name: str(text) for name, text in course(lite="lite").items() if name.endswith(".html")}
    found = [(page, target) for page, target in links_of(pages) if target.startswith("lite/")]
    assert ("00_start_here.html", "lite/lab/index.html?path=00_start_here.ipynb") in found
    assert ("glossary.html", "lite/lab/index.html") in found
    assert {page for page, _ in found} == {name for name in pages if Path(name).stem not in lessons.MOVED}
    assert not any("lite/" in str(text) for name, text in course().items() if name.endswith(".html"))

    assert command.main(["--out", str(tmp_path / "site"), "--stored", "--lite", "lite"]) == 2
    assert "tools/build_lite.py" in capsys.readouterr().err and not (tmp_path / "site").exists()


@pytest.mark.nightly
def test_the_command_writes_the_whole_site(tmp_path, capsys):
    """With solutions; by their stored outputs."""
    assert command.main(["--out", str(tmp_path), "--stored", "--solutions"]) == 0
    solutions = len([*(lessons.home() / "solutions").glob("*.ipynb")])
    pages = len([*lessons.files()]) + solutions + len(site_pages.bugs.bugs()) + 1  # the index
    assert re.search(rf": {pages} pages, [\d.]+ MB; \d+ links checked", capsys.readouterr().out)
    assert (tmp_path / "solutions" / "04_tiling.html").is_file()
    numbered = {path.stem for path in tmp_path.glob("[0-9]*.html")} - set(lessons.MOVED)
    assert len(numbered) == 18 and (tmp_path / "express.html").is_file()
    for folder in (tmp_path, tmp_path / "solutions"):
        for old, new in lessons.MOVED.items():
            assert f"url={new}.html" in (folder / f"{old}.html").read_text(encoding="utf-8")
            assert (folder / f"{new}.html").is_file()


def test_each_lesson_leads_to_its_slides(course, tmp_path):
    """Made of what its page is made of; their notes are the teacher's, and are there with the solutions alone."""
    files = course(decks=True)
    assert 'href="decks/01_threads_and_data.html"' in files["01_threads_and_data.html"]
    deck = files["decks/01_threads_and_data.html"]
    assert "<section" in deck and '<aside class="notes">' not in deck
    for path in tmp_path.glob("*.ipynb"):  # the solutions are not there
        path.write_text(lessons.for_students(path.read_text(encoding="utf-8")), encoding="utf-8")
    assert '<aside class="notes">' in course(True, decks=True)["decks/01_threads_and_data.html"]
    assert 'href="01_threads_and_data.html"' in files["decks/index.html"]
    assert "decks" not in course()["01_threads_and_data.html"]


def test_pages_exported_together_have_names_of_their_own(tmp_path, capsys):
    """Also where a system does not tell large letters from small ones."""
    both = [tmp_path / "a.ipynb", tmp_path / "solutions" / "A.ipynb"]
    for path in both:
        path.parent.mkdir(exist_ok=True)
        nbformat.write(nbformat.v4.new_notebook(), path)
    assert export.main([*map(str, both), "--output", str(tmp_path / "out")]) == 2
    assert "two pages would be called A.html" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_workflow_writes_the_site():
    """Into the folder that is published."""
    text = (Path(__file__).parents[3] / ".github" / "workflows" / "pages.yml").read_text(encoding="utf-8")
    ((written, lite),) = re.findall(r"tile-by-tile site .*--out (\S+) --lite (\S+)", text)
    assert re.findall(r"build_lite.py --out (\S+)", text) == [f"{written}/{lite}"]
    assert re.findall(r"path: (\S+)", text) == [written]
