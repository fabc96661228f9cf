"""What a launch says that waits for ever."""

import numpy as np
import pytest
from numba import cuda

from course_lib import KernelError, simulate


@pytest.mark.parametrize("together", [False, True])
def test_a_launch_that_waits_for_ever_says_what_it_did_before(together):
    def kernel(flag, out):
        out[0] = cuda.threadIdx.x
        if together or cuda.threadIdx.x == 0:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass

    with pytest.raises(KernelError, match="waits(.|\n)* race") as caught:
        simulate(kernel, trace=True)[3, 64](np.zeros(1, np.int32), np.zeros(1, np.int32))
    run = caught.value.run
    assert {finding.array for finding in run.findings} == {"out"}
    assert run.traffic.select(array="out").accesses == 3 * 64
    assert {step.line for step in run.trace.steps} >= {finding.line for finding in run.findings}
