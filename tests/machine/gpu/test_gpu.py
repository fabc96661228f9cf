"""Every rung on a real GPU; skipped where there is none."""

import numpy as np
import pytest

from course_lib.kernels import LADDER, rung
from course_lib.machine import gpu
from course_lib.machine.gpu.device import NoGPUError

needs_gpu = pytest.mark.skipif(not gpu.available(), reason="no CUDA GPU")
SIZES = [(70, 45, 130), (1, 1, 1), (31, 32, 5), (3, 2, 0), (257, 129, 65)]


@pytest.mark.skipif(gpu.available(), reason="there is a CUDA GPU")
def test_without_a_gpu_one_sentence_says_so():
    """Verifying and timing refuse alike."""
    for act in (gpu.verify, gpu.time):
        with pytest.raises(NoGPUError, match="No CUDA GPU"):
            act(rung("tiled"), 4, 4, 4)


@needs_gpu
@pytest.mark.parametrize("r", LADDER, ids=lambda r: r.name)
@pytest.mark.parametrize("size", SIZES)
def test_rung_equals_float64(r, size):
    """Random rectangles with ragged edges."""
    try:
        r.launch(*size, **r.params)
    except ValueError:
        pytest.skip("this rung cannot hold matrices of this size")
    assert gpu.verify(r, *size).correct


@needs_gpu
def test_time_keeps_every_repeat():
    """Five repeats, all positive."""
    timing = gpu.time(rung("tiled"), 256, 256, 256, repeats=5)
    assert len(timing.milliseconds) == 5
    assert np.min(timing.milliseconds) > 0
