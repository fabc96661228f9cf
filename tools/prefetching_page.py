"""Write docs/prefetching.md: prefetching_page.md beside this file, with figures and tables from the recordings."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from course_lib.kernels.prefetch_variants import SETTINGS
from course_lib.kernels.variants import MOVED
from course_lib.machine.gpu.prefetching import FEW_WARPS, HELD_PLACES, LADDER_SIZES, LARGE, LARGE_SIZES, LISTED, WIDTHS
from course_lib.machine.measurements import Recording, load
from course_lib.machine.model.multiprocessor import Multiprocessor

#: The page's text, with the names of figures and tables in braces; and the page.
TEXT = Path(__file__).with_suffix(".md")
PAGE = Path(__file__).parents[1] / "docs" / "prefetching.md"
Result = dict[str, Any]
#: Buffers, place of the loads, barriers.
Setting = tuple[int, str, int]
LANGUAGES = {"numba": "numba", "CUDA C": "C"}
BEHIND = (1, "behind", 2)
LATE = (1, "late", 2)
EARLY = (1, "early", 2)
TWO_BEHIND = (2, "behind", 2)
TWO_LATE = (2, "late", 2)
TWO_BUFFERS = (2, "early", 2)
ONE_BARRIER, COPIED = (2, "early", 1), (2, "copied", 1)
#: What is varied from the first setting to the second, and what stays.
STEPS: tuple[tuple[str, Setting, Setting, str], ...] = (
    ("loads behind the barrier → early", BEHIND, EARLY, "1 buffer, 2 barriers"),
    ("loads behind the barrier → early", TWO_BEHIND, TWO_BUFFERS, "2 buffers, 2 barriers"),
    ("loads late → early", LATE, EARLY, "1 buffer, 2 barriers"),
    ("1 buffer → 2 buffers", EARLY, TWO_BUFFERS, "loads early, 2 barriers"),
    ("2 barriers → 1 barrier", TWO_BUFFERS, ONE_BARRIER, "loads early, 2 buffers"),
    ("1 buffer and 2 barriers → 2 buffers and 1 barrier", EARLY, ONE_BARRIER, "loads early"),
    ("loads → asynchronous copies", ONE_BARRIER, COPIED, "early, 2 buffers, 1 barrier"),
    ("1 buffer → 2 buffers", BEHIND, TWO_BEHIND, "loads behind, 2 barriers"),
    ("2 barriers → 1 barrier", TWO_LATE, (2, "late", 1), "loads late, 2 buffers"),
)
MANY = dict.fromkeys(WIDTHS, 64)
FEW = {8: 24, 16: 24, 32: 32}
#: Resident warps of the table of slots.
SWEEP = {8: (8, 16, 24, 32, 48, 64), 16: (8, 16, 24, 32, 48, 64), 32: (32, 64)}
#: The lines of the table of the ladder: a rung's name, and what it is called.
LADDER = (
    *((name, f"`{name}`, signed") for name in ("tiled", "prefetched")),
    ("pipelined", "`pipelined`, mixed"),
    *((f"{name}_unsigned", f"`{name}`, unsigned") for name in ("tiled", "prefetched")),
    *((f"{name}_c", f"`{name}`, CUDA C") for name in ("tiled", "prefetched", "pipelined")),
)
KINDS = ("multiply-add", "shared memory", "global memory", "barrier", "address", "condition", "loop", "other")


class Found:
    """The results of a recording, by what they measured."""

    def __init__(self, recording: Recording) -> None:
        self.results = recording.results
        self.date = recording.provenance["date"]

    def one(self, **wanted: Any) -> Result:
        """Return the only result with these entries; KeyError if there is none."""
        found = [r for r in self.results if all(r.get(key) == value for key, value in wanted.items())]
        if len(found) != 1:
            raise KeyError(f"{len(found)} results have {wanted}")
        return found[0]

    def variant(self, language: str, width: int, setting: Setting, warps: int | None) -> Result:
        """Return that of a setting of the switches."""
        params = dict(zip(("tile_width", "buffers", "loads", "barriers"), (width, *setting), strict=True))
        return self.one(of="prefetch_variants", language=language, params=params, warps=warps)

    def ladder(self, rung: str, width: int, n: int) -> Result:
        """Return that of a rung; `pipelined` in three stages."""
        stages = {"stages": 3} if "pipelined" in rung else {}
        return self.one(rung=rung, params={"tile_width": width, **stages}, M=n)

    def large(self, of: str, loads: str, n: int) -> Result:
        """Return that of a kernel with large tiles."""
        return self.one(of=of, loads=loads, M=n)


def speed(result: Result) -> float:
    """Return GFLOP/s at the median of the repeats, or as predicted."""
    if "milliseconds" not in result:
        return float(result["gflops"])
    return 2 * result["M"] * result["N"] * result["K"] / median(result["milliseconds"]) / 1e6


def spread(result: Result) -> float:
    """Return how much longer the slowest repeat took than the fastest, relative to it."""
    return float(max(result["milliseconds"]) / min(result["milliseconds"]) - 1)


def gain(of: Callable[..., Result], before: Sequence[Any], after: Sequence[Any]) -> float:
    """Return how many times as fast the result `of(*after)` is as that of `before`; NaN if one is not there."""
    try:
        return speed(of(*after)) / speed(of(*before))
    except KeyError:
        return np.nan


def beside(measured: float, predicted: float) -> str:
    """Return a gain with its prediction: 1.07 (1.05)."""
    return f"{measured:.2f} ({'–' if np.isnan(predicted) else f'{predicted:.2f}'})"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """Return a Markdown table; the first `left` columns are texts."""
    lines = [head, [*["---"] * left, *["---:"] * (len(head) - left)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def said(setting: Setting) -> tuple[str, str, str]:
    """Return a setting as cells."""
    return str(setting[0]), setting[1], str(setting[2])


def columns() -> Iterator[tuple[str, int]]:
    """Yield language and width of each column of a table of both."""
    return ((language, width) for language in LANGUAGES for width in WIDTHS)


HEAD = [f"{short}, T = {width}" for short in LANGUAGES.values() for width in WIDTHS]


def speeds_table(found: Found, warps: dict[int, int]) -> str:
    """Return the speeds of every setting, with equal numbers of resident warps."""
    rows = (
        (*said(s), *(f"{speed(found.variant(language, width, s, warps[width])):,.0f}" for language, width in columns()))
        for s in SETTINGS
    )
    return table(["buffers", "loads", "barriers", *HEAD], rows, 3)


def steps(found: Found, predicted: Found, warps: dict[int, int]) -> dict[str, list[tuple[float, float]]]:
    """Return the gains of each of STEPS in the columns, measured and predicted, by what is varied and held."""
    return {
        f"{what} | {held}": [
            (one, other)
            for language, width in columns()
            for one, other in [
                tuple(
                    gain(source.variant, *((language, width, s, warps[width]) for s in (before, after)))
                    for source in (found, predicted)
                )
            ]
        ]
        for what, before, after, held in STEPS
    }


def steps_table(found: Found, predicted: Found, warps: dict[int, int]) -> str:
    """Return the gain of each switch."""
    rows = ((name, *(beside(*pair) for pair in pairs)) for name, pairs in steps(found, predicted, warps).items())
    return table(["varied", "held", *HEAD], rows, 2)


def waits_table(found: Found, warps: dict[int, int]) -> str:
    """Return of every setting the stalls for loads and at barriers, of all stalls, and how full the path is."""
    rows = []
    for s in SETTINGS:
        results = [found.variant(language, width, s, warps[width]) for language, width in columns()]
        parts = [(100 * share(r, "long_scoreboard"), 100 * share(r, "barrier")) for r in results]
        cells = [
            f"{a:.0f} · {b:.0f} · {r['l1_wavefronts_percent']:.0f}" for (a, b), r in zip(parts, results, strict=True)
        ]
        rows.append((*said(s), *cells))
    return table(["buffers", "loads", "barriers", *HEAD], rows, 3)


def unrolling_table(found: Found) -> str:
    """Return the instructions of the main loop for each multiply-add, and the pairs of tiles of an iteration."""
    rows = []
    for language, width in columns():
        loops = [found.variant(language, width, s, None)["loop"] for s in (EARLY, TWO_BUFFERS, ONE_BARRIER)]
        products = [loop["kinds"]["multiply-add"] for loop in loops]
        each = zip(loops, products, strict=True)
        cells = [f"{loop['instructions'] / n:.2f} ({n // width})" for loop, n in each]
        rows.append((LANGUAGES[language], str(width), *cells))
    return table(["", "T", "1 buffer, 2 barriers", "2 buffers, 2 barriers", "2 buffers, 1 barrier"], rows)


def unused_table(found: Found) -> str:
    """Return the speed without filler over that with it, and so the bytes from the second-level cache."""
    rows = []
    for s in SETTINGS:
        pairs = [[found.variant(language, width, s, w) for w in (None, 64)] for language, width in columns()]
        cells = [f"{speed(a) / speed(b):.2f} ({a['l2_bytes'] / b['l2_bytes']:.2f})" for a, b in pairs]
        rows.append((*said(s), *cells))
    return table(["buffers", "loads", "barriers", *HEAD], rows, 3)


def code_table(found: Found) -> str:
    """Return the instructions of the main loop by kind, of tiles of LISTED."""
    settings = (EARLY, TWO_BUFFERS, ONE_BARRIER)
    made = [found.variant(language, LISTED, s, None)["loop"] for language in LANGUAGES for s in settings]
    head = [
        f"{short}, {s[0]} buffer{'s' * (s[0] > 1)}, {s[2]} barrier{'s' * (s[2] > 1)}"
        for short in LANGUAGES.values()
        for s in settings
    ]
    rows = [(kind, *(str(loop["kinds"].get(kind, 0)) for loop in made)) for kind in KINDS]
    rows.append(("all", *(str(loop["instructions"]) for loop in made)))
    return table([f"instructions in the loop, T = {LISTED}", *head], rows)


def places_table(found: Found) -> str:
    """Return where the compiled loads stand, and the speed with one block on a multiprocessor."""
    rows = []
    for language, short in LANGUAGES.items():
        first = speed(found.variant(language, LISTED, BEHIND, FEW[LISTED]))
        for s in SETTINGS:
            loop = found.variant(language, LISTED, s, None)["loop"]
            result = found.variant(language, LISTED, s, FEW[LISTED])
            base = found.variant(language, LISTED, BEHIND if s[0] == 1 else TWO_BEHIND, FEW[LISTED])
            stalls = f"{100 * share(result, 'long_scoreboard'):.0f} %"
            over = (f"{speed(result) / each:.2f}" for each in (speed(base), first))
            rows.append((short, *said(s), stand(loop["code"]), f"{speed(result):,.0f}", *over, stalls))
    head = ["", "buffers", "loads in the source", "barriers", "of 32 multiply-adds, those before the loads"]
    over_what = ("over behind, as many buffers", "over behind, 1 buffer")
    return table([*head, "GFLOP/s", *over_what, "long scoreboard"], rows, 5)


def stand(code: Sequence[str]) -> str:
    """Return how many multiply-adds of a loop are before the loads of the next tiles, and whether a barrier is.

    Where all are at one place, it is named once.
    """
    products, barriers, places = 0, 0, []
    for instruction in code:
        name = re.sub(r"^@\S+ ", "", instruction)
        products += name.startswith("FFMA")
        barriers += name.startswith("BAR")
        if name.startswith("LDG"):
            places.append((products, barriers))
    numbers = [str(products) for products, _ in places]
    text = " and ".join(numbers if len(set(numbers)) > 1 else numbers[:1])
    return f"{text}, behind the barrier" if any(barriers for _, barriers in places) else text


def slots(found: Found, predicted: Found) -> list[dict[str, Any]]:
    """Return for each number of resident warps what was free before, and what early loads gained."""
    rows = []
    for language, width, warps in ((language, w, n) for language in LANGUAGES for w in WIDTHS for n in SWEEP[w]):
        settings = [(language, width, setting, warps) for setting in (BEHIND, EARLY)]
        before = found.variant(*settings[0])
        issue = before["issue_active_percent"]
        path = before["l1_wavefronts_percent"]
        rows.append(
            {
                **{"language": LANGUAGES[language], "width": width, "warps": warps},
                **{"empty": 100 - issue, "room": 100 - path, "most": 100 / max(issue, path)},
                "reserved": before["shared_bytes"] * before["blocks_per_multiprocessor"] / 1024,
                **{"gain": gain(found.variant, *settings), "predicted": gain(predicted.variant, *settings)},
            }
        )
    return sorted(rows, key=lambda row: row["room"])


def slots_table(rows: Iterable[dict[str, Any]]) -> str:
    """Return them as a table, the busiest path first."""
    head = [
        "",
        "T",
        "resident warps",
        "shared memory, KiB",
        "empty issue slots",
        "free on the path",
        "at most",
        "gain (predicted)",
    ]
    cells = (
        (
            r["language"],
            str(r["width"]),
            str(r["warps"]),
            f"{r['reserved']:.0f}",
            f"{r['empty']:.0f} %",
            f"{r['room']:.0f} %",
            f"{r['most']:.2f}",
            beside(r["gain"], r["predicted"]),
        )
        for r in rows
    )
    return table(head, cells)


def ranks(rows: Sequence[dict[str, Any]], key: str) -> float:
    """Return the rank correlation (Spearman) of the gains with an entry of the rows."""
    one, other = (np.argsort(np.argsort([row[k] for row in rows])) for k in (key, "gain"))
    return float(np.corrcoef(one, other)[0, 1])


def share(result: Result, stall: str) -> float:
    """Return a stall's part of all stalls of a launch."""
    return float(result[f"stalled_{stall}_percent"] / sum(v for k, v in result.items() if k.startswith("stalled_")))


def large_table(found: Found, predicted: Found) -> str:
    """Return the kernels with large tiles: speeds in three sizes, and what is told of the largest."""
    n = LARGE_SIZES[-1][0]
    rows = []
    for of in LARGE:
        for loads in MOVED:
            result = found.large(of, loads, n)
            over, guess = (gain(x.large, (of, "behind", n), (of, loads, n)) for x in (found, predicted))
            before = min(result["loop"]["multiply_adds_before_loads"])
            used = (result["issue_active_percent"], result["l1_wavefronts_percent"])
            stalls = (share(result, stall) for stall in ("long_scoreboard", "short_scoreboard", "barrier"))
            rows.append(
                (
                    *(f"`{of}`", PLACES[loads], f"{before:,}"),
                    *(f"{speed(found.large(of, loads, size[0])):,.0f}" for size in LARGE_SIZES),
                    beside(over, guess),
                    f"{100 / max(used):.2f}" if loads == "behind" else "",
                    *(f"{each:.0f} %" for each in used),
                    *(f"{100 * each:.0f} %" for each in stalls),
                    str(result["registers"]),
                )
            )
    cublas = [speed(found.one(rung="cublas", M=size[0])) for size in LARGE_SIZES]
    rows.append(("cuBLAS", "", "", *(f"{each:,.0f}" for each in cublas), *[""] * 8))
    head = [
        "",
        "loads",
        "of 2,048 multiply-adds, those before the first load",
        *(f"n = {size[0]}" for size in LARGE_SIZES),
    ]
    counted = ("at most", "issue slots used", "path used", "long scoreboard", "short scoreboard", "barrier")
    return table([*head, "over behind (predicted)", *counted, "registers"], rows, 2)


PLACES = {
    "early": "early, after 2 of 16 steps: as the course has it",
    "half": "after 8 steps",
    "14 steps": "after 14 steps",
    "late": "late, before the barrier",
    "behind": "behind the barrier",
}


def ladder_table(found: Found, predicted: Found) -> str:
    """Return tiled, prefetched and pipelined: speed, counts, and what their warps wait for."""
    n = LADDER_SIZES[-1][0]
    rows = []
    for rung, name in LADDER:
        result = found.ladder(rung, LISTED, n)
        base = base_of(rung)
        over, guess = (gain(x.ladder, (base, LISTED, n), (rung, LISTED, n)) for x in (found, predicted))
        stalls = (f"{100 * share(result, stall):.0f} %" for stall in ("long_scoreboard", "mio_throttle", "barrier"))
        cells = (f"{speed(result):,.0f}", beside(over, guess), f"{result['instructions'] / 1e9:.2f}")
        more = result["l1_wavefronts"] / found.ladder(base, LISTED, n)["l1_wavefronts"]
        path = (f"{result['l1_wavefronts'] / 1e9:.2f}", f"{more:.2f}", f"{result['l1_wavefronts_percent']:.0f} %")
        rows.append((name, *cells, *path, f"{result['issue_active_percent']:.0f} %", *stalls))
    head = [
        "",
        "GFLOP/s",
        "over tiled (predicted)",
        "instructions of warps, 10⁹",
        "wavefronts, 10⁹",
        "wavefronts over tiled",
        "path used",
        "issue slots used",
    ]
    return table([*head, "long scoreboard", "MIO throttle", "barrier"], rows)


def answers_table(found: Found) -> str:
    """Return prefetched over tiled for each kind of index and size."""
    rows = []
    for suffix, name in (("", "numba, signed"), ("_unsigned", "numba, unsigned"), ("_c", "CUDA C")):
        pairs = [[found.ladder(f"{r}{suffix}", LISTED, s[0]) for r in ("tiled", "prefetched")] for s in LADDER_SIZES]
        used = [
            (f"{pair[0]['l1_wavefronts_percent']:.0f} %", f"{100 * max(map(spread, pair)):.1f} %") for pair in pairs
        ]
        rows.append(
            (
                name,
                *(
                    cell
                    for pair, path in zip(pairs, used, strict=True)
                    for cell in (f"{speed(pair[1]) / speed(pair[0]):.2f}", *path)
                ),
            )
        )
    head = [cell for s in LADDER_SIZES for cell in (f"gain, n = {s[0]}", "path used by tiled", "spread")]
    return table([f"`prefetched` over `tiled`, T = {LISTED}", *head], rows)


def beside_table(found: Found) -> str:
    """Return kernels of the ladder beside the settings of the switches that are nearest to them, tiles of LISTED."""
    rows = []
    for suffix, language in (("_unsigned", "numba"), ("_c", "CUDA C")):
        for name, setting in (("tiled", BEHIND), ("prefetched", ONE_BARRIER)):
            rung = found.ladder(f"{name}{suffix}", LISTED, LADDER_SIZES[-1][0])
            loop = found.variant(language, LISTED, setting, None)["loop"]
            variant = found.variant(language, LISTED, setting, MANY[LISTED])
            buffers, loads, barriers = said(setting)
            called = f"{buffers} buffer{'s' * (buffers > '1')}, {loads}, {barriers} barrier{'s' * (barriers > '1')}"
            for what, result, code in ((f"`{name}`", rung, rung["loop"]), (called, variant, loop)):
                place = "each pair before its own products" if what == "`tiled`" else stand(code["code"])
                stalls = f"{100 * share(result, 'long_scoreboard'):.0f} %"
                path = f"{result['l1_wavefronts_percent']:.0f} %"
                rows.append(
                    (LANGUAGES[language], what, place, f"{speed(result):,.0f}", str(code["instructions"]), path, stalls)
                )
    head = ["", "kernel", "of 32 multiply-adds, those before the loads", "GFLOP/s", "instructions in the loop"]
    return table([*head, "path used", "long scoreboard"], rows, 3)


def copies_table(found: Found) -> str:
    """Return what asynchronous copies cost beside loads, all else equal."""
    rows = []
    for language, width in columns():
        before, after = (found.variant(language, width, s, None) for s in (ONE_BARRIER, COPIED))
        more = (after[key] / before[key] for key in ("instructions", "l1_wavefronts"))
        path = f"{before['l1_wavefronts_percent']:.0f} → {after['l1_wavefronts_percent']:.0f} %"
        queue = f"{100 * share(before, 'mio_throttle'):.0f} → {100 * share(after, 'mio_throttle'):.0f} %"
        rows.append(
            (
                LANGUAGES[language],
                str(width),
                f"{speed(after) / speed(before):.2f}",
                *(f"{m:.2f}" for m in more),
                path,
                queue,
            )
        )
    return table(
        [
            "",
            "T",
            *(f"{what}, copies / loads" for what in ("speed", "instructions", "wavefronts")),
            "path used",
            "MIO throttle",
        ],
        rows,
    )


def foretold(found: Found, predicted: Found) -> dict[str, list[tuple[float, float]]]:
    """Return every gain that the page shows with a prediction, each once: measured and predicted, by what it is of."""
    n, m = LADDER_SIZES[-1][0], LARGE_SIZES[-1][0]
    pairs: dict[str, list[tuple[float, float]]] = {}
    for name, warps in (("sections 1 and 2, 64 warps", MANY), ("sections 1 and 2, 24 or 32 warps", FEW)):
        pairs[name] = [pair for each in steps(found, predicted, warps).values() for pair in each]
    cases = [((of, "behind", m), (of, loads, m)) for of in LARGE for loads in MOVED if loads != "behind"]
    pairs["section 3"] = [(gain(found.large, *case), gain(predicted.large, *case)) for case in cases]
    ahead = [rung for rung, _ in LADDER if not rung.startswith("tiled")]
    rungs = [((base_of(rung), LISTED, n), (rung, LISTED, n)) for rung in ahead]
    pairs["section 4"] = [(gain(found.ladder, *case), gain(predicted.ladder, *case)) for case in rungs]
    return {name: [pair for pair in each if not np.isnan(pair[1])] for name, each in pairs.items()}


def base_of(rung: str) -> str:
    """Return the rung of the same language and indices that does not prefetch."""
    return rung.replace("prefetched", "tiled").replace("pipelined", "tiled")


def predictions_table(found: Found, predicted: Found) -> str:
    """Return how near the predictions are in each part of the page."""
    rows = []
    for name, pairs in foretold(found, predicted).items():
        apart = [abs(guess / one - 1) for one, guess in pairs]
        worst = pairs[int(np.argmax(apart))]
        near = str(sum(each <= 0.03 for each in apart))
        middle = f"{100 * float(np.median(apart)):.1f} %"
        rows.append((name, str(len(pairs)), near, middle, beside(*worst)))
    return table(["gains of", "predicted", "within 3 %", "median error", "largest error: measured (predicted)"], rows)


def spreads_table(found: Found) -> str:
    """Return for each size how far the repeats of a kernel are apart."""
    rows = []
    for n in sorted({r["M"] for r in found.results}, reverse=True):
        apart = [spread(r) for r in found.results if r["M"] == n]
        rows.append((f"n = {n}", str(len(apart)), f"{100 * median(apart):.1f} %", f"{100 * max(apart):.1f} %"))
    return table(["", "launches", "median spread", "largest spread"], rows)


def per_cent(ratio: float) -> str:
    """Return a gain as a text, such as 9.5 %."""
    return f"{100 * (ratio - 1):.1f} %".replace("-", "−")


def between(values: Iterable[float]) -> str:
    """Return the smallest and the largest of some gains in per cent: −1 to 6 %."""
    gains = [round(100 * (value - 1)) for value in values]
    ends = sorted({min(gains), max(gains)})
    return f"{' to '.join(map(str, ends))} %".replace("-", "−")


def thousands(speeds: Iterable[float]) -> str:
    """Return the smallest and the largest of some speeds: 9,368 to 9,683."""
    each = sorted(speeds)
    return " to ".join(f"{end:,.0f}" for end in sorted({each[0], each[-1]}))


def percents(results: Iterable[Result]) -> str:
    """Return the smallest and the largest part of the stalls for loads: 0 to 1 %."""
    parts = [round(100 * share(r, "long_scoreboard")) for r in results]
    return f"{' to '.join(map(str, sorted({min(parts), max(parts)})))} %"


def points(found: Found, warps: dict[int, int]) -> str:
    """Return by how many points the second buffer changes the stalls for loads, loads early: −2 to 1."""
    changes = [
        round(100 * share(found.variant(*case, TWO_BUFFERS, warps[case[1]]), "long_scoreboard"))
        - round(100 * share(found.variant(*case, EARLY, warps[case[1]]), "long_scoreboard"))
        for case in columns()
    ]
    return f"{min(changes)} to {max(changes)}".replace("-", "−")


def figures(found: Found, predicted: Found) -> dict[str, str]:
    """Return what the page's text says, by the names of its fields."""
    many, few = (steps(found, predicted, warps) for warps in (MANY, FEW))
    key = [f"{what} | {held}" for what, _, _, held in STEPS]
    measured = {place: [one for one, _ in pairs] for place, pairs in many.items()}
    fewer = {place: [one for one, _ in pairs] for place, pairs in few.items()}
    rows, n = slots(found, predicted), LARGE_SIZES[-1][0]
    at = {(row["language"], row["width"], row["warps"]): row for row in rows}
    large = {(of, loads): found.large(of, loads, n) for of in LARGE for loads in MOVED}
    wide = [r for r in found.results if r.get("of") in ("tiled", "prefetched") and r["M"] == n]
    shares = {
        of: [r["l1_wavefronts_percent"] for r in wide if r["of"] == of and r["params"]["tile_width"] == LISTED]
        for of in ("tiled", "prefetched")
    }
    loop = {
        (language, s): found.variant(language, LISTED, s, None)["loop"]
        for language in LANGUAGES
        for s in (EARLY, TWO_BUFFERS, ONE_BARRIER)
    }
    more = [
        loop[language, TWO_BUFFERS]["instructions"] - loop[language, EARLY]["instructions"] for language in LANGUAGES
    ]
    cublas, cublas_small = (speed(found.one(rung="cublas", M=size)) for size in (n, 1024))
    over = {(of, loads): speed(large[of, loads]) / speed(large[of, "behind"]) for of, loads in large}
    highest = max(r["l1_wavefronts_percent"] for r in found.results if "l1_wavefronts_percent" in r)
    copies = [
        found.variant(language, width, COPIED, None)["l1_wavefronts"]
        / found.variant(language, width, ONE_BARRIER, None)["l1_wavefronts"]
        for language, width in columns()
    ]
    free = [r for r in found.results if r.get("of") == "prefetch_variants" and r["warps"] is None]
    registers = [r["registers"] for r in free]
    unused = {
        widths: [
            speed(found.variant(language, width, s, None)) / speed(found.variant(language, width, s, 64))
            for language in LANGUAGES
            for width in widths
            for s in SETTINGS
        ]
        for widths in ((8,), (16, 32))
    }
    unused_bytes = [
        found.variant(language, 8, s, None)["l2_bytes"] / found.variant(language, 8, s, 64)["l2_bytes"]
        for language in LANGUAGES
        for s in SETTINGS
    ]
    tiled_of = (("pipelined", "tiled"), ("pipelined", "tiled_unsigned"), ("pipelined_c", "tiled_c"))
    over_tiled = {(a, b): gain(found.ladder, (b, LISTED, n), (a, LISTED, n)) for a, b in tiled_of}
    more_wavefronts = [
        found.ladder(rung, LISTED, n)["l1_wavefronts"] / found.ladder(base_of(rung), LISTED, n)["l1_wavefronts"]
        for rung in ("pipelined", "pipelined_c")
    ]
    ladder = {(rung, s[0]): found.ladder(rung, LISTED, s[0]) for rung, _ in LADDER for s in LADDER_SIZES}
    small = [
        speed(ladder[f"prefetched{suffix}", 2048]) / speed(ladder[f"tiled{suffix}", 2048])
        for suffix in ("", "_unsigned", "_c")
    ]
    gains_few = sorted(row["gain"] for row in rows if row["warps"] <= 32)
    small_large = {of: gain(found.large, (of, "behind", 1024), (of, "early", 1024)) for of in LARGE}
    held = [found.variant(*case, BEHIND, MANY[case[1]]) for case in columns()]
    taken = {r["blocks_per_multiprocessor"] * (r["shared_bytes"] + 1024) for r in held}
    numba_8 = [
        f"{gain(found.variant, *(('numba', 8, s, None) for s in pair)):.2f}"
        for pair in ((BEHIND, TWO_BEHIND), (TWO_BEHIND, TWO_BUFFERS))
    ]
    near = [found.variant("CUDA C", LISTED, s, FEW[LISTED]) for s in (LATE, EARLY, TWO_BUFFERS, ONE_BARRIER)]
    two_late, one_late = (found.variant("CUDA C", LISTED, s, FEW[LISTED]) for s in (TWO_LATE, (2, "late", 1)))
    *path_lost, path_gained = sorted(
        found.variant(*case, COPIED, None)["l1_wavefronts_percent"]
        - found.variant(*case, ONE_BARRIER, None)["l1_wavefronts_percent"]
        for case in columns()
    )
    both = {language: [(language, LISTED, s, MANY[LISTED]) for s in (BEHIND, ONE_BARRIER)] for language in LANGUAGES}
    measured_both = {language: gain(found.variant, *pair) for language, pair in both.items()}
    listed = {
        language: " and ".join(
            map(str, found.variant(language, LISTED, EARLY, None)["loop"]["multiply_adds_before_loads"])
        )
        for language in LANGUAGES
    }
    return {
        "many_behind": between([max(measured[key[0]])]),
        "few_behind": between(gains_few[:-1]),
        "few_most": between(gains_few[-1:]),
        "best_gain_small": between([small_large["best"]]),
        "large_gain_small": between([small_large["large_tiles"]]),
        "held_bytes": "{:,}, {:,} and {:,}".format(
            *(found.variant("numba", width, BEHIND, MANY[width])["shared_bytes"] for width in WIDTHS)
        ),
        "all_shared": " to ".join(f"{size / 1024:.0f}" for size in sorted(taken)) + " KiB",
        "l1": f"{Multiprocessor.l1_bytes / 1024:.0f} KiB",
        "numba_8_buffer": f"{measured[key[7]][0]:.2f}",
        "numba_8_early": f"{measured[key[1]][0]:.2f}",
        "numba_8_unreserved": " and ".join(numba_8),
        "near": thousands(speed(r) for r in near),
        "near_stalls": percents(near),
        "two_late_place": stand(found.variant("CUDA C", LISTED, TWO_LATE, None)["loop"]["code"]),
        "two_late": thousands([speed(two_late)]),
        "two_late_stalls": percents([two_late]),
        "one_late": thousands([speed(one_late)]),
        "one_late_stalls": percents([one_late]),
        "unused_most": f"{max(unused[8,]):.2f}",
        "copies_path": " to ".join(f"{-each:.0f}" for each in (path_lost[-1], path_lost[0])),
        "copies_path_32": f"{path_gained:.0f}",
        "variants_gain": f"{measured_both['numba']:.2f}",
        "c_variants_gain": f"{measured_both['CUDA C']:.2f}",
        "c_gain": f"{speed(ladder['prefetched_c', n]) / speed(ladder['tiled_c', n]):.2f}",
        "variants_unreserved": " and ".join(
            f"{speed(found.variant('numba', LISTED, s, None)):,.0f}" for s in (BEHIND, ONE_BARRIER)
        ),
        "few_c_32": per_cent(fewer[key[0]][-1]),
        "few_numba_32": per_cent(fewer[key[0]][len(WIDTHS) - 1]),
        "large": between(over[of, "early"] for of in LARGE),
        "best_behind_of_cublas": f"{100 * speed(large['best', 'behind']) / cublas:.0f} %",
        "best_of_cublas": f"{100 * speed(large['best', 'early']) / cublas:.0f} %",
        "buffer": between(measured[key[3]]),
        "buffer_few": between(fewer[key[3]]),
        "barrier_few": between(fewer[key[4]]),
        "barrier": between(measured[key[4]]),
        "copied": between(measured[key[6]]),
        "copied_few_numba": between(fewer[key[6]][: len(WIDTHS)]),
        "copied_few_c": between(fewer[key[6]][len(WIDTHS) :]),
        "registers": f"{min(registers)} to {max(registers)}",
        "large_registers": " and ".join(
            f"{large[of, 'behind']['registers']} → {large[of, 'early']['registers']} (`{of}`)" for of in LARGE
        ),
        "unused_16": between(unused[16, 32]),
        "unused_8": between(unused[8,]),
        "unused_bytes_8": between(unused_bytes),
        "late_c": between(measured[key[2]]),
        "more": " and ".join(map(str, more)),
        "in_all": " and ".join(str(loop[language, EARLY]["instructions"]) for language in LANGUAGES),
        "highest": f"{highest:.0f} %",
        "empty_c_8": f"{at['C', 8, 64]['empty']:.0f} %",
        "gain_c_8": per_cent(at["C", 8, 64]["gain"]),
        "ranks_empty": f"{ranks(rows, 'empty'):.2f}",
        "ranks_room": f"{ranks(rows, 'room'):.2f}",
        "rows": str(len(rows)),
        "tiled_used": f"{min(shares['tiled']):.0f} to {max(shares['tiled']):.0f} %",
        "prefetched_used": f"{min(shares['prefetched']):.0f} to {max(shares['prefetched']):.0f} %",
        "tiled_most": f"{highest / max(shares['tiled']):.2f} to {highest / min(shares['tiled']):.2f}",
        "copies": between(copies),
        "stands_numba": listed["numba"],
        "stands_c": listed["CUDA C"],
        "repeats": str(max(len(r["milliseconds"]) for r in found.results)),
        "few_numba": ", ".join(map(str, FEW.values())),
        "late_barrier_c": between(measured[key[8]][len(WIDTHS) :]),
        "late_barrier_few_c": between(fewer[key[8]][len(WIDTHS) :]),
        "late_barrier_numba": between(measured[key[8]][: len(WIDTHS)] + fewer[key[8]][: len(WIDTHS)]),
        "buffer_behind": f"{min(measured[key[7]]):.2f} to {max(measured[key[7]]):.2f}",
        "buffer_behind_few": f"{min(fewer[key[7]]):.2f} to {max(fewer[key[7]]):.2f}",
        "middle_behind": between([max(row["gain"] for row in rows if row["warps"] == 48)]),
        "buffer_stalls": points(found, MANY),
        "buffer_stalls_few": points(found, FEW),
        "ranks_room_full": f"{ranks([r for r in rows if r['warps'] >= 48], 'room'):.2f}",
        "ranks_room_low": f"{ranks([r for r in rows if r['warps'] < 32], 'room'):.2f}",
        "gain_c_32": per_cent(at["C", 32, 64]["gain"]),
        "empty_c_32": f"{at['C', 32, 64]['empty']:.0f} %",
        "most_c_8": f"{at['C', 8, 64]['most']:.2f}",
        "most_c_32": f"{at['C', 32, 64]['most']:.2f}",
        "reserved": f"{min(r['reserved'] for r in rows):.0f} to {max(r['reserved'] for r in rows):.0f} KiB",
        "pipelined_signed": f"{over_tiled['pipelined', 'tiled']:.2f}",
        "pipelined_unsigned": f"{over_tiled['pipelined', 'tiled_unsigned']:.2f}",
        "pipelined_c": f"{over_tiled['pipelined_c', 'tiled_c']:.2f}",
        "pipelined_wavefronts": f"{between([more_wavefronts[0]])}",
        "pipelined_wavefronts_c": f"{between([more_wavefronts[1]])}",
        "half_stalls": f"{100 * share(large['large_tiles', 'half'], 'long_scoreboard'):.0f} %",
        "later_stalls": f"{100 * share(large['large_tiles', '14 steps'], 'long_scoreboard'):.0f} %",
        "half_over": f"{over['large_tiles', 'half']:.2f}",
        "later_over": f"{over['large_tiles', '14 steps']:.2f}",
        "half_short": f"{100 * share(large['large_tiles', 'half'], 'short_scoreboard'):.0f} %",
        "early_short": f"{100 * share(large['large_tiles', 'early'], 'short_scoreboard'):.0f} %",
        "best_small": f"{100 * speed(found.large('best', 'early', 1024)) / cublas_small:.0f} %",
        "c_32_one": f"{measured[key[0]][-1]:.2f}",
        "c_32_two": f"{measured[key[1]][-1]:.2f}",
        "c_32_two_over": f"{measured[key[1]][-1] * measured[key[7]][-1]:.2f}",
        "spread": f"{100 * max(spread(r) for r in found.results if r['M'] == n):.1f} %",
        "small_gains": " to ".join(f"{each:.2f}" for each in (min(small), max(small))),
        "signed_used": f"{ladder['tiled', 2048]['l1_wavefronts_percent']:.0f} %",
        "signed_gain": f"{speed(ladder['prefetched', 2048]) / speed(ladder['tiled', 2048]):.2f}",
        "unsigned_used": f"{ladder['tiled_unsigned', n]['l1_wavefronts_percent']:.0f} %",
        "unsigned_gain": f"{speed(ladder['prefetched_unsigned', n]) / speed(ladder['tiled_unsigned', n]):.2f}",
        **{
            f"{what}_{short.lower()}": stand(found.variant(language, LISTED, s, None)["loop"]["code"])
            for language, short in LANGUAGES.items()
            for what, s in (("loads", ONE_BARRIER), ("copies", COPIED))
        },
        "late_few_places": stand(found.variant("CUDA C", LISTED, (2, "late", 1), None)["loop"]["code"]),
    }


class Pairs(Found):
    """The results of the pairs, by what they measured. A kernel's loop is with its first result alone."""

    def placed(self, language: str, place: tuple[int, int], warps: int) -> Result:
        """Return that of loads held at a place."""
        params = {"tile_width": LISTED, "a_after": place[0], "b_after": place[1]}
        return self.one(of="prefetch_places", language=language, params=params, warps=warps)

    def switched(self, language: str, setting: Setting, warps: int | None, name: str = "prefetch_variants") -> Result:
        """Return that of a setting of the switches, or of its kernel that is called `name`."""
        params = dict(zip(("tile_width", "buffers", "loads", "barriers"), (LISTED, *setting), strict=True))
        return self.one(rung=f"{name}{'_c' * (language == 'CUDA C')}", params=params, warps=warps)

    def loop(self, result: Result) -> Result:
        """Return the loop of the kernel of a result."""
        loops = [r["loop"] for r in self.results if "loop" in r and all(r[k] == result[k] for k in ("rung", "params"))]
        return loops[0]

    def after(self, result: Result) -> str:
        """Return how many multiply-adds of its loop are before the loads."""
        return stand(self.loop(result)["code"])


def alone_table(pairs: Pairs) -> str:
    """Return the speeds of loads held at each place, and their gains over loads behind the barrier."""
    rows = []
    for place in (*HELD_PLACES, None):
        row = [f"{place[0]} and {place[1]}" if place else "the compiler's choice"]
        for language in LANGUAGES:
            few, many = (
                pairs.placed(language, place, warps) if place else pairs.switched(language, EARLY, warps)
                for warps in (FEW_WARPS, 64)
            )
            row.append(pairs.after(few))
            for result in (few, many):
                over = speed(result) / speed(pairs.switched(language, BEHIND, result["warps"]))
                row.append(f"{speed(result):,.0f} ({over:.2f})")
                row.append(f"{100 * share(result, 'long_scoreboard'):.0f} %")
        rows.append(row)
    head = ["in the source after"]
    for short in LANGUAGES.values():
        head.append(f"{short}: after")
        for warps in (FEW_WARPS, 64):
            head += [f"{short}, {warps} warps", "long scoreboard"]
    return table(head, rows)


def first_pair_table(pairs: Pairs, of: str) -> str:
    """Return the speeds of a rung by the place of its first pair and the type of its indices."""
    kernels = [
        (f"{first} the loop", f"{index[-2:]} bits", f"{of}_{first}_{index}")
        for first in ("inside", "before")
        for index in ("uint64", "uint32")
    ]
    setting = ONE_BARRIER if of == "prefetched" else BEHIND
    rows = []
    for first, index, name in [*kernels, ("section 1's kernel: before the loop", "32 bits", "prefetch_variants")]:
        chosen = (
            pairs.switched("numba", setting, None) if name == "prefetch_variants" else pairs.one(rung=name, warps=None)
        )
        results = [chosen, *(pairs.one(rung=f"{name}_held") for _ in range(of == "prefetched"))]
        cells = []
        for result in results:
            made = str(pairs.loop(result)["instructions"])
            stalls = f"{100 * share(result, 'long_scoreboard'):.0f} %"
            cells += [f"{speed(result):,.0f}", pairs.after(result), made, stalls]
        rows.append((first, index, *cells))
    each = ("after", "instructions in the loop", "long scoreboard")
    head = ["first pair", "indices", "GFLOP/s, place chosen by the compiler", *each]
    return table([*head, *(("GFLOP/s, loads held", *each) if of == "prefetched" else ())], rows, 2)


def restrict_table(pairs: Pairs) -> str:
    """Return kernels of CUDA C without and with `__restrict__`."""
    cases = [(f"`tiled`, T = {width}", *promised(pairs, width)) for width in WIDTHS]
    for warps in (FEW_WARPS, 64):
        names = ("prefetch_variants", "prefetch_variants_c_restrict")
        found = [r for r in pairs.results if r["rung"] == names[1] and r["warps"] == warps]
        cases.append((f"loads behind, {warps} warps", pairs.switched("CUDA C", BEHIND, warps), found[0]))
    rows = [
        (
            name,
            *(f"{speed(r):,.0f}" for r in (without, promise)),
            f"{speed(promise) / speed(without):.2f}",
            *(places_of(pairs.loop(r)) for r in (without, promise)),
        )
        for name, without, promise in cases
    ]
    return table(["", "without", "with", "gain", "without: after", "with: after"], rows)


def promised(pairs: Pairs, width: int) -> tuple[Result, Result]:
    """Return `tiled` in CUDA C without and with `__restrict__`."""
    without, promise = (pairs.one(rung=f"tiled_c{end}", params={"tile_width": width}) for end in ("", "_restrict"))
    return without, promise


def places_of(loop: Result) -> str:
    """Return after how many multiply-adds each load is."""
    if "code" in loop and "barrier" in stand(loop["code"]):
        return stand(loop["code"])
    return ", ".join(map(str, loop["multiply_adds_before_loads"]))


def pairs_figures(pairs: Pairs) -> dict[str, str]:
    """Return what the text of section 5 says, by the names of its fields."""
    gained = {
        (language, place): speed(pairs.placed(language, place, FEW_WARPS))
        / speed(pairs.switched(language, BEHIND, FEW_WARPS))
        for language in LANGUAGES
        for place in HELD_PLACES
    }
    sizes = {
        language: [
            pairs.loop(pairs.placed(language, place, FEW_WARPS))["instructions"]
            for place in HELD_PLACES
            if place != (LISTED, LISTED)
        ]
        for language in LANGUAGES
    }
    last = pairs.loop(pairs.placed("CUDA C", (LISTED, LISTED), FEW_WARPS))["instructions"]
    behind = {
        warps: " and ".join(f"{speed(pairs.switched(language, BEHIND, warps)):,.0f}" for language in LANGUAGES)
        for warps in (FEW_WARPS, 64)
    }

    def made(of: str, first: str, bits: int, held: bool = False) -> float:
        return speed(pairs.one(rung=f"{of}_{first}_uint{bits}{'_held' * held}"))

    held = {(first, bits): made("prefetched", first, bits, True) for first in ("inside", "before") for bits in (64, 32)}
    tiled = {(first, bits): made("tiled", first, bits) for first in ("inside", "before") for bits in (64, 32)}
    start = tiled["inside", 64]
    apart = [abs(gained["numba", place] - gained["CUDA C", place]) for place in HELD_PLACES]
    timed = [r for r in pairs.results if r["rung"] != "cublas"]
    return {
        "held_numba_early": between(gained["numba", place] for place in ((0, 4), (0, 8))),
        "held_c_late": between(gained["CUDA C", place] for place in ((16, 28), (16, 32))),
        "places_numba": str(*set(sizes["numba"])),
        "places_c": f"{' or '.join(map(str, sorted(set(sizes['CUDA C']))))} ({last} with both loads last)",
        "places_behind": behind[FEW_WARPS],
        "places_behind_64": behind[64],
        "places_alone": alone_table(pairs),
        "first_pair": first_pair_table(pairs, "prefetched"),
        "first_pair_tiled": first_pair_table(pairs, "tiled"),
        "restrict": restrict_table(pairs),
        "restrict_tiled": between(speed(b) / speed(a) for a, b in (promised(pairs, width) for width in WIDTHS)),
        "held_index": between(held[first, 32] / held[first, 64] for first in ("inside", "before")),
        "held_first": between(held["before", bits] / held["inside", bits] for bits in (64, 32)),
        "pair_prefetched": f"{made('prefetched', 'inside', 64):,.0f}",
        "pair_switches": f"{speed(pairs.switched('numba', ONE_BARRIER, None)):,.0f}",
        "pair_switches_held": f"{speed(pairs.one(rung='prefetch_variants_held')):,.0f}",
        "pair_best": thousands(held["before", bits] for bits in (64, 32)) + " GFLOP/s",
        "tiled_gain": between(tiled[case] / start for case in (("before", 64), ("inside", 32))),
        "tiled_both": between([tiled["before", 32] / start]),
        "places_apart": f"{max(apart):.2f}",
        "pairs_date": f"{pairs.date:.10}",
        "pairs_rounds": str(max(len(r["milliseconds"]) for r in timed)),
        "pairs_spread": f"{100 * max(map(spread, timed)):.1f} %",
    }


def page(recording: Recording, predictions: Recording, beside: Recording) -> str:
    """Return the text of docs/prefetching.md; `beside` is the recording of the pairs."""
    found, predicted = Found(recording), Found(predictions)
    where = "an {gpu} (driver {driver}, numba-cuda {numba-cuda}, {date:.10})".format(**recording.provenance)
    return TEXT.read_text(encoding="utf-8").format(
        **figures(found, predicted),
        **pairs_figures(Pairs(beside)),
        where=where,
        command=recording.command,
        speeds_many=speeds_table(found, MANY),
        speeds_few=speeds_table(found, FEW),
        steps_many=steps_table(found, predicted, MANY),
        steps_few=steps_table(found, predicted, FEW),
        code=code_table(found),
        places=places_table(found),
        slots=slots_table(slots(found, predicted)),
        large_tiles=large_table(found, predicted),
        ladder=ladder_table(found, predicted),
        answers=answers_table(found),
        copies_table=copies_table(found),
        beside=beside_table(found),
        waits_many=waits_table(found, MANY),
        waits_few=waits_table(found, FEW),
        unrolling=unrolling_table(found),
        unused=unused_table(found),
        predictions_table=predictions_table(found, predicted),
        spreads=spreads_table(found),
    )


if __name__ == "__main__":
    text = page(*map(load, ("prefetching", "prefetching_predictions", "prefetching_pairs")))
    PAGE.write_text(text, encoding="utf-8")
