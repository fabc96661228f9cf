"""Pages of the site in a real browser, from a folder: search, themes, predictions and a bug to find."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from course_lib.classroom.pages import bugs
from course_lib.classroom.pages.frame import Page, SidebarLink, assets, framed, write
from course_lib.exercises.predict import PREDICTION, Prediction
from course_lib.trace.viewer.page import place

from .conftest import drawn, violations

ASKED = [
    Prediction("How many loads in `naive`?", 4096, because="Two a step."),
    Prediction("Which share?", 0.3333),
    Prediction("Row and column?", (1, 4)),
    Prediction("Which is faster?", "tiled", choices=("naive", "tiled")),
    Prediction("How much faster?", 5.9, choices=((None, 2), (2, 8), (8, None))),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A page with predictions, the second of which folds an output, and the first bug."""
    cells = [
        f'<div class="cell"><div class="output">{place(each.get_state(), PREDICTION)}</div></div>' for each in ASKED
    ]
    folded = '<div class="cell"><details class="fold after"><summary>Open</summary><p>the table</p></details></div>'
    body = "<h1>Lesson</h1><h2 id='a'>First</h2>" + cells[0] + folded + "".join(cells[1:]) + folded
    side = [SidebarLink("lesson.html", "Lesson", "Lessons"), SidebarLink("#a", "First", "Lessons")]
    pages = {"lesson.html": Page("Lesson", body, "A lesson.", side, (PREDICTION,), "", "lesson")}
    pages["bug_01.html"] = bugs.pages()["bug_01.html"]
    index = [["lesson.html#a", "First (Lesson)", "Tiles of shared memory"], ["bug_01.html", "A bug", "A race"]]
    folder = tmp_path_factory.mktemp("site")
    write(folder, {**framed(pages, home="lesson.html", lite="lite"), **assets(pages.values(), index)})
    return folder


@pytest.fixture
def opened(new_page, site):
    page = new_page()
    page.context.set_offline(True)
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))

    def opened(name):
        page.goto((Path(site) / name).as_uri())
        return page

    yield opened
    assert page.faults == []


@pytest.mark.parametrize(
    ("number", "wrong", "right", "refused"),
    [
        (0, "4,097", "4,096", "many"),
        (0, "4000", "2**12", "4096 bytes"),
        (1, "0.35", "0,333", "a lot"),
        (2, "4, 1", "1 4", "1"),
    ],
)
def test_a_prediction_is_judged_as_in_a_notebook(opened, number, wrong, right, refused):
    """The page and Python say the same of a wrong guess, a right one, and one that is no number."""
    page = opened("lesson.html")
    cell = page.locator(".predict").nth(number)
    for guess, outcome in ((refused, ""), (wrong, "no"), (right, "yes")):
        cell.locator("input").fill(guess)
        cell.locator("input").press("Enter")
        expect(cell.locator(f".predict-{outcome}" if outcome else ".predict-problem")).to_have_count(1)
        asked = ASKED[number]
        asked.guess = guess
        assert asked.right == outcome


@pytest.mark.parametrize(("number", "wrong", "right"), [(3, "naive", "tiled"), (4, "under 2", "2 to 8")])
def test_a_choice_is_judged_as_in_a_notebook(opened, number, wrong, right):
    page = opened("lesson.html")
    cell = page.locator(".predict").nth(number)
    for choice, outcome in ((wrong, "no"), (right, "yes")):
        cell.get_by_role("button", name=choice, exact=True).click()
        expect(cell.locator(f".predict-{outcome}")).to_have_count(1)


def test_a_guess_opens_what_it_asked_for_and_is_kept(opened):
    """The truth, the reason and only the output after it; the guess is there when the page is opened again."""
    page = opened("lesson.html")
    folds, asked = page.locator("details.after"), page.locator(".predict").first
    assert "4,096" not in asked.inner_text() and asked.locator(".predict-question code").inner_text() == "naive"
    page.evaluate("() => addEventListener('keydown', () => (window.leaked = true))")
    asked.locator("input").fill("4096")
    asked.locator("input").press("Enter")
    assert page.evaluate("window.leaked") is None  # JupyterLab's shortcuts must not hear what is typed
    expect(asked.locator(".predict-pair dd")).to_have_text(["✓ 4096", "4,096"])
    expect(asked.locator(".predict-because")).to_have_text("Two a step.")
    expect(folds.nth(0)).to_have_attribute("open", "")
    assert folds.nth(1).get_attribute("open") is None
    page.reload()
    expect(page.locator(".predict").first).to_contain_text("1 of 5 predictions right")


def test_on_paper_nothing_is_folded(opened):
    """Nobody can open anything there."""
    page = opened("lesson.html")
    folds = page.locator("details.after")
    assert [fold.get_attribute("open") for fold in folds.all()] == [None, None]
    assert page.pdf()
    assert [fold.get_attribute("open") for fold in page.locator("details").all()] == [""] * page.locator(
        "details"
    ).count()
    expect(folds.locator("p")).to_have_count(2)
    assert all(text.is_visible() for text in folds.locator("p").all())


def test_the_sections_of_a_page_are_at_its_right(opened):
    """On a wide screen, and not in the sidebar, too."""
    page = opened("lesson.html")
    own, deep = page.locator("nav.own"), page.locator(".side .deep")
    for width, wide in ((1920, True), (1280, True), (1279, False)):
        page.set_viewport_size({"width": width, "height": 900})
        assert (own.is_visible(), deep.first.is_visible()) == (wide, not wide)
    for width in (1920, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        text = page.locator("main h1").bounding_box()
        assert own.bounding_box()["x"] > text["x"] + text["width"]
    assert [link.get_attribute("href") for link in own.locator("a").all()] == ["#a"]


def test_search_finds_a_heading_and_a_text(opened):
    """By the keyboard alone: / opens it, an arrow goes to the first place, Enter follows it."""
    page = opened("lesson.html")
    page.keyboard.press("/")
    page.keyboard.type("shared tiles")
    expect(page.locator(".found a")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/lesson.html#a")
    page.locator(".search input").fill("nowhere")
    expect(page.locator(".found")).to_have_text("Nothing found.")


def test_a_bug_is_found_by_a_click(opened):
    """A wrong line is struck out, a right one shows the finding, the kernel without the bug, and the stepper."""
    page = opened("bug_01.html")
    lines, answer = page.locator(".lines button"), page.locator(".answer")
    expect(lines).to_have_count(13)
    expect(answer).to_be_hidden()
    expect(page.locator(".tt-root")).to_be_hidden()
    lines.nth(0).click()
    expect(lines.nth(0)).to_have_class("no")
    expect(answer).to_be_hidden()
    page.locator(".lines [data-right='1']").first.click()
    expect(page.locator(".said")).to_contain_text("2 clicks")
    expect(answer).to_contain_text("race (lines 9 and 12)")
    expect(page.locator(".tt-root")).to_be_visible()
    expect(page.locator(".tt-current")).to_contain_text("12")


def test_the_theme_is_kept(opened):
    page = opened("lesson.html")
    before = page.locator("html").get_attribute("data-theme")
    page.locator(".theme").click()
    page.reload()
    assert {before, page.locator("html").get_attribute("data-theme")} == {"light", "dark"}


@pytest.mark.nightly
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280, 1920])
@pytest.mark.parametrize("name", ["lesson.html", "bug_01.html"])
def test_a_page_fits_and_is_accessible(opened, name, width, theme):
    """Nothing scrolls sideways, and axe-core finds nothing: with the menu open, or the answer shown."""
    page = opened(name)
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 800})
    if name.startswith("bug"):
        page.locator(".tell").click()
        drawn(page.locator(".tt-root"))
    elif width < 600:
        page.locator(".menu").click()
        expect(page.locator(".side")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page, {"exclude": [[".tt-root"]]}) == []
