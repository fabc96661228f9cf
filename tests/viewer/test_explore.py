"""The stepper with controls: another choice launches again, a wrong one is answered in a sentence."""

import pytest

from course_lib.kernels import LADDER
from course_lib.viewer import explore


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


class Refusing:
    """A rung that can be launched for n = 2 and nothing else."""

    name, title, params = "refusing", "Refuses", {}

    def make(self):
        return next(rung for rung in LADDER if rung.name == "naive").make()

    def launch(self, M, N, K):
        if M != 2:
            raise ValueError(f"This kernel holds <2×2> only, not {M}×{N}. Some more about it.")
        return (1, 1), (2, 2)


def test_refusal_is_one_sentence_and_keeps_the_launch():
    """The reason stands under the controls as text, and the stepper still shows the launch before."""
    explorer = explore([Refusing()], kernel="refusing", n=2)
    shown = str(explorer.stepper)
    explorer.n.value = 3

    assert "<b>Not launched.</b> This kernel holds &lt;2×2&gt; only, not 3×3." == explorer.message.value
    assert shown == str(explorer.stepper)
    explorer.n.value = 2
    assert "" == explorer.message.value


@pytest.mark.parametrize("choice", [{"kernel": "quick"}, {"n": 17}, {"n": 0}, {"tile_width": 3}])
def test_choices_that_the_controls_do_not_offer(choice):
    """explore() names the choices it has."""
    with pytest.raises(ValueError, match="choose from|from 1 to 16"):
        explore(**choice)


def test_mimebundle_has_the_controls_and_the_picture():
    """Readers who have not run the notebook see the stepper's picture and text."""
    explorer = explore()
    data = explorer._repr_mimebundle_()
    assert explorer.model_id == data["application/vnd.jupyter.widget-view+json"]["model_id"]
    assert str(explorer) == data["text/plain"]
    assert data["image/png"] == explorer.stepper._repr_mimebundle_()[0]["image/png"]
