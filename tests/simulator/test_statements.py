"""Hand-written statements: every value equals that of numba's own compiled code, thread by thread.

Every twenty-fourth of them by day, all with `--nightly`.
"""

import numpy as np
import pytest
from nightly import NIGHTLY
from oracles import numba_cpu
from oracles.sources import import_kernel
from oracles.statements import BODIES, THREADS, arguments, source

from course_lib import simulate

STEP = 1 if NIGHTLY else 24


@pytest.mark.parametrize("body", BODIES[::STEP])
def test_values_equal_numbas(body, tmp_path):
    got, right = arguments(), arguments()
    simulate(import_kernel(source(body), tmp_path))[1, THREADS](*got)
    numba_cpu.run(source(body), (1,), (THREADS,), right)
    for one, two in zip(got, right, strict=True):
        np.testing.assert_array_equal(one, two)
