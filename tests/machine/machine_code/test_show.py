"""The inner loop that the compiler made, beside the lines that caused it."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
import recorded
from numba import cuda

from course_lib import show_machine_code
from course_lib.kernels import LADDER, rung
from course_lib.machine.machine_code import NoMachineCode, available, find
from course_lib.machine.machine_code.instructions import MachineInstruction
from course_lib.machine.machine_code.show import KINDS, LISTED, kinds

#: A loop as the compiler writes it, and what each instruction is for, read by hand.
LOOP = """
address        IADD3 R15, P1, R22, UR5, RZ
address        IADD3.X R14, R14, UR6, RZ, P1, !PT
condition      ISETP.GE.AND P2, PT, R3, UR18, PT
address        LEA R8, P0, R15, R10, 0x2
address        LEA.HI.X R9, R15, R11, R14, 0x2, P0
global memory  @!P2 LDG.E R20, desc[UR14][R8.64]
other          MOV R30, R31
shared memory  STS [R18+UR13], R20
barrier        BAR.SYNC.DEFER_BLOCKING 0x0
shared memory  LDS.128 R4, [R18]
loop           IADD3 R40, R40, -0x1, RZ
multiply-add   FFMA R30, R4, R7, R30
address        @P3 IMAD.MOV.U32 R18, RZ, RZ, R41
condition      ISETP.NE.AND P3, PT, R42, RZ, PT
loop           ISETP.NE.AND P1, PT, R40, RZ, PT
loop           @P1 BRA `(.L_x_3)
"""


def shown(name, **options):
    r = rung(name)
    return show_machine_code(r.make(**r.params), **options)


def test_each_instruction_is_of_the_kind_that_needs_it():
    """P1 and the counter are of two kinds, by which instruction reads them next; MOV's value is only added to."""
    rows = [line.split(maxsplit=1) for line in re.sub(r"(global|shared) memory", r"\1", LOOP).strip().splitlines()]
    body = [MachineInstruction(text, 1, False, -1, -1, (), (), -1) for _, text in rows]
    assert [kind.partition(" ")[0] for kind in kinds(body)] == [kind for kind, _ in rows]


@pytest.mark.parametrize("name", [r.name for r in LADDER if available() or r.name in recorded.WITH_CODE])
def test_counts_are_those_of_the_instructions(name):
    """By lines, by kinds and in order: each instruction is counted once."""
    view = shown(name)
    by_line = sum(c.total() for by_kind in view.lines.values() for c in by_kind.values())
    assert sum(view.counts.values()) == by_line == len(view.body) == len(view.listing().splitlines())
    assert view.counts["multiply-add"] == sum(i.operation.startswith("FFMA") for i in view.body) > 0
    assert "spill" not in view.counts and "nothing spilled" in view.summary


def test_the_inner_loop_is_inside_of_that_over_tiles():
    """register_2d: 64 multiply-adds need 16 loads, both from its loop over k (lesson 8)."""
    view = shown("register_2d", block=(16, 16))
    inside = [text for line, text in view.source.items() if line in view.lines]
    assert inside[0].strip().startswith("for k in range") and "acc[i, j] +=" in inside[-1]
    assert view.lines.keys() <= view.source.keys()
    assert view.counts["multiply-add"] == 64 and view.counts["shared memory"] == 16
    assert "2 blocks of 256 threads fit" in view.summary  # as the driver says of 121 registers


class Page(HTMLParser):
    """Tags that are open, and the rows of the table."""

    def __init__(self, page):
        super().__init__()
        self.open, self.rows, self.listed = [], [], 0
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.open += [tag] if tag != "br" else []
        self.rows += [[]] if tag == "tr" else []
        self.listed += tag == "span"
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & {*self.open}:
            self.rows[-1][-1] += data


@pytest.mark.parametrize("name", ["tiled", "naive", "best"])
def test_page_and_text_say_the_same(name):
    """A page lists no more than `LISTED` instructions, and says so."""
    view = shown(name)
    page = Page(view._repr_html_())
    assert not page.open and page.listed == min(LISTED, len(view.body))
    text = repr(view).splitlines()[1:-1]
    for row, line in zip(page.rows, text, strict=True):
        assert all(re.sub(r" \(.*", "", cell) in line for cell in row[:2])
    assert page.rows[-2][2:] == [str(n) for n in view.counts.values()]
    assert ("first 400" in view._repr_html_()) == (len(view.body) > LISTED)
    assert {*view.kinds} <= {*KINDS}


def test_what_cannot_be_shown_is_said(monkeypatch):
    def two(A, B):
        A[0] = B[0]

    with pytest.raises(ValueError, match=r"two has the parameters A, B; give show_machine_code a tuple"):
        show_machine_code(two)
    monkeypatch.setattr(find, "available", lambda: False)
    monkeypatch.setattr(find, "_found", {})
    with pytest.raises(NoMachineCode, match="uv sync --extra compiler"):
        show_machine_code(two, (np.zeros(4, np.float32),) * 2)


@pytest.mark.skipif(not available(), reason="the compiler is not installed")
def test_a_kernel_without_a_loop_is_shown_whole():
    @cuda.jit
    def double(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = x[i] + x[i]

    view = show_machine_code(double, (np.zeros(4, np.float32),))
    assert "in the kernel, which has no loop for 1 multiply-add" in view.summary
    assert view.counts["global memory"] == 2 and view.body == view.code.instructions
