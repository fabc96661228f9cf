"""Tabs: the same lines of a kernel in numba and in CUDA C, cut from the two files."""

import re

import pytest

from course_lib import tabs
from course_lib.machine.gpu import cuda_c

PARTS = [
    (name, part) for name in cuda_c.NAMES for part in re.findall(r"^ *// \[(\w+)\]$", cuda_c.source(name), re.MULTILINE)
]


@pytest.mark.parametrize("name, part", PARTS)
def test_every_part_has_its_lines_in_both_languages(name, part):
    """The numba lines are a part of the kernel's, in their order; the lines of C have no marker and no macro."""
    shown, whole = tabs(name, part), tabs(name).numba
    lines = [line.strip() for line in shown.numba.splitlines()]
    assert lines and part == "fetch" or "\n".join(lines) in "\n".join(line.strip() for line in whole.splitlines())
    assert shown.c.strip() and "UNROLL" not in shown.c and "// [" not in shown.c


def test_lines_are_cut_where_the_part_ends():
    shown = tabs("naive", "loop", unroll=16)
    assert shown.numba.splitlines()[0].startswith("acc = ") and shown.numba.splitlines()[-1] == "C[row, col] = acc"
    assert "#pragma unroll 16\nfor (int k = 0; k < K; ++k)" in shown.c
    assert tabs("padded", "tiles").numba.splitlines() == [
        "A_tile = cuda.shared.array((T, T), dtype)",
        "B_tile = cuda.shared.array((T, T_PADDED), dtype)",
    ]
    assert tabs("tiled", "load").numba.splitlines()[-1] == "    B_tile[ty, tx] = 0"


def test_both_texts_are_on_the_page_and_one_button_is_pressed():
    """So a printed page has both. Long lines begin with one language, short ones with both side by side."""
    for shown, chosen in ((tabs("tiled"), "c"), (tabs("naive", "guard"), "both")):
        page = shown._repr_html_()
        assert page.count("<pre") == 2 and re.findall(r'value="(\w+)" checked', page) == [chosen]
        assert shown.numba.splitlines()[0] in repr(shown) and shown.c.splitlines()[0] in repr(shown)
    assert "k &lt; K" in tabs("naive", "loop")._repr_html_()


def test_lines_of_a_lesson_can_stand_in():
    def launched():
        return "copied"

    assert tabs("host", "launch", numba=launched).numba.startswith("def launched():\n")
    assert tabs("host", "memory", numba="d_A = cuda.to_device(A)").numba == "d_A = cuda.to_device(A)\n"
    for name, part in (("host", "launch"), ("dynamic", "kernel")):
        with pytest.raises(ValueError, match="with numba="):
            tabs(name, part)
    with pytest.raises(KeyError, match="no part 'tiles'"):
        tabs("naive", "tiles")
