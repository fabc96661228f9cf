"""The stepper with controls: another choice launches again, a wrong one is answered in a sentence."""

from dataclasses import replace

import pytest
from launches.decode import LOAD, Payload
from nightly import NIGHTLY

from course_lib.kernels import rung
from course_lib.trace.notebook_outputs import HTML
from course_lib.trace.viewer import explore
from course_lib.trace.viewer.explorer import recorded


def loads(explorer):
    """The line of the text form that counts global loads."""
    return next(line for line in str(explorer).splitlines() if line.startswith("global loads"))


def test_choices_are_launched():
    """4×4 in tiles of 2: 4 loads a thread; naive 8; and 8×8 in tiles of 4: 4 again."""
    explorer = explore()
    assert loads(explorer).startswith("global loads: 4 per thread (A 2, B 2), 16 per block, 64 in all")
    explorer.kernel.value = "naive"
    assert loads(explorer).startswith("global loads: 8 per thread (A 4, B 4)")
    explorer.kernel.value, explorer.n.value, explorer.tile_width.value = "tiled", 8, 4
    assert loads(explorer).startswith("global loads: 4 per thread (A 2, B 2), 64 per block, 256 in all")


@pytest.mark.parametrize(("n", "tile_width"), [(1, 1), (5, 2), (7, 4)])
def test_every_kernel_at_ragged_sizes(n, tile_width):
    """Each kernel on offer is launched at sizes that no tile divides, without a message."""
    explorer = explore(n=n, tile_width=tile_width)
    names = [name for _, name in explorer.kernel.options]
    assert {"naive", "single_block", "tiled", "prefetched"} <= set(names)
    for name in names:
        explorer.kernel.value = name
        assert "" == explorer.message.value, name
        assert str(explorer).startswith(f"Explorer: kernel {name}, n = {n}, tile width {tile_width}")


def test_a_choice_keeps_where_the_reader_is():
    """Step, block and thread stay as far as the new launch has them, and so does the view."""
    explorer = explore(n=8, tile_width=4)
    stepper = explorer.stepper
    stepper.step, stepper.block, stepper.thread, stepper.panel = 30, (1, 1), (2, 3), "waits"
    explorer.kernel.value = "prefetched"
    assert (30, (1, 1, 0), (2, 3, 0)) == (stepper.step, stepper.block, stepper.thread)
    explorer.tile_width.value, explorer.n.value = 2, 4
    assert ((1, 1, 0), (1, 1, 0)) == (stepper.block, stepper.thread)
    explorer.n.value = 1
    assert (min(30, len(stepper.timeline)), (0, 0, 0), "waits") == (stepper.step, stepper.block, stepper.panel)


def test_the_first_setting_asks_a_question():
    """A kernel that pads its tiles begins without a padding, at a size at which that costs wavefronts."""
    explorer = explore(["padded", "bank_conflicts"])
    assert explorer.padding.value == 0
    before = explorer.stepper.run.traffic.bank_conflicts
    explorer.padding.value = 1
    assert explorer.stepper.run.traffic.bank_conflicts < before / 2
    explorer = explore(["padded"], n=4, tile_width=4, padding=1)
    assert (4, 4, 1) == (explorer.n.value, explorer.tile_width.value, explorer.padding.value)


class Refusing:
    """A rung that can be launched for n = 2 and nothing else."""

    name, title, params, make = "refusing", "Refuses", {}, rung("naive").make

    def launch(self, M, N, K):
        if M != 2:
            raise ValueError(f"This kernel holds <2×2> only, not {M}×{N}. Some more about it.")
        return (1, 1), (2, 2)


def test_refusal_is_one_sentence_and_keeps_the_launch():
    """The reason stands under the controls as text, and the stepper still shows the launch before."""
    explorer = explore([Refusing()], n=2)
    shown = str(explorer.stepper)
    explorer.n.value = 3

    assert "<b>Not launched.</b> This kernel holds &lt;2×2&gt; only, not 3×3." == explorer.message.value
    assert shown == str(explorer.stepper)
    explorer.n.value = 2
    assert "" == explorer.message.value


@pytest.mark.parametrize(
    "choice",
    [
        {"kernel": "quick"},
        {"n": 65},
        {"n": 0},
        {"tile_width": 3},
        {"padding": 5},
        {"kernels": ["naive", "quick"]},
        {"kernels": []},
    ],
)
def test_choices_that_the_controls_do_not_offer(choice):
    """explore() names the choices it has."""
    with pytest.raises(ValueError, match="choose from|from 1 to 64"):
        explore(**choice)


def test_mimebundle_has_the_controls_and_the_picture():
    """Readers who have not run the notebook see the stepper's picture and text."""
    explorer = explore()
    data, _ = explorer._repr_mimebundle_()
    assert explorer.model_id == data["application/vnd.jupyter.widget-view+json"]["model_id"]
    assert str(explorer) == data["text/plain"]
    assert data[HTML] == explorer.stepper._repr_mimebundle_()[0][HTML]


def test_only_the_kernels_that_a_lesson_has_met():
    """By name, in the order given; the first is shown unless tiled is among them."""
    explorer = explore(("naive", "uncoalesced"))
    assert [name for _, name in explorer.kernel.options] == ["naive", "uncoalesced"]
    assert str(explorer).startswith("Explorer: kernel naive")


def test_block_height():
    """A naive block of 4×2 threads takes 8 rows of blocks for 16 rows; a tiled one has no such choice."""
    explorer = explore(kernel="naive", n=16, tile_width=4)
    assert explorer.block_height.layout.display is None
    explorer.block_height.value = 2
    assert ((4, 8, 1), (4, 2, 1)) == (explorer.stepper.run.grid, explorer.stepper.run.block)
    explorer.kernel.value = "tiled"
    assert explorer.block_height.layout.display == "none"
    assert (4, 4, 1) == explorer.stepper.run.block


def test_padding_is_a_number_of_elements():
    """Rows of 32 elements begin in the same bank, of 33 and 35 all in different ones, of 34 two by two."""
    explorer = explore(kernel="padded", n=32, tile_width=32, kernels=("bank_conflicts", "padded"))

    def wavefronts(padding):
        explorer.padding.value = padding
        loads = explorer.stepper.run.traffic.select(array="B_tile", op="load")
        return loads.wavefronts / loads.requests

    wanted = {0: 32, 1: 1, 2: 2, 3: 1, 4: 4, 8: 8} if NIGHTLY else {0: 32, 4: 4}
    assert wanted == {padding: wavefronts(padding) for padding in wanted}
    assert explorer.padding.layout.display is None
    explorer.padding.value = 0
    unpadded = explorer.stepper.run.traffic.bank_conflicts
    explorer.kernel.value = "bank_conflicts"
    assert unpadded == explorer.stepper.run.traffic.bank_conflicts
    assert explorer.padding.layout.display == "none"


def test_plots_are_drawn_when_they_are_opened():
    """Nothing is counted before; then every kernel is, against n and against the tile width."""
    explorer = explore(("naive", "tiled"), n=8, tile_width=4)
    assert b"" == explorer._plot.value and ("Loads and sectors of all kernels",) == explorer.plots.titles
    explorer.plots.selected_index = 0
    assert bytes(explorer._plot.value).startswith(b"\x89PNG")
    assert {"One thread per element": (1024, 160), "Tiles in shared memory": (256, 64)} == explorer.counts(8, 4)
    before = bytes(explorer._plot.value)
    explorer.n.value = 16
    assert before != bytes(explorer._plot.value)
    untaught = explore(("naive", "tiled"), n=8, tile_width=4, panels=["launch"])
    untaught.plots.selected_index = 0
    assert "sector" not in untaught.plots.titles[0] + untaught._plot.alt


def test_a_launch_too_large_to_trace_is_answered_in_a_sentence():
    explorer = explore(kernel="naive", n=4, tile_width=1)
    explorer.n.value = 64
    assert explorer.message.value.startswith("<b>Not launched.</b> this launch has more than 200,000 steps")
    assert (4, 4, 1) == explorer.stepper.run.grid


def test_a_page_without_a_kernel_gets_launches_of_its_controls():
    """Each is what its setting says: a thread of n×n in tiles of T loads 2·n/T numbers, or 2·n without tiles."""
    explorer = explore(["naive", "single_block", "tiled"], n=8, tile_width=2)
    launches = recorded(explorer.get_state())
    titles = {name: rung(name).title for name in ("naive", "single_block", "tiled")}
    assert {launch["setting"]["Kernel"] for launch in launches} == {*titles.values()}
    assert len({launch["data"] for launch in launches}) == len(launches) == 9 + 3 + 9
    assert explorer.stepper._data in {launch["data"] for launch in launches}
    for launch in launches:
        read, n = Payload(launch["data"]), launch["setting"]["n"]
        assert launch["setting"]["Kernel"] == titles[read.head["kernel"]]
        assert read.head["arrays"][0]["shape"] == [n, n]
        loads = [access for step in range(len(read["step_warp"])) for access in read.accesses(step)]
        wanted = {"naive": n, "single_block": 1, "tiled": n / launch["setting"].get("Tile width", n)}
        loaded = sum(
            len(elements) for op, array, _, elements, _ in loads if op == LOAD and array in read.head["arrays"][:2]
        )
        assert loaded == 2 * wanted[read.head["kernel"]] * n * n, launch["setting"]


def test_padding_is_a_choice_of_the_recorded_launches_and_a_rung_of_ones_own_has_none():
    launches = recorded(explore(["bank_conflicts", "padded"], n=8, tile_width=8).get_state())
    paddings = {launch["setting"].get("Padding") for launch in launches if launch["setting"]["n"] == 16}
    assert paddings == {None, 0, 1, 2, 3, 4, 8}
    own = explore([replace(rung("naive"), name="mine")])
    assert recorded(own.get_state()) == []
