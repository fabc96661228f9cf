"""A stepper saved as a page: one file that needs nobody, and says the same as the widget."""

import json
import re

import numpy as np
import pytest
from launches.decode import Payload
from launches.samples import launch, numbers
from oracles.scene import scene_of

from course_lib.trace.viewer import Stepper, compare
from course_lib.trace.viewer.page import escaped


def test_the_page_holds_the_trace_and_where_the_stepper_stands(tmp_path):
    stepper = Stepper(launch("tiled"), step=21, block=(1, 0), thread=(1, 1))
    text = stepper.save(tmp_path / "page.html").read_text()
    state = json.loads(re.search(r'<script type="application/json" class="[^"]*"[^>]*>(.*?)</script>', text)[1])
    assert (state["step"], state["block"], state["thread"]) == (21, [1, 0, 0], [1, 1, 0])
    assert Payload(state["_data"]).head["kernel"] == "tiled"


def test_the_page_asks_for_nothing(tmp_path):
    """No address of another file stands in it, but names of XML vocabularies and the module's own remarks."""
    text = Stepper(launch("tiled")).save(tmp_path / "page.html").read_text()
    assert not re.findall(r'(?:src|href)\s*=\s*["\'](?!data:)', text.split('<script type="module">')[0])
    assert not re.findall(r"@import|url\(\s*['\"]?http", text)
    assert text.count("</script>") == text.count("<script ")


def test_a_title_and_a_trace_cannot_end_the_script():
    """What looks like the end of a script is written so that it is not."""
    assert "</script" not in escaped('"</script><script>alert(1)"')
    for text in ("</script>", "<!-- <script>", "</STYLE>", "a < b </b>"):
        assert json.loads(escaped(json.dumps(text))) == text
        assert not re.search("</script|<!--", escaped(json.dumps(text)))


def test_two_runs_to_compare():
    """The second trace travels beside the first."""
    stepper = compare(launch("naive"), launch("tiled"))
    assert ["naive", "tiled"] == [Payload(text).head["kernel"] for text in (stepper._data, stepper._other)]


def test_the_wanted_value_stands_beside_the_wrong_one():
    """Text and scene name the element where the thread stores it; an element that is right is not mentioned."""
    run = launch("tiled")
    right = numbers(4, 4) @ numbers(4, 4, seed=1)
    assert Stepper(run, wanted={"C": right})._wanted == ""
    other = right.copy()
    other[0, 1] += 5
    last = len(Stepper(run).timeline)
    stepper = Stepper(run, wanted={"C": other}, step=last, thread=(1, 0))
    held, wanted = f"{right[0, 1]:.0f}", f"{other[0, 1]:.0f}"
    assert json.loads(stepper._wanted) == {"C": {"1": [held, wanted]}}
    assert [f"C[0, 1] holds {held} in the end, and {wanted} was wanted."] == scene_of(stepper).wrong_now
    assert [] == scene_of(Stepper(run, wanted={"C": other}, step=last, thread=(0, 0))).wrong_now
    stepper.run = run
    assert stepper._wanted == ""


@pytest.mark.parametrize("wanted", [{"D": np.zeros((4, 4))}, {"C": np.zeros((4, 5))}, {"A_tile": np.zeros((2, 2))}])
def test_a_wanted_array_must_be_the_launchs(wanted):
    with pytest.raises(ValueError, match="has no global array"):
        Stepper(launch("tiled"), wanted=wanted)
