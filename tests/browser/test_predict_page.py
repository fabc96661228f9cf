"""The prediction's ES module on a page of its own: what it shows before a guess, and after."""

from functools import partial

import pytest
from playwright.sync_api import expect

from course_lib.exercises.predict import PREDICTION, Prediction

TRAITS = ("question", "choices", "answer", "because", "guess", "right", "problem", "score")


@pytest.fixture
def show(alone):
    return partial(alone, bundle=PREDICTION, traits=TRAITS)


def answer(page, prediction):
    """Give the guess on the page to the Python side, and its answer to the page."""
    prediction.guess = page.evaluate("window.saved.at(-1).guess")
    page.evaluate("answered => window.hear(answered)", {name: getattr(prediction, name) for name in TRAITS})


def test_the_truth_is_shown_only_beside_a_guess(show):
    prediction = Prediction("How many loads in `naive`?", 4321, because="Two for each step.")
    page = show(prediction)
    assert "4,321" not in page.inner_text("body")
    assert page.inner_text(".predict-question code") == "naive"

    page.fill(".predict-box", "8")
    page.press(".predict-box", "Enter")
    answer(page, prediction)

    expect(page.locator(".predict-pair dd")).to_have_text(["✗ 8", "4,321"])
    expect(page.locator(".predict-because")).to_have_text("Two for each step.")
    expect(page.locator(".predict-score")).to_contain_text("predictions: ")
    assert page.evaluate("window.leaked") is None  # JupyterLab's shortcuts must not hear what is typed


def test_what_is_no_number_is_asked_for_again(show):
    prediction = Prediction("How many?", 8)
    page = show(prediction)

    page.fill(".predict-box", "many")
    page.click("text=Compare")
    answer(page, prediction)

    expect(page.locator(".predict-problem")).to_contain_text("please give a number")
    assert page.locator(".predict-pair").count() == 0


def test_a_range_is_chosen_with_a_button(show):
    prediction = Prediction("How much faster?", 5.9, ((None, 2), (2, 8), (8, None)))
    page = show(prediction)
    expect(page.locator(".predict-choice")).to_have_text(["under 2", "2 to 8", "8 or more"])

    page.click("text=2 to 8")
    answer(page, prediction)

    expect(page.locator(".predict-pair dd")).to_have_text(["✓ 2 to 8", "5.9 (2 to 8)"])
