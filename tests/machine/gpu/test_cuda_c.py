"""The kernels in CUDA C: what can be said of their text; where NVRTC is installed, that all compile, without a GPU."""

import re
from importlib.util import find_spec

import pytest

from course_lib.classroom.lessons import home
from course_lib.kernels import LADDER, rung
from course_lib.machine.gpu import cuda_c

needs_nvrtc = pytest.mark.skipif(
    find_spec("cuda") is None or find_spec("cuda.core") is None, reason="NVRTC comes with the extras cu12 and cu13"
)
WITH_LOOP = [name for name in cuda_c.NAMES if "UNROLL" in cuda_c.source(name)]


def params(name):
    return {key: 32 if key in ("tile_width", "block_width") else value for key, value in rung(name).params.items()}


def test_a_kernel_in_cuda_c_is_that_of_a_rung():
    """A rung need not have one."""
    assert {"naive", "tiled", "prefetched"} <= {*cuda_c.NAMES} <= {r.name for r in LADDER}


def test_excerpts_are_cut_by_markers():
    """Without the markers inside, and moved to the margin; a missing part is named."""
    assert cuda_c.excerpt("naive", "index") == (
        "int row = blockIdx.y * blockDim.y + threadIdx.y;\nint col = blockIdx.x * blockDim.x + threadIdx.x;\n"
    )
    whole = cuda_c.excerpt("naive", "kernel")
    assert whole.startswith("__global__ void naive(") and whole.endswith("}\n") and "// [" not in whole
    with pytest.raises(KeyError, match=r"naive.cu has no part 'tiles'"):
        cuda_c.excerpt("naive", "tiles")


@pytest.mark.parametrize("name", (*cuda_c.NAMES, *cuda_c.HOST))
def test_every_marker_is_closed(name):
    marks = [line.strip()[3:] for line in cuda_c.source(name).splitlines() if line.strip().startswith("// [")]
    for part in (mark[1:-1] for mark in marks if not mark.startswith("[/")):
        assert cuda_c.excerpt(name, part).strip()
    assert len(marks) == 2 * sum(not mark.startswith("[/") for mark in marks)


def test_the_page_on_languages_shows_the_kernel_in_triton_that_was_measured():
    """Its lines without the docstring."""
    text = (cuda_c.FOLDER.parent / "machine" / "gpu" / "triton_tiled.py").read_text(encoding="utf-8")
    shown = re.sub(r'    """.*?"""\n', "", text[text.index("@triton.jit") :], flags=re.DOTALL)
    assert shown in (home() / "numba_and_cuda_c.md").read_text(encoding="utf-8")


@needs_nvrtc
@pytest.mark.nightly
@pytest.mark.parametrize("name", cuda_c.NAMES)
def test_every_kernel_compiles(name):
    """To machine code, as it is and with unsigned integers, past the cache too; the code names the kernel."""
    for unsigned in (False, True):
        options = {"ptxas_options": cuda_c.UNCACHED} if unsigned else {}
        code = cuda_c.compiled(name, params(name), "sm_90", unsigned=unsigned, options=options).code
        assert name.encode() in code


@needs_nvrtc
@pytest.mark.nightly
@pytest.mark.parametrize("name", WITH_LOOP)
def test_a_loop_is_left_or_written_out_as_asked(name):
    """Sixteen steps are more machine code than one, of two instructions or more of 16 bytes for each."""
    left, written = (len(cuda_c.compiled(name, params(name), "sm_90", unroll=steps).code) for steps in (1, 16))
    assert written > left + 15 * 16
