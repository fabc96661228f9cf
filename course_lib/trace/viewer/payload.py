"""The encoding of a trace for the browser: one JSON text, with all long columns compressed together.

The format has a version, and a page that gets a newer one says so. ``viewer/web/trace.js``, which reads the format,
documents its fields.
"""

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import chain
from typing import Any

import numpy as np

from ...simulator.hardware import BANKS, SECTOR_BYTES, WARP_SIZE, WORD_BYTES
from ..columns import TABLES, Table
from ..data_flow import Statement, statements
from ..finding_locations import locate
from ..kernel_structure import accumulators, loops, roles, shown_source
from ..replay import Timeline, tiles
from ..trace import Dim3, Trace
from .words import comparison

VERSION = 4
#: Limit for the characters of a payload. The page unpacks it, and a saved notebook may contain it.
MAX_BYTES = 8_000_000
#: Level of compression; a higher one takes three times as long to save 2 %.
LEVEL = 4
#: Limit for the elements of all arrays together, including each thread's local ones.
MAX_ELEMENTS = 4_000_000

#: Tables that few launches fill; where one is empty, it is not sent.
RARE = ("outside", "exchange", "product")
INTS, FLOATS, DOUBLES, TEXTS = range(4)
_EXACT = 2**53  # JavaScript's numbers are exact up to here


def check_drawable(trace: Trace) -> None:
    """Refuse with a ValueError a launch that is too large to draw, with its size and what to trace instead."""
    if not len(trace.steps):
        raise ValueError(f"{trace.kernel_name} ran no step in this launch, so there is nothing to see.")
    sizes = {a.name: a.size * (trace.n_threads if a.space == "local" else 1) for a in trace.arrays.values()}
    if sum(sizes.values()) > MAX_ELEMENTS:
        largest = max(sizes, key=lambda name: sizes[name])
        shape = " × ".join(map(str, trace.arrays[largest].shape))
        raise ValueError(
            f"The arrays of this launch have {sum(sizes.values()):,} elements ({largest} is {shape}); the stepper "
            f"shows at most {MAX_ELEMENTS:,}. Step through a smaller launch: every block does the same."
        )


def encode(trace: Trace) -> str:
    """Write the trace as JSON; raises ValueError for a launch too large to draw."""
    check_drawable(trace)
    initial = {
        name: np.ascontiguousarray(array.initial).reshape(-1)
        for name, array in trace.arrays.items()
        if array.initial is not None and array.size
    }
    columns, sizes = trace.columns, np.array([values.size for values in initial.values()], np.int64)
    pool = np.append(columns.lists[0], len(columns.pools) + np.arange(len(initial)))
    start, length = np.append(columns.lists[1], np.zeros_like(sizes)), np.append(columns.lists[2], sizes)
    kinds, shifts, (*numbers, texts) = pooled([*columns.pools, *initial.values()])
    head = _head(trace, {name: number for number, name in enumerate(initial, len(columns.lists[0]))})
    lists = (
        ("vector_kind", kinds[pool], "u1"),
        ("vector_start", start + shifts[pool], "u4"),
        ("vector_length", length, "u4"),
    )
    pools = zip(("ints", "floats", "doubles"), numbers, ("i4", "f4", "f8"), strict=True)
    head |= {"texts": texts, **_compressed(chain(_tables(trace), lists, pools))}
    text = json.dumps(head, separators=(",", ":"), allow_nan=False)
    check_size(len(text))
    return text


def check_size(size: int) -> None:
    """Refuse with a ValueError a payload of more characters than a browser can handle."""
    if size > MAX_BYTES:
        raise ValueError(
            f"The trace of this launch takes more than the {MAX_BYTES / 1e6:.0f} MB that the stepper sends to the "
            "browser. Step through fewer blocks, or a shorter K: every block and every tile does the same."
        )


def _head(trace: Trace, initial: Mapping[str, int]) -> dict[str, Any]:
    """Return all but the columns; ``initial``: the list of each array's elements before the launch, if it has one."""
    columns, around, role, tile = trace.columns, loops(trace), roles(trace), tiles(trace)
    blocks = [tuple(at) for at in columns.blocks.tolist()]
    return {
        "version": VERSION,
        "hardware": {"warp": WARP_SIZE, "sector": SECTOR_BYTES, "banks": BANKS, "word": WORD_BYTES},
        "kernel": trace.kernel_name,
        "grid": trace.grid,
        "block": trace.block,
        "source": [[line, text, around.get(line, (0, 0))[0]] for line, text in shown_source(trace)],
        "loops": [[header, parent] for line, (header, parent) in sorted(around.items()) if line == header],
        "names": columns.names,
        "operations": columns.operations,
        "accumulators": accumulators(trace),
        "owner": next((name for name, r in role.items() if r == "C"), None),
        "arrays": [
            {
                "name": array.name,
                "space": array.space,
                "dtype": array.dtype,
                "itemsize": np.dtype(array.dtype).itemsize,
                "shape": array.shape,
                "strides": array.strides,
                "role": role.get(array.name),
                "tile": tile.get(array.name),
                "initial": initial.get(array.name, -1),
            }
            for array in trace.arrays.values()
        ],
        "blocks": [
            {"at": of.block, "first": of.first, "steps": len(of), "releases": of.releases, "phases": of.phases}
            for of in (Timeline.of(trace, at) for at in blocks)
        ],
        "matrices": [asdict(operation) for operation in trace.matrices],
        "statements": [_statement(each) for each in statements(trace)],
        "findings": _findings(trace, {at: number for number, at in enumerate(blocks)}),
        "traffic": [vars(row) for row in trace.traffic],
        "tests": [[text, comparison(text)] for text in columns.texts],
    }


def _statement(statement: Statement) -> dict[str, Any]:
    """Return what a statement does with numbers."""
    flow = statement.flow
    return {
        "line": statement.line,
        "carried": flow.carried,
        "used": flow.used,
        "loads": flow.loads,
        "computes": flow.computes,
        "into": statement.into,
        "given": [{"name": name, "from": each.carried, "loads": each.loads} for name, each in statement.given],
        "products": statement.products,
    }


def _findings(trace: Trace, numbers: Mapping[Dim3, int]) -> list[dict[str, Any]]:
    """Return the findings with the places of their accesses; ``numbers``: of the blocks."""
    names = ("kind", "severity", "line", "other_line", "array", "index", "message", "count", "counted")
    rows = []
    for finding in trace.findings:
        places = [
            {"block": numbers[at.block], "step": at.position, "thread": at.thread} for at in locate(trace, finding)
        ]
        rows.append({**{name: getattr(finding, name) for name in names}, "at": places})
    return rows


#: A column to be compressed: its name, its numbers, and their type.
Column = tuple[str, Any, str]


def _tables(trace: Trace) -> Iterator[Column]:
    """Yield the columns of all tables, and the frames of the steps.

    Of a table other than that of products, the first rows of all steps are sent, as n + 1 numbers, in place of the step
    of each row.
    """
    columns, steps = trace.columns, np.arange(len(trace.steps) + 1)
    for name, kinds in TABLES.items():
        table: Table = getattr(columns, name)
        if name in RARE and not len(table["step"]):
            continue
        if name not in ("step", "product"):
            yield f"step_{name}", np.searchsorted(table["step"], steps), "u4"
        for column, kind in kinds.items():
            if column not in ("step", "block") or name == "product":
                yield f"{name}_{column}", table[column], kind
    blocks = (tuple(block) for block in columns.blocks.tolist())
    yield "step_frame", np.concatenate([Timeline.of(trace, block).frame_of_step for block in blocks]), "u4"


def _compressed(columns: Iterable[Column]) -> dict[str, Any]:
    """Compress columns one after another; of each the first bytes of all its numbers, then the second bytes, and so on.

    Bytes of the same position are similar, so they compress to two thirds of the size, five times as fast. Raises
    ValueError if they exceed the limit.
    """
    names, compressor, found = list[tuple[str, str, int]](), zlib.compressobj(LEVEL), b""
    for name, column, kind in columns:
        data = column.astype(f"<{kind}", copy=False)
        names.append((name, kind, column.size))
        found += compressor.compress(np.ascontiguousarray(data).view(np.uint8).reshape(-1, data.itemsize).T.tobytes())
        check_size(len(found) * 4 // 3)
    return {"columns": names, "packed": base64.b64encode(found + compressor.flush()).decode("ascii")}


def pooled(pools: Iterable[np.ndarray]) -> tuple[np.ndarray, np.ndarray, list[Any]]:
    """Return the kind of each pool of numbers, where it begins in the pool of that kind, and these four.

    They are what JavaScript has: 32-bit integers, floats, doubles, and texts.
    """
    parts: list[list[np.ndarray]] = [[np.empty(0, dtype)] for dtype in ("i4", "f4", "f8", object)]
    kinds, shifts = [], []
    for pool in pools:
        kinds.append(kind_of(pool))
        shifts.append(sum(part.size for part in parts[kinds[-1]]))
        if pool.dtype == np.float16:  # by their shortest digits: the browser has no such type
            pool = np.where(pool == np.trunc(pool), pool, pool.astype(str).astype(np.float64))
        if kinds[-1] == TEXTS:
            pool = np.array([*map(str, pool)], object)
        parts[kinds[-1]].append(pool.astype(parts[kinds[-1]][0].dtype))
    ints, floats, doubles, texts = map(np.concatenate, parts)
    return np.array(kinds), np.array(shifts), [ints, floats, doubles, texts.tolist()]


def kind_of(values: np.ndarray) -> int:
    """The kind of list, of the four, that holds these values exactly."""
    dtype = values.dtype
    if dtype.kind == "f":
        return FLOATS if dtype.itemsize == 4 else DOUBLES
    if dtype.kind not in "iub":
        return TEXTS
    if not values.size or dtype.kind == "b":
        return INTS
    low, high = int(values.min()), int(values.max())
    if -(2**31) <= low and high < 2**31:
        return INTS
    return DOUBLES if max(-low, high) <= _EXACT else TEXTS
