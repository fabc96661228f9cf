"""The animation of a block, in Node.js: its frames and their counts, held against the trace's columns and formulas."""

import json
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from launches import uses as kernels
from launches.samples import LAUNCHES, SLOW, launch
from nightly import NIGHTLY, at_night
from oracles import uses
from oracles.frames import check_order
from traitlets.config import Config

from course_lib import simulate
from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import Stepper
from course_lib.trace.viewer.captions import facts_of, says
from course_lib.trace.viewer.payload import encode
from course_lib.trace.viewer.stepper_picture import chosen_frames

WEB = Path(__file__).parents[3] / "course_lib" / "trace" / "viewer" / "web"
FILMS = """
const [folder] = process.argv.slice(1);
const { open } = await import(`${folder}/trace.js`);
const { BlockAnimation } = await import(`${folder}/animation.js`);
const { frameSentence } = await import(`${folder}/captions.js`);
const lines = (await import("node:fs")).readFileSync(0, "utf8").split("\\n").filter(Boolean);
for (const line of lines) {
  const trace = await open(line);
  console.log(JSON.stringify(trace.blocks.slice(0, 2).map((block) => {
    const animation = BlockAnimation.of(block);
    const frames = animation.frames.map(({ from, to, step, first, facts, read, written }, i) => ({
      from, to, step, first, facts, says: frameSentence(animation.frames[i]),
      read: [...read].map(([array, elements]) => [trace.arrays[array].name, elements.sort((x, y) => x - y)]),
      written: [...written].map(([array, elements]) => [trace.arrays[array].name, elements.sort((x, y) => x - y)]),
    }));
    const { fetched, multiplied, uses, frameOf } = animation;
    return { frames, fetched, multiplied, uses, frameOf: [...frameOf] };
  })));
}
"""
NAMES = [name for name in LAUNCHES if NIGHTLY or name not in SLOW]


@pytest.fixture(scope="module")
def animations(node):
    """Of each launch, the animations of its first two blocks."""
    return dict(zip(NAMES, animations_of(node, [launch(name).trace for name in NAMES]), strict=True))


def animations_of(node, traces):
    """Return the animations of the first two blocks of each trace."""
    sent = "\n".join(map(encode, traces))
    return [json.loads(said) for said in node("--input-type=module", "-e", FILMS, str(WEB), given=sent).splitlines()]


def traced(kernel):
    grid, block, arguments = kernels.arguments_of(kernel)
    return simulate(kernel, trace=True, strict=False)[grid, block](*(a.copy() for a in arguments)).trace


@pytest.mark.parametrize("name", NAMES)
def test_frames_hold_what_the_columns_say(animations, name):
    """Each step is in one frame; a frame's elements, loads and stores are those of its steps, lane by lane."""
    trace = launch(name).trace
    for at, animation in zip(trace.columns.blocks.tolist(), animations[name], strict=False):
        timeline, frames = Timeline(trace, tuple(at)), animation["frames"]
        assert [f["from"] for f in frames] == [0, *(f["to"] for f in frames[:-1])] and frames[-1]["to"] == len(timeline)
        of = np.array(animation["frameOf"])
        assert [of[frame["step"] - 1] for frame in frames] == list(range(len(frames)))
        for number, frame in enumerate(frames):
            counts = dict.fromkeys(("fetched", "read", "stored", "updated", "shared"), 0)
            for array in trace.arrays.values():
                if array.space == "local":
                    continue
                accesses = timeline.accesses(array.name)
                now = of[accesses.position - 1] == number
                for what, chosen in (("read", ~accesses.store), ("written", accesses.store)):
                    wanted = np.unique(accesses.element[now & chosen]).tolist()
                    assert dict(frame[what]).get(array.name, []) == wanted, (number, array.name)
                loads = int((now & ~accesses.store).sum())
                atomic = int((now & accesses.atomic).sum())
                if array.space == "global":
                    counts["fetched"] += loads
                    counts["updated"] += atomic
                    counts["stored"] += int((now & accesses.store).sum()) - atomic
                else:
                    counts["read"] += loads
                    counts["shared"] += len(np.unique(accesses.element[now & accesses.store]))
            facts = frame["facts"]
            assert {each: facts[each] for each in counts} == counts, number
            assert frame["says"].endswith(".") and "undefined" not in frame["says"]


@pytest.mark.parametrize(
    "name, M, K, N, T, frames",
    [
        ("naive_16", 16, 16, 16, 1, 16 + 1),
        ("tiled_16", 16, 16, 16, 4, 2 * 16 // 4 + 1),
        ("tiled_two_warps", 8, 16, 8, 8, 2 * 16 // 8 + 1),
        ("bank_conflicts", 32, 32, 32, 32, 2 + 1),
        ("prefetched_16", 16, 16, 16, 4, 16 // 4 + 2),
    ],
)
def test_a_product_has_the_numbers_of_its_formula(animations, *, name, M, K, N, T, frames):
    """A block of T×T elements of C does K multiply-adds for each; a number that it loads is used T times."""
    animation = animations[name][0]
    side = launch(name).trace.block[0]
    assert len(animation["frames"]) == frames
    assert animation["multiplied"] == side * side * K
    assert animation["fetched"] == 2 * side * side * K // T
    assert animation["uses"] == T
    if name == "tiled_16":
        assert animation["frames"][0]["facts"]["reads"] == [T, T]
        said = [frame["says"] for frame in animation["frames"]]
        assert said[0] == "16 threads copy 32 numbers of A and B to shared memory; each will be read 4 times."
        assert said[1] == "16 threads read 32 numbers in shared memory, 128 times in all, for 64 multiply-adds."
        assert said[8] == "16 threads store 16 numbers of C."


def test_a_kernel_without_a_loop_has_a_frame_for_each_access(animations):
    """Loads, then stores, though the launch has no barrier."""
    assert [frame["facts"]["stored"] > 0 for frame in animations["complex"][0]["frames"]] == [False, True]


def test_uses_are_counted_in_the_trace(node):
    """How often a loaded number is used, and the multiply-adds, are those of numbers that know their origin."""
    animations = animations_of(node, [traced(kernel) for kernel in kernels.PRODUCTS])
    for kernel, (animation, *_) in zip(kernels.PRODUCTS, animations, strict=True):
        counts = uses.count_block(kernel, *kernels.arguments_of(kernel))
        name = kernel.__name__
        assert animation["fetched"] == counts.fetched > 0, name
        assert animation["uses"] == pytest.approx(counts.used / counts.fetched), name
        if kernel not in (kernels.by_a_function, kernels.uses_again):  # they multiply, and gather no sum of products
            assert animation["multiplied"] == counts.multiplied, name
    assert {animation["uses"] for animation, *_ in animations} >= {0, 1, 4}


@pytest.mark.parametrize("name", ["tensor_cores", "tensor_cores_bf16", "groups_in_flight"])
def test_an_instruction_multiplies_whole_matrices(animations, name):
    """As many multiply-adds as the tiles have; an instruction's operands are not followed, so no use is claimed."""
    animation, (grid, M, K, N) = animations[name][0], TILES[name]
    assert animation["multiplied"] == grid * M * K * N
    assert animation["uses"] == 0


#: The tiles of a block, and how many of them it multiplies; those of tensor_cores_bf16 are larger than its matrices.
TILES = {"tensor_cores": (1, 32, 32, 32), "tensor_cores_bf16": (1, 128, 32, 128), "groups_in_flight": (2, 64, 32, 64)}


@pytest.mark.parametrize("kernel", [*kernels.RACES, *kernels.ORDERED], ids=lambda kernel: kernel.__name__)
def test_an_animation_keeps_what_was_recorded(node, kernel):
    """In a race too, a thread reads in a frame what the frame shows, and an element is stored in the recorded order."""
    trace = traced(kernel)
    assert any(finding.kind == "race" for finding in trace.findings) == (kernel in kernels.RACES)
    ((animation, *_),) = animations_of(node, [trace])
    check_order(Timeline(trace, (0, 0, 0)), animation["frameOf"])


@pytest.mark.parametrize("name", NAMES)
def test_the_animation_of_every_launch_keeps_what_was_recorded(animations, name):
    """The same of all launches, with the races among them."""
    trace = launch(name).trace
    for at, animation in zip(trace.columns.blocks.tolist(), animations[name], strict=False):
        check_order(Timeline(trace, tuple(at)), animation["frameOf"])


def check_static_picture(trace, at, animation):
    """Assert that the static picture has the animation's frames, and says of each what the animation says."""
    drawn = Timeline(trace, tuple(at)).animation
    assert [(frame["from"], frame["to"]) for frame in animation["frames"]] == drawn.frames
    assert [frame["says"] for frame in animation["frames"]] == [*map(says, facts_of(drawn))]
    for title, said, _ in chosen_frames(drawn.recorded):
        number, of = map(int, title.split(" of "))
        assert (of, animation["frames"][number - 1]["says"]) == (len(animation["frames"]), said)


@pytest.mark.parametrize("name", NAMES)
def test_a_static_picture_has_the_frames_of_the_animation_and_says_the_same(animations, name):
    """The page plays what the picture shows: as many frames, of the same steps, each with the same sentence."""
    trace = launch(name).trace
    for at, animation in zip(trace.columns.blocks.tolist(), animations[name], strict=False):
        check_static_picture(trace, at, animation)


LESSONS = sorted(Path(__file__).parents[3].joinpath("notebooks").glob("*.ipynb"))


@pytest.fixture
def shell():
    """Yield an interpreter as a notebook's; without it, the tests that follow are outside of a notebook again."""
    yield InteractiveShell.instance(config=Config({"HistoryManager": {"hist_file": ":memory:"}}))
    InteractiveShell.clear_instance()


@pytest.mark.parametrize(
    "path", [p if p.stem == "express" else at_night(p) for p in LESSONS], ids=lambda path: path.stem
)
def test_the_static_pictures_of_a_lesson_are_frames_of_its_animations(node, monkeypatch, shell, path):
    """Of each stepper that its cells make; a page and a deck have the cells' steppers and pictures."""
    made, first = [], Stepper.__init__
    monkeypatch.setattr(
        Stepper, "__init__", lambda self, *given, **more: made.append(self) or first(self, *given, **more)
    )
    monkeypatch.chdir(path.parent)
    with capture_output():
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code" and not {"gpu", "raises-exception"} & {*cell.metadata.get("tags", ())}:
                shell.run_cell(cell.source).raise_error()
    traces = [trace for stepper in made for trace in stepper._traces]
    assert traces or not re.search(r"(Stepper|compare|explore)\(", path.read_text(encoding="utf-8"))
    for trace, animations in zip(traces, animations_of(node, traces), strict=True):
        for at, animation in zip(trace.columns.blocks.tolist(), animations, strict=False):
            check_static_picture(trace, at, animation)
