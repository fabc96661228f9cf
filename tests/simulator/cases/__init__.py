"""The simulator's cases: kernels as text, what they are launched with, and who says what must come out.

Each module of this folder holds tables, and test_cases.py runs every entry. A blank line separates the entries of a
table's text. An entry is the body of a kernel, or a module with a `def kernel`; these lines may stand before it:

    # name @ grid, block, option=value : argument=expression, ... ; word in one two
    #: more of the line above, from the arguments on
    #= expression

`name` is for the report. What stands behind @ and : is the table's own if it is left out; its expressions know the
names of the module that holds the table, whose arrays are copied. `; word in one two` makes an entry for each of the
words, which takes the place of $word in the text; `; a,b in 1,2 3,4` does so two at a time. A line `#=` must be true
after the launch: it knows the arguments, what they were before (`old.out`), `run`, `traffic` (`run.traffic.select`),
`close`, `line(text)`, the number of the first line with this text, and `said(words)`: do the findings' messages have
them all?

At the end of a line of the kernel, or in a line of its own for the whole launch:

    #? kind array (index) xcount   the finding here, where array, index and count may be left out; `;` separates several
    #! ErrorClass words ...        the launch raises this error (UnsupportedKernelError, if no class is named) for this
                                   line; its message has the words: names and numbers, in any order

Other findings than these and those of the judge must not be there; "float64" is looked at where a tag names it.
"""

import cmath
import importlib
import itertools
import math
import pickle
import re
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from nightly import every

from course_lib.trace.replay import Timeline
from course_lib.trace.viewer.payload import encode
from course_lib.trace.viewer.words import sentence

IMPORTS = """\
import cmath
import math
import operator

import numba
import numpy as np
from numba import (
    complex64, complex128, cuda, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64
)
from numba.cuda import libdevice
from numba.types import float16
"""
HEAD = re.compile(r"# (?P<name>[^@:;]*?)(?: @ (?P<launch>[^:;]*?))?(?: : (?P<arguments>[^;]*?))?(?: ; (?P<each>.*))?$")
TAG = re.compile(r"(?:  |^)#(?P<sort>[?!])(?P<text>.*)$")


def zeros(*shape):
    """Return np.zeros of these extents; a type may be the last argument."""
    dtype = float if isinstance(shape[-1], int) else shape[-1]
    return np.zeros([extent for extent in shape if isinstance(extent, int)], dtype)


#: What the expressions know beside the names of their module.
NAMES = {"np": np, "zeros": zeros, "math": math, "cmath": cmath, "loads": pickle.loads, "dumps": pickle.dumps,
         "Timeline": Timeline, "encode": encode, "sentence": sentence}  # fmt: skip


@dataclass(frozen=True)
class Table:
    """Entries with one judge; `launch`, `arguments` and `first`, the first lines of a body, are their defaults.

    judge    "reference": values, counts and findings of oracles.reference; "numba": values of numba's code for the CPU,
             which refuses what is refused; "cudasim": those of numba's own simulator; None: what the lines `#=` say
    lines    whether each line of the text is an entry
    step     by day, every so many-th entry runs
    package  the package that is taken to be installed; `alone`: and the other one has not what the entries use
    """

    judge: str | None
    text: str
    launch: str = "1, 1"
    arguments: str = ""
    header: str = ""
    first: str = ""
    lines: bool = False
    step: int = 1
    package: str | None = None
    alone: bool = False
    names: dict = field(default_factory=dict)

    def entries(self):
        """Return the texts of the entries, one for each of the words that they name."""
        for entry in self.text.strip("\n").split("\n" if self.lines else "\n\n"):
            head = HEAD.match(joined(entry).split("\n")[0])
            clauses = [clause.split(" in ", 1) for clause in (head and head["each"] or "").split(" ; ") if clause]
            for words in itertools.product(*(words.split() for _, words in clauses)):
                text = entry
                for (name, _), word in zip(clauses, words, strict=True):
                    parts = [word] if "," not in name else word.split(",")
                    for one, part in zip(name.split(","), parts, strict=True):
                        text = text.replace(f"${one}", part)
                yield text, ", ".join(words)


@dataclass(frozen=True)
class Case:
    """One entry of a table. `tags`: (sort, text, line or None); `source`: the module with the kernel."""

    table: Table
    name: str
    source: str
    launch: str
    arguments: str
    checks: tuple
    tags: tuple

    def __repr__(self):
        return self.source[len(self.table.header) :]

    def given(self):
        """Return fresh arguments by their names."""
        names = {k: v.copy(order="K") if isinstance(v, np.ndarray) else v for k, v in self.table.names.items()}
        return eval(f"dict({self.arguments})", names)

    def launched(self):
        """Return the launch's configuration and the options of `simulate`."""
        return eval(f"(lambda *launch, **options: (launch, options))({self.launch})", dict(self.table.names))


def joined(text):
    """Return an entry with its name, launch and arguments in one line."""
    first, *more = text.split("\n#: ", 1)
    return first + "".join(f"{'' if ' : ' in first else ' :'} {line}" for line in more)


def read(table, text, words):
    """Return the Case of one entry."""
    lines, checks = joined(text).split("\n"), []
    head = HEAD.match(lines[0])
    if not head and lines[0].startswith("# "):
        raise ValueError(f"no name, launch and arguments: {lines[0]}")
    while lines[0].startswith(("# ", "#= ")):
        line = lines.pop(0)
        if line.startswith("#= "):
            checks.append(line[3:])
    arguments = head and head["arguments"] or table.arguments
    body, name = "\n".join(lines), head and head["name"] or next(line for line in lines if not line.startswith("#!"))
    if not re.search(r"^ *def kernel\(", body, re.MULTILINE):
        parameters = ", ".join(eval(f"dict({arguments})", dict(table.names)))
        body = f"@cuda.jit\ndef kernel({parameters}):\n{textwrap.indent(table.first + body, '    ')}"
    source = f"{table.header}\n{body}\n"
    tags, launch = [], head and head["launch"] or table.launch
    for number, line in enumerate(source.split("\n"), 1):
        if tag := TAG.search(line):
            tags.append((tag["sort"], tag["text"], None if not line[: tag.start()].strip() else number))
    if "\n#= " in body or not (table.judge or checks or tags):
        raise ValueError(f"nothing judges this entry, or its lines are out of order: {text}")
    return Case(table, f"{name} {words}".strip(), source, launch, arguments, tuple(checks), tuple(tags))


def cases():
    """Return the cases of all tables, as values of one parameter of a test."""
    found = []
    for path in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        module = importlib.import_module(f"{__name__}.{path.stem}")
        for table in vars(module).values():
            if isinstance(table, Table):
                table.names.update(NAMES | vars(module))
                found += every(table.step, [read(table, *entry) for entry in table.entries()])
    return found
