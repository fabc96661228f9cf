"""The figures: what the comparison of stored pictures does not see, as digits in under 0.2 % of a picture."""

import base64
import io
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from launches.samples import launch, product
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from numba import cuda, float32
from PIL import Image

from course_lib import simulate
from course_lib.machine import figures, measurements, timing_model
from course_lib.machine.timing_model.instruction_streams import Instruction
from course_lib.trace.figures.canvas import Slides, describe, new_axes
from course_lib.trace.notebook_outputs import HTML, SLIDE
from course_lib.trace.palette import COLOURS, WASH
from course_lib.trace.png import element, packed_in, size_of, with_palette
from course_lib.trace.warp_schedule import ROWS, slacks, timeline_rows
from tools.report import ladder_axes, series_axes


def _texts(ax):
    return [text.get_text() for text in ax.texts]


def _apart(texts, pixels=0):
    """Whether no text covers another one, and the boxes of all."""
    texts[0].figure.draw_without_rendering()
    boxes = [text.get_window_extent().padded(pixels) for text in texts]
    return not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i]), boxes


# ---- where elements lie in memory


@pytest.mark.parametrize("itemsize, sectors", [(4, 1), (8, 2)])
def test_row_major_counts_sectors_with_the_size_of_an_element(itemsize, sectors):
    ax = figures.row_major((2, 8), [(0, col) for col in range(8)], itemsize=itemsize)
    assert f"in {sectors} sector" in ax.get_title()


def test_the_name_of_a_matrix_is_beside_its_elements():
    ax = figures.row_major((3, 4), [(0, 0)])
    (name,) = [text for text in ax.texts if text.get_text() == "A"]
    ax.figure.draw_without_rendering()
    around = name.get_window_extent()
    assert not any(around.overlaps(patch.get_window_extent()) for patch in ax.patches)


def _trace(index, shape, dtype="float32", **step):
    access = SimpleNamespace(op="load", array="B", index=np.array(index))
    held = SimpleNamespace(space="global", dtype=dtype, shape=shape)
    return SimpleNamespace(arrays={"B": held}, steps=(SimpleNamespace(accesses=(access,), **step),))


def test_lane_addresses_are_row_major_byte_addresses():
    trace = _trace([(0, 0), (1, 2), (3, 4)], shape=(4, 5), dtype="float64")
    np.testing.assert_array_equal(figures.lane_addresses(trace, "B"), [0, (5 + 2) * 8, (15 + 4) * 8])


def test_lane_addresses_refuses_an_array_that_was_not_loaded():
    with pytest.raises(ValueError, match="no store of B"):
        figures.lane_addresses(_trace([(0, 0)], (4, 5)), "B", op="store")


# ---- prefetching


@cuda.jit
def _read_at_once(A, C):
    """Warp 1 of block 0, and all of block 1, load once more."""
    tile = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    tile[i] = A[i]
    if i >= 32 or cuda.blockIdx.x == 1:
        tile[i] = A[i] + float32(1)
    cuda.syncthreads()
    x = tile[63 - i]
    C[cuda.grid(1)] = x * tile[i]


def test_timeline_rows_follow_one_warp_and_skip_other_statements():
    A, C = np.ones(64, np.float32), np.zeros(128, np.float32)
    trace = simulate(_read_at_once, trace=True)[2, 64](A, C).trace
    assert list(timeline_rows(trace).values()) == [[0], [2, 3], [0], [1]]


def _rows(*kinds):
    """The rows of a warp's statements: 'load', 'multiply', 'store', 'both' (a load stored at once) or 'barrier'."""
    does = ("load", "both"), ("multiply",), ("store", "both"), ("barrier",)
    return {row: [n for n, kind in enumerate(kinds) if kind in found] for row, found in zip(ROWS, does, strict=True)}


def test_slacks_count_the_multiplies_between_a_load_and_its_store():
    assert slacks(_rows("both", "barrier", "multiply", "multiply")) == [0]
    early = _rows("load", "load", "multiply", "multiply", "multiply", "store", "barrier", "load", "store", "load")
    assert slacks(early) == [3, 3, 0]


def test_small_digits_say_what_is_drawn():
    assert _texts(figures.bars({"a": 2.0, "b": 1234.5}, "", "", None, ("cuBLAS", {"b": 1300.0}))) == [
        "2",
        "1,234  (95 %)",
    ]
    pairs = figures.pairs({"one": (4.0, 5.0), "two": (10.0, 30.0)}, ("naive", "tiled"), "", "")
    assert {"30  (× 3)", "5  (× 1.25)"} <= {*_texts(pairs)}


@pytest.mark.parametrize("name, T", [("naive", 4), ("tiled", 4), ("prefetched", 4), ("outer_product", 0)])
def test_loads_of_each_element_are_the_formulas(name, T):
    """Of matrices that no tile divides: each row of blocks loads B once more, and each column of blocks loads A."""
    M, N, K = (20, 70, 18) if name == "outer_product" else (9, 10, 7)
    params = {} if not T else {"block_width" if name == "naive" else "tile_width": T}
    found = figures.loads_of(product(name, M, K, N, **params)().trace)
    per_block = {"naive": (N, M), "outer_product": (-(-N // 64), -(-M // 16))}
    a, b = per_block.get(name, (-(-N // 4), -(-M // 4)))
    assert found.keys() == {"A", "B"}
    assert (found["A"] == np.full((M, K), a)).all() and (found["B"] == np.full((K, N), b)).all()


def test_loads_are_drawn_on_one_scale():
    """A colour is stronger where an element is loaded more often, also in the other launch; what is said is counted."""
    runs = {
        name: product(name, 16, 16, 16, **{width: 4})()
        for name, width in (("naive", "block_width"), ("tiled", "tile_width"))
    }
    ax = figures.loads({name: run.trace for name, run in runs.items()})
    naive, _, tiled, _ = (image.get_array()[0, 0, :3] for image in ax.images)
    assert naive.sum() < tiled.sum() < 3
    for name, run in runs.items():
        loaded = run.traffic.select(space="global", op="load").accesses
        assert f"{name} loads {loaded:,} numbers" in ax.get_label()
    with pytest.raises(ValueError, match="loads anything"):
        figures.loads({})


# ---- all of them


def _contrast(one, other):
    def luminance(colour):
        parts = np.array(to_rgb(colour))
        return np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@cache
def _drawn():
    """Every kind of figure, drawn: its name, and its Axes."""
    machine = timing_model.Multiprocessor.measured(measurements.load("latencies"))
    ladder = measurements.load("ladder")
    chain = [Instruction("multiply-add", 0, (i - 1,) if i else ()) for i in range(8)]
    lanes = [4 * lane for lane in range(32)]
    counts = {4: {"naive": (128, 40), "tiled": (64, 20)}, 8: {"naive": (1024, 300)}}
    tiled = launch("tiled_two_warps").trace
    axes = {
        "machine": figures.machine(ladder.provenance, latency=machine.latency),
        "explored": figures.explored(counts, {2: counts[4]}, 4, 2).ax,
        "row_major": figures.row_major((3, 5), [(0, 2)]),
        "warp_sectors": figures.warp_sectors({"near": ("B", lanes), "far": ("A", [100 * a for a in lanes])}),
        "bars": figures.bars({"tiled": 2.0, "best": 1234.5}, "A title", "loads"),
        "pairs": figures.pairs({"a": (4.0, 5.0)}, ("naive", "tiled"), "A title", "GFLOP/s"),
        "scatter": figures.scatter({"a": (1, 2), "b": (1, 2.1)}, "A title", ("%", "GFLOP/s")),
        "lines_against_n": figures.lines_against_n({"naive": {128: 1.0, 256: 8.0}}, "A title", "GFLOP/s"),
        "bank_strips": figures.bank_strips({"stride 2": [2 * lane for lane in range(32)]}),
        "thread_map": figures.thread_map(3, 5, block=(4, 2)),
        "tile_pairs": figures.tile_pairs(M=5, N=7, K=6, tile_width=4, tile=(1, 0)),
        "tile_pairs, asked": figures.tile_pairs(M=5, N=7, K=6, tile_width=4, tile=(1, 0), asked=True),
        "footprint": figures.footprint(3, 5, 4, (2, 1)),
        "register_tiles": figures.register_tiles({"tiled": tiled}),
        "race": figures.race({"tiled": tiled}, "A_tile"),
        "spans": figures.spans(
            [("one", [("a", 0, 1, "x"), ("b", 1, 2, "y")])], {"a": COLOURS["A"], "b": ""}, "A", "cycles"
        ),
        "loads": figures.loads({"tiled": tiled}),
        "split_k": figures.split_k(4, 6, 10, 3),
        "waiting": timing_model.draw({"a chain": timing_model.simulate_warps([chain, chain], machine)}),
        "early_loads": figures.early_loads(measurements.load("prefetching").results, "NVIDIA H200"),
        "roofs": figures.roofs(figures.levels("naive", "tiled")),
        "ladder": ladder_axes(ladder, measurements.load("ceilings")),
        "series": series_axes(measurements.load("series")),
    }
    for name, ax in axes.items():
        FigureCanvasAgg(ax.figure)
        ax.figure.set_layout_engine("none")  # colours do not depend on it, and it takes half the time
        ax.figure.draw_without_rendering()
        assert ax.figure.get_facecolor()[3] == 0, name
    return [(name, each) for name, ax in axes.items() for each in ax.figure.axes]


@pytest.mark.parametrize("ground", ["#ffffff", "#111111"])
def test_every_text_and_line_stands_out_from_a_light_and_from_a_dark_page(ground):
    """A figure has no ground of its own. 4.29 is `palette.GROUND` on white; no colour has more than 4.35 on both.

    What stands on a fill is measured against that; on the veil, which is translucent, 3.5 are left.
    """
    page = np.array(to_rgb(ground))
    for name, ax in _drawn():
        assert ax.get_facecolor()[3] == 0, name
        labels = [ax.title, ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()]
        legend = ax.get_legend() or (ax.figure.legends[0] if ax.figure.legends else None)
        patches = sorted((p for p in ax.patches if p.get_facecolor()[3]), key=lambda patch: patch.get_zorder())
        fills = [(patch.get_window_extent(), patch.get_facecolor()) for patch in patches]
        for text in [*(labels if ax.axison else [ax.title]), *ax.texts, *(legend.get_texts() if legend else ())]:
            if not text.get_text():
                continue
            under, least = page, 4.28
            box = text.get_window_extent()
            for place, (*fill, opacity) in fills:
                if place.contains((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2):
                    under, least = opacity * np.array(fill) + (1 - opacity) * under, 3.5 if opacity < 1 else 4.28
            if text.get_weight() == "bold" and text.get_fontsize() >= 14:
                least = min(least, 3)  # as WCAG has it, for large letters
            assert _contrast(text.get_color(), under) >= least, (name, text.get_text())
        for line in ax.lines:
            if line.get_color() != WASH and ax.axison:
                assert _contrast(line.get_color(), page) > 1.9, (name, line.get_label())
        for side in ax.spines.values() if ax.axison else ():
            assert _contrast(side.get_edgecolor()[:3], page) > 4.28, name


def test_a_picture_is_a_png_with_a_palette_and_a_stable_text():
    picture = figures.show(figures.tile_pairs(4, 4, 4, 2, (1, 1)))
    png = picture.png
    drawn = Image.open(io.BytesIO(png))
    shown = picture._repr_html_()
    assert shown == element(png, repr(picture), round(drawn.width / 1.25))
    assert packed_in(shown) == base64.b64encode(png).decode()
    assert drawn.mode == "P"
    assert drawn.convert("RGBA").getpixel((0, 0))[3] == 0
    assert repr(picture) == repr(figures.show(figures.tile_pairs(4, 4, 4, 2, (1, 1))))


@pytest.mark.parametrize(("choices", "apart"), [([0, 64, 128, 255], 0), (range(100, 120), 8), (range(256), 255)])
def test_a_palette_changes_no_colour_by_more_than_it_says(choices, apart):
    """Of 200 colours and of more than 6,000, near each other or not, on a white page and on a black one."""
    pixels = np.random.default_rng(1).choice(choices, (80, 80, 4)).astype(np.uint8)
    image = Image.fromarray(pixels)
    stored = Image.open(io.BytesIO(with_palette(image)))
    assert len(stored.getcolors()) <= 256
    for page in (Image.new("RGBA", image.size, name) for name in ("white", "black")):
        one, other = (Image.alpha_composite(page, each) for each in (image, stored.convert("RGBA")))
        assert np.abs(np.subtract(one, other, dtype=int)).max() <= apart + (apart > 0)  # rounded twice


def test_two_large_areas_of_similar_colours_stay_different():
    """The palest blue and the palest green of the course, beside many other colours."""
    pixels = np.random.default_rng(1).integers(0, 256, (80, 80, 4), np.uint8)
    pixels[:30], pixels[30:60] = (224, 238, 246, 255), (224, 243, 238, 255)
    stored = np.asarray(Image.open(io.BytesIO(with_palette(Image.fromarray(pixels)))).convert("RGBA"))
    np.testing.assert_array_equal(stored[:60], pixels[:60])


def test_a_picture_of_very_many_colours_is_quantized_first():
    """Else each of them would be compared with hundreds, which took minutes."""
    image = Image.fromarray(np.random.default_rng(1).integers(0, 256, (150, 150, 4), np.uint8))
    assert with_palette(image) == with_palette(image.quantize().convert("RGBA"))


def test_a_picture_for_slides_is_smaller_and_leaves_that_of_the_page_as_it_is(monkeypatch):
    """Both come from one cell; without slides a cell shows the picture alone."""
    picture = figures.show(describe(new_axes(14, 8)))
    alone = picture._repr_mimebundle_()
    assert set(alone) == {HTML}
    monkeypatch.setattr(Slides, "on", True)
    both = figures.show(picture.ax)._repr_mimebundle_()
    assert size_of(both[HTML]) == size_of(alone[HTML])
    assert size_of(both[SLIDE])[0] < size_of(both[HTML])[0]


# ---- the machine


def test_the_machine_shows_the_sizes_of_the_gpu_that_it_is_given():
    gpu = {
        "gpu": "Some GPU",
        "multiprocessors": 17,
        "threads_per_multiprocessor": 1536,
        "registers_per_multiprocessor": 8192,
        "shared_bytes_per_multiprocessor": 100 * 1024,
        "l2_bytes": 6 * 2**20,
    }
    ax = figures.machine(gpu, shown=2)
    texts = _texts(ax)
    for text in ("1,536 threads", "registers, 32 KiB", "shared, 100 KiB"):
        assert texts.count(text) == 2
    assert "GPU (Some GPU)" in texts and "… 17\nof them" in texts and "L2 cache, 6 MiB, for all" in texts
    for words in ("17 multiprocessors", "1,536 threads", "32 KiB", "100 KiB", "6 MiB"):
        assert words in ax.get_label()


def test_all_kernels_against_n_and_tile_width():
    """Four plots share their kernels; a line has a point for each launch that was counted, and the text the numbers."""
    by_n = {4: {"naive": (128, 40), "tiled": (64, 20)}, 8: {"naive": (1024, 300)}}
    by_width = {2: {"naive": (128, 40), "tiled": (64, 20)}, 4: {"tiled": (32, 8)}}
    picture = figures.explored(by_n, by_width, 4, 2)
    lines = [{line.get_label(): line.get_data() for line in ax.lines} for ax in picture.ax.figure.axes]
    assert len(lines) == 4
    points = [{k: [list(map(int, v)) for v in found[k]] for k in ("naive", "tiled")} for found in lines]
    assert points[0] == {"naive": [[4, 8], [128, 1024]], "tiled": [[4], [64]]}
    assert points[1] == {"naive": [[2], [128]], "tiled": [[2, 4], [64, 32]]}
    assert points[2] == {"naive": [[4, 8], [40, 300]], "tiled": [[4], [20]]}
    assert points[3] == {"naive": [[2], [40]], "tiled": [[2, 4], [20, 8]]}
    assert "naive: 128 loads, 40 sectors" in repr(picture)
    before_sectors = figures.explored(by_n, by_width, 4, 2, sectors=False)
    assert len(before_sectors.ax.figure.axes) == 2 and "sector" not in repr(before_sectors)


# ---- banks, bars and lines


def test_lines_against_n_have_names_that_are_apart_where_they_end_together():
    series = {
        "naive": {128: 1.0, 256: 8.0},
        "best": {128: 3.0, 256: 4.0},
        "cublas": {128: 2.0, 256: 4.1},
        "host": {128: 9.0},
    }
    ax = figures.lines_against_n(series, "A title", "GFLOP/s")
    assert [list(line.get_ydata()) for line in ax.lines] == [[1.0, 8.0], [3.0, 4.0], [2.0, 4.1], [9.0]]
    assert sorted(_texts(ax)) == sorted(series)
    assert _apart(ax.texts)[0]
    assert ax.get_ylabel() == "GFLOP/s"


def test_the_gain_of_early_loads_is_drawn_over_the_use_of_the_path():
    """Each launch without early loads is a mark where the profiler counted wavefronts; the line is what they allow."""
    results = measurements.load("prefetching").results
    ax = figures.early_loads(results, "NVIDIA H200")
    drawn = {line.get_label(): line.get_xydata() for line in ax.lines if " T = " in str(line.get_label())}
    for language, width in [(language, width) for language in ("numba", "CUDA C") for width in (8, 16, 32)]:
        wanted = {}
        for r in results:
            if r.get("of") == "prefetch_variants" and r["language"] == language and r["warps"]:
                T, buffers, loads, barriers = (r["params"][k] for k in ("tile_width", "buffers", "loads", "barriers"))
                if (T, buffers, barriers) == (width, 1, 2):
                    wanted.setdefault(r["warps"], {})[loads] = r
        pairs = [each for each in wanted.values() if {"behind", "early"} <= set(each)]
        points = [
            (each["behind"]["l1_wavefronts_percent"], each["early"]["gflops"] / each["behind"]["gflops"])
            for each in pairs
        ]
        marks = drawn.pop(f"{language}, T = {width}")
        np.testing.assert_allclose(sorted(map(tuple, marks)), sorted(points))
        assert all(gain < 100 / used for used, gain in points)
    assert not drawn
    (line,) = (line for line in ax.lines if len(line.get_xdata()) > 20)
    np.testing.assert_allclose(line.get_ydata(), 100 / np.asarray(line.get_xdata()))


# ---- the levels of the machine


def test_the_table_of_levels_says_what_the_profiler_counted():
    """Loads asked for are a formula's; full warps of 4-byte loads ask for 128 bytes in each counted request."""
    found = figures.levels("naive", "tiled")
    counters = measurements.load("counters")
    for level in found:
        counted = counters.result(level.rung, M=level.n)
        assert level.asked == 128 * counted["global_load_requests"]
        assert level.dram_bytes == counted["dram_read_bytes"]
        assert f"{counted['dram_read_bytes'] / 1e9:.2f}" in repr(found) and "read from DRAM (GB)" in repr(found)
        assert f"{level.gflops:,.0f}" in found._repr_html_()
    with pytest.raises(KeyError, match="no 'best' here"):
        found.of("best")


def test_a_rung_without_square_tiles_has_levels_but_no_formula_of_its_loads():
    (level,) = found = figures.levels("best")
    assert level.asked is None
    assert next(line for line in repr(found).splitlines() if "loads asked for" in line).split()[-1] == "–"


@pytest.mark.parametrize(
    "rung, near",
    [
        *((name, 0.02) for name in ("naive", "uncoalesced", "tiled", "bank_conflicts")),
        ("register_2d", 0.05),
        ("best", 0.05),
    ],
)
def test_the_roof_of_instructions_agrees_with_the_cycles_that_issued(rung, near):
    """Nsight Compute's own share of cycles in which an instruction was issued, of another launch.

    Of the two kernels that multiply most of the time, the counted and the timed launch differ by up to 4 %.
    """
    (level,) = figures.levels(rung)
    counted = measurements.load("counters").result(rung, M=level.n)
    assert 100 * level.share("instructions") == pytest.approx(counted["issue_active_percent"], rel=near)
    assert all(share < 1 for share in map(level.share, level.roofs))


def test_the_levels_of_a_variant_are_those_that_were_counted_of_it():
    """It makes the loads of `naive` in a seventh of its instructions, so its lowest roof is another one."""
    naive, right, tiled = found = figures.levels("naive", measurements.IMPROVED, "tiled_unsigned")
    counted = measurements.load("variants").result("naive_uint64_32")
    assert (right.requests, right.instructions) == (counted["global_load_requests"], counted["instructions"])
    assert (right.asked, right.requests, right.sector_bytes) == (naive.asked, naive.requests, naive.sector_bytes)
    assert [level.lowest for level in found] == ["instructions", "L1 and shared memory", "L1 and shared memory"]
    assert tiled.asked == right.asked / 32
    assert [level.name for level in found] == ["naive", "naive, improved", "tiled, unsigned"]


def test_roofs_beside_each_other_are_named_apart():
    for names in (("naive", measurements.IMPROVED, "tiled_unsigned"), ("bank_conflicts", "padded")):
        assert _apart(figures.roofs(figures.levels(*names)).texts, 3)[0], names
