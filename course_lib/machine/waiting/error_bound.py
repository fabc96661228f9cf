"""The error to which the model of waiting is known, as recorded (`python -m tools.lab waiting`)."""

from functools import cache

from .. import measurements


@cache
def largest_error() -> float:
    """Return the largest relative error of the recorded predictions for kernels as students write them: 0.1 is 10 %."""
    results = measurements.load("waiting").results
    return max(abs(float(r["error"])) for r in results if r["what"] == "capstone")
