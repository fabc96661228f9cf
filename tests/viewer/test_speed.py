"""How long a reader waits, in processor time, in a process of its own."""

import pytest
import speed

#: Seconds.
LIMITS = {"cell": 1, **{f"choice {kernel}": 0.4 if kernel == "register_2d" else 0.15 for kernel in speed.CHOICES}}
LIMITS |= {name: 0.1 for name in speed.WAITS if name.startswith("plan")}


@pytest.fixture(scope="module")
def seconds(seconds_alone):
    return seconds_alone(LIMITS)


@pytest.mark.parametrize("what", LIMITS)
def test_it_shows_at_once(seconds, what):
    """The first time below the limit."""
    assert seconds[what] < LIMITS[what]
