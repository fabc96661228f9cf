"""The error to which the timing model is known, as recorded (`python -m tools.lab predictions`)."""

from functools import cache

from .. import measurements


@cache
def largest_error() -> float:
    """Return the largest relative error of the recorded predictions for kernels as students write them: 0.1 is 10 %."""
    results = measurements.load("predictions").results
    return max(abs(float(r["error"])) for r in results if r["what"] == "capstone")
