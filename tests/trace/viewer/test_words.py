"""Numbers as the stepper writes them: in Python and in the browser alike, and as short as their cells."""

import json
from pathlib import Path

import numpy as np
import pytest

from course_lib.trace.viewer.digits import number, short
from course_lib.trace.viewer.payload import pooled

TEXT = Path(__file__).parents[3] / "course_lib" / "trace" / "viewer" / "web" / "text.js"
ASK = """import(process.argv[1]).then(({ full, short }) => {
  const odd = { nan: NaN, inf: Infinity, "-inf": -Infinity };
  const values = JSON.parse(require("fs").readFileSync(0, "utf8")).map((v) => (v?.odd ? odd[v.odd] : v));
  console.log(JSON.stringify(values.map((v) => [full(v), short(v)])));
});"""
RNG = np.random.default_rng(3)
WIDE = (RNG.standard_normal(400) * 10.0 ** RNG.integers(-12, 13, 400)).astype(np.float64)
TIES = np.array([0.125, 0.375, 2.5, 102.5, 12.25, 25e3, 1234566.5, -0.625, -1e-300, 0.0, -0.0, 9.1e15, 2.0**53, 1e16])
VALUES = {
    "float64": np.concatenate([WIDE, TIES, [np.nan, np.inf, -np.inf]]),
    "float32": np.concatenate([WIDE, TIES, [3e38, 16777217, 0.1]]).astype(np.float32),
    "float16": np.concatenate([RNG.standard_normal(200) * 10.0 ** RNG.integers(-3, 4, 200), [0.1, 65504]]).astype("f2"),
    "int64": np.array([12345678, -99999, 100000, 2**40 + 1, 2**60, -(2**62) - 1]),
    "uint64": np.array([2**64 - 1, 2**53 + 1], np.uint64),
    "complex64": np.array([1 + 2j, 1j, -1.5 - 0.25j, 1e20 + 3j, complex(np.nan, np.inf)], np.complex64),
    "complex128": np.array([1 / 3 - 1e-9j, -0.1 + 12345j, 10j, 13j, -250j, 0.5j, 0.25j, 1e-9j, 123456j]),
}


def sent(values):
    """What the browser has of these: texts, or numbers of its own."""
    (kind,), _, pools = pooled([values])
    numbers = np.asarray(pools[kind]).tolist()
    return [v if isinstance(v, str | int) or np.isfinite(v) else {"odd": str(v)} for v in numbers]


@pytest.mark.parametrize("dtype", VALUES)
def test_numbers_are_the_same_in_python_and_in_the_browser(dtype, node):
    """In sentences and in cells, of every type."""
    values = VALUES[dtype]
    assert values.dtype == dtype
    said = node("-e", ASK, str(TEXT), given=json.dumps(sent(values)))
    assert json.loads(said) == [[number(value), short(value)] for value in values]


@pytest.mark.parametrize("dtype", VALUES)
def test_numbers_are_as_near_as_their_digits_allow(dtype):
    """A whole number is exact, another within half a unit of its seventh digit; a cell has seven characters a line."""
    for value in VALUES[dtype]:
        assert max(map(len, short(value).split("\n"))) <= 7
        read = complex(number(value)) if np.iscomplexobj(value) else float(number(value))
        if dtype == "float16":
            assert np.float16(read) == value
        np.testing.assert_allclose(read, value, rtol=1e-2 if dtype == "float16" else 5.1e-7)
        if dtype.startswith(("int", "uint")):
            assert int(number(value)) == value


@pytest.mark.parametrize("text, value", [("3e38", np.float32(3e38)), ("-1e-5", -1e-5), (".50", 0.5), ("1\n2j", 1 + 2j)])
def test_cells(text, value):
    assert short(value) == text
