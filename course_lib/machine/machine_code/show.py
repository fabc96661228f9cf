"""What the compiler made of a kernel's inner loop: instructions beside the source lines that caused them."""

import copy
import html
import inspect
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from ...simulator.formatting import plural, text_table
from ...simulator.occupancy import Occupancy, occupancy
from ...trace.palette import COLOURS, FAINT, GROUND, ISSUING, SKY
from .. import measurements
from ..simulated_launch import simulated
from .as_compiled import AsCompiled, as_compiled
from .find import machine_code
from .instructions import MachineCode, MachineInstruction

#: The kinds of instructions, in the order of the columns: colour, and how names begin; `kinds` finds the others.
KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "multiply-add": (COLOURS["C"], ("FFMA", "FADD", "FMUL", "DFMA", "DADD", "DMUL", "HMMA", "HGMMA")),
    "shared memory": (COLOURS["shared"], ("LDS", "STS")),
    "global memory": (COLOURS["A"], ("LDG", "STG", "ATOM", "RED", "UTMA", "UBLKCP")),
    "spill": (COLOURS["B"], ("LDL", "STL")),
    "barrier": (SKY, ("BAR", "DEPBAR", "SYNCS", "WARP")),
    "address": (COLOURS["register"], ()),
    "condition": (GROUND, ("BRA", "BSSY", "BSYNC", "BREAK")),
    "loop": (ISSUING, ()),
    "other": (FAINT, ()),
}
MEMORY = ("shared memory", "global memory", "spill")
#: Kinds whose operations the table names.
NAMED = ("multiply-add", *MEMORY, "barrier")
#: Instructions that are listed one by one: more would make a notebook large.
LISTED = 400
#: A signature that most kernels of the course have.
MATRICES = "void(float32[:, ::1], float32[:, ::1], float32[:, ::1])"
#: A register or a predicate.
NAME = re.compile(r"\b(?:UR|R|UP|P)\d+\b")


def kinds(body: Sequence[MachineInstruction]) -> list[str]:
    """Return the kind of each instruction of a loop, a name of `KINDS`; the last one branches back.

    Most are of a kind by their name. Others are of the kind that needs their results, the first of these three: "loop"
    for the branch back, "address" for that of an access, "condition" for other branches and for instructions that not
    all threads execute. What none of them needs is "other".
    """
    named = [next((k for k, (_, names) in KINDS.items() if i.operation.startswith(names)), "") for i in body]
    if body and body[-1].operation.startswith("BRA"):
        named[-1] = "loop"
    uses: dict[str, list[tuple[int, str]]] = {"loop": [], "address": [], "condition": []}
    for place, each in enumerate(body):
        guard = "loop" if named[place] == "loop" else "condition"
        uses[guard] += [(place, name) for name in NAME.findall(each.predicate)]
        if named[place] in MEMORY:
            uses["address"] += [(place, name) for name in _names(" ".join(re.findall(r"\[[^]]*\]", each.text)))]
    flows = [_data_flow(each) for each in body]
    for kind, needed in uses.items():
        for place in _sources(flows, needed):
            named[place] = named[place] or kind
    return [kind or "other" for kind in named]


def _names(text: str) -> set[str]:
    """Return the registers and predicates in a text; R4.64 is R4 and R5."""
    pairs = re.findall(r"\b(U?R)(\d+)(?:\.reuse)?\.64", text)
    return {*NAME.findall(text), *(f"{kind}{int(number) + 1}" for kind, number in pairs)}


class DataFlow(NamedTuple):
    """The registers and predicates that an instruction writes and reads; ``always``: whether under no condition."""

    written: set[str]
    read: set[str]
    always: bool


def _data_flow(each: MachineInstruction) -> DataFlow:
    """Return what an instruction writes and reads.

    It writes its first operand, and a predicate that comes next; a comparison writes two predicates.
    """
    name, *mods = each.operation.split(".")
    operands = [text.strip() for text in each.text.partition(each.operation)[2].split(",")]
    count = 0 if name.startswith(("ST", "BRA", "BAR", "RED", "EXIT", "B")) or name == "LDGSTS" else 1
    if count == 1 and len(operands) > 2:
        is_comparison = operands[0].startswith(("P", "UP"))
        if is_comparison or re.fullmatch(r"U?P(\d|T)", operands[1]):
            count = 2
    words = 1
    if "128" in mods:
        words = 4
    elif {"64", "WIDE"} & {*mods}:
        words = 2
    written = set[str]()
    for text in operands[:count]:
        if found := re.fullmatch(r"(U?R|U?P)(\d+)", text):
            kind, first = found[1], int(found[2])
            registers = words if "R" in kind else 1
            written |= {f"{kind}{first + n}" for n in range(registers)}
    wide = operands[-1] if "WIDE" in mods else ""  # what is added has 64 bits
    read = _names(" ".join([*operands[count:], f"{wide.removesuffix('.reuse')}.64"]))
    return DataFlow(written, read, always=not each.predicate)


def _sources(flows: Sequence[DataFlow], uses: Sequence[tuple[int, str]]) -> set[int]:
    """Return the instructions whose results reach these uses, (place, name): those before, or in the last iteration."""
    found = set[int]()
    todo = list(uses)
    done = set[tuple[int, str]]()
    while todo:
        use = todo.pop()
        if use in done:
            continue
        done.add(use)
        place_of_use, used = use
        for distance in range(1, len(flows) + 1):
            place = (place_of_use - distance) % len(flows)
            if used not in flows[place].written:
                continue
            found.add(place)
            todo += [(place, name) for name in flows[place].read]
            if flows[place].always:
                break
    return found


@dataclass(frozen=True, repr=False)
class InnerLoop:
    """A kernel's inner loop in machine code, as a notebook shows it; without a loop, all of its code.

    Attributes:
        code: the MachineCode.
        source: the kernel's lines by their numbers.
        body: the loop's instructions in order.
        threads: those of a block; None where the size of a block is not known.
        gpu: the provenance of a recording, which describes a GPU.
        compared: the counts of a launch as written and as compiled; None where the launch is not known.
    """

    code: MachineCode
    source: dict[int, str]
    body: tuple[MachineInstruction, ...]
    threads: int | None
    gpu: Mapping[str, Any]
    compared: AsCompiled | None = None

    @cached_property
    def occupancy(self) -> Occupancy | None:
        """The blocks that a multiprocessor of the GPU holds; None where the size of a block is not known."""
        if self.threads is None:
            return None
        return occupancy(self.threads, self.code.registers, self.code.shared_bytes, self.gpu)

    @cached_property
    def kinds(self) -> list[str]:
        """The kind of each instruction (see the function `kinds`)."""
        return kinds(self.body)

    @property
    def counts(self) -> dict[str, int]:
        """The instructions of each kind that a thread executes in one iteration, in the order of `KINDS`."""
        return {kind: self.kinds.count(kind) for kind in KINDS if kind in self.kinds}

    @property
    def lines(self) -> dict[int, dict[str, Counter[str]]]:
        """For each line of the kernel, 0 for none, and each kind: the operations that it caused, and how many."""
        found: dict[int, dict[str, Counter[str]]] = {}
        for each, kind in zip(self.body, self.kinds, strict=True):
            found.setdefault(self.code.line(each), {}).setdefault(kind, Counter())[_short(each.operation)] += 1
        return dict(sorted(found.items()))

    @property
    def summary(self) -> str:
        """What one reads first: instructions per multiply-add, registers, spills, blocks."""
        code = self.code
        products = self.counts.get("multiply-add", 0)
        tensor = next((i.operation for i in self.body if re.match("HG?MMA", i.operation)), "").partition(".")[0]
        what = f"{products} {tensor}" if tensor else plural(products, "multiply-add")
        each = f" for {what}: {len(self.body) / products:.1f} each" if products else ""
        text = f"{code.kernel}: {plural(len(self.body), 'instruction')} in the "
        text += f"inner loop{each}. " if code.loops else f"kernel, which has no loop{each}. "
        spilled = f"{plural(code.spilled_bytes, 'byte')} spilled" if code.spilled_bytes else "nothing spilled"
        text += f"{plural(code.registers, 'register')} a thread, {spilled}."
        if self.occupancy is None:
            return text
        blocks = plural(self.occupancy.blocks, "block")
        fit = f"{blocks} of {self.threads} threads fit on a multiprocessor of the {self.gpu['gpu']}"
        return f"{text} {fit} ({self.occupancy.warps} warps; limited by {self.occupancy.limit})."

    @property
    def made_by(self) -> str:
        """Which compiler made it, and where."""
        versions = self.code.versions
        where = "recorded" if self.code.recorded else "compiled here"
        return f"numba-cuda {versions['numba-cuda']}, libNVVM {versions['nvidia-nvvm']}; {where}."

    def _rows(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Return the rows of the table: a number, a text, and for each kind what is in its column."""
        rows: list[tuple[str, str, dict[str, Any]]] = []
        for line, operations in self.lines.items():
            rows.append((str(line or ""), self.source.get(line, "(no line)").strip(), operations))
        rows.append(("", "one iteration", self.counts))
        if products := self.counts.get("multiply-add"):
            rows.append(("", "per multiply-add", {kind: f"{n / products:.2f}" for kind, n in self.counts.items()}))
        return rows

    def __repr__(self) -> str:
        table = [["line", "source", *self.counts]]
        for number, text, cells in self._rows():
            counts = (cells.get(kind, "") for kind in self.counts)
            table.append([number, text, *(str(c.total() if isinstance(c, Counter) else c) for c in counts)])
        compared = [str(self.compared)] if self.compared else []
        return "\n".join([self.summary, *text_table(table, (1,)), *compared, self.made_by])

    def listing(self) -> str:
        """Return the instructions in the order in which a warp executes them, each with its kind and its line."""
        each = zip(self.body, self.kinds, strict=True)
        return "\n".join(text_table([[str(self.code.line(i) or ""), kind, i.text] for i, kind in each], (1, 2)))

    def _repr_html_(self) -> str:
        """Return the loop as a notebook shows it: the summary, the table of lines, and the instructions in order."""
        name = html.escape(self.code.kernel)
        head = "".join(f'<th scope="col" class="kind {_class(kind)}">{kind}</th>' for kind in self.counts)
        body = ""
        for number, text, cells in self._rows():
            source = f'<th scope="row" class="source"><code>{html.escape(text)}</code></th>'
            body += f"<tr><td>{number}</td>{source}"
            for kind in self.counts:
                found = cells.get(kind, "")
                if isinstance(found, Counter):
                    each = ", ".join(f"{n} {name}" for name, n in found.most_common()) if kind in NAMED else ""
                    found = each or found.total()
                body += f'<td class="kind {_class(kind)}">{found}</td>'
            body += "</tr>"
        listing = "\n".join(
            f'<span class="{_class(kind)}">{self.code.line(i) or "":>4}  {html.escape(i.text)}</span>'
            for i, kind in [*zip(self.body, self.kinds, strict=True)][:LISTED]
        )
        more = "" if len(self.body) <= LISTED else f"the first {LISTED}; `print(….listing())` prints all; "
        return (
            f'{_style()}<div class="tile-machine-code"><p>{html.escape(self.summary)}</p>'
            f'<div class="lines" tabindex="0" role="group" aria-label="Instructions of {name} by lines">'
            f'<table><thead><tr><th scope="col">line</th><th scope="col" class="source">source</th>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>"
            f"{self._compared_html()}"
            f"<p>In the order in which a warp executes them ({more}each after the number of its line):</p>"
            f'<pre tabindex="0" role="group" aria-label="Instructions of {name} in order">{listing}</pre>'
            f"<p>{self.made_by}</p></div>"
        )

    def _compared_html(self) -> str:
        """Return the counts as written and as compiled."""
        label = 'tabindex="0" role="group" aria-label="Counts as written and as compiled"'
        return f"<div {label}>{self.compared._repr_html_()}</div>" if self.compared else ""


def _class(kind: str) -> str:
    return kind.partition(" ")[0]


def _style() -> str:
    colours = "".join(f".tile-machine-code .{_class(kind)} {{ --kind: {KINDS[kind][0]}; }}\n" for kind in KINDS)
    return f"<style>\n{Path(__file__).with_suffix('.css').read_text(encoding='utf-8')}{colours}</style>"


def _short(operation: str) -> str:
    """Return an operation with its width alone, such as LDS.128."""
    name, *mods = operation.split(".")
    return ".".join([name, *(mod for mod in mods if mod in ("64", "128", "WIDE"))])


def show_machine_code(
    kernel: Any,
    arguments: Any = MATRICES,
    block: int | Sequence[int] | None = None,
    gpu: str = measurements.DEFAULT_GPU,
    *,
    grid: int | Sequence[int] | None = None,
) -> InnerLoop:
    """Show the machine code of a kernel's inner loop in a notebook, beside the lines that caused it.

    The inner loop is the one with the most multiply-adds, of those that contain no other with multiply-adds.

    Args:
        kernel: a kernel, as `simulate` takes it.
        arguments: a tuple of what a launch would give it, or numba's signature as a text; if left out, three matrices
            of float32 in C order.
        block: threads of a block, as in a launch; with it, the blocks that fit on a multiprocessor are shown.
        gpu: the recorded GPU that the multiprocessor belongs to.
        grid: blocks, as in a launch; with it, a block and a tuple of arguments, the launch is simulated and its machine
            code executed, for the counts of each line as written and as compiled. The arguments are not changed.

    Raise NoMachineCode if the code is not recorded and no compiler is installed, and ValueError for a kernel that the
    compiler refuses.

    >>> show_machine_code(rung("tiled").make()).code.registers
    32
    """
    plain = getattr(kernel, "py_func", kernel)
    parameters = [*inspect.signature(plain).parameters]
    if arguments is MATRICES and len(parameters) != 3:
        parameters_of = f"{plain.__name__} has the parameters {', '.join(parameters)}"
        raise ValueError(f"{parameters_of}; give show_machine_code a tuple of what a launch gives it")
    code = machine_code(kernel, arguments)
    shown = inner_loop(kernel, code, block, gpu)
    if grid is None:
        return shown
    if block is None or not isinstance(arguments, tuple):
        raise ValueError("to execute a launch, give show_machine_code grid, block and a tuple of arguments")
    return replace(shown, compared=as_compiled(code, simulated(kernel, grid, block, copy.deepcopy(arguments))))


def inner_body(code: MachineCode) -> tuple[MachineInstruction, ...]:
    """Return the instructions of the loop that `show_machine_code` chooses; of code without a loop, all."""
    every = {loop: code.instructions[loop[0] : loop[1] + 1] for loop in code.loops}
    names = KINDS["multiply-add"][1]
    products = {loop: sum(each.operation.startswith(names) for each in body) for loop, body in every.items()}

    def inside(one: tuple[int, int], other: tuple[int, int]) -> bool:
        return one != other and other[0] <= one[0] and one[1] <= other[1]

    inner = [loop for loop in every if not any(products[each] and inside(each, loop) for each in every)]
    chosen = max(inner, key=lambda loop: (products[loop], len(every[loop])), default=None)
    return code.instructions if chosen is None else every[chosen]


def inner_loop(kernel: Any, code: MachineCode, block: int | Sequence[int] | None, gpu: str) -> InnerLoop:
    """Return what `show_machine_code` shows of a kernel whose machine code is known."""
    threads = None
    if block is not None:
        threads = prod(block) if isinstance(block, Sequence) else int(block)
    lines, first = inspect.getsourcelines(getattr(kernel, "py_func", kernel))
    source = {first + number: line.rstrip() for number, line in enumerate(lines)}
    return InnerLoop(code, source, inner_body(code), threads, measurements.load("latencies", gpu).provenance)
