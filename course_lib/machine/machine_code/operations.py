"""What machine instructions do: each becomes a function of the registers of a block's threads.

Registers are rows of 32-bit words, one column a thread. Those that all lanes of a warp have in common are held for each
lane. The meaning of operations is known from NVIDIA's list of mnemonics, from the PTX that they implement, and from
what they compute: tests hold the products of emulated kernels against NumPy.
"""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any

import numpy as np

from ...simulator.hardware import WARP_SIZE
from ...simulator.runtime.arithmetic import min_or_max

Array = np.ndarray
#: A value of every thread: an array of 32-bit words or of truths.
Value = Callable[["Threads"], Any]
Action = Callable[["Threads", Any], None]
#: What an instruction does to the threads that run it.
Run = Callable[["Threads"], None]

WORD = np.uint64(0xFFFFFFFF)
SHIFT = np.uint64(32)
ONE = np.uint64(1)
#: The words and the type of a float of one word and of two.
_FLOATS: dict[int, tuple[Any, Any]] = {1: (np.uint32, np.float32), 2: (np.uint64, np.float64)}


class UnknownInstruction(ValueError):
    """An instruction that the emulator does not know."""


@dataclass
class Region:
    """Bytes from an address on."""

    name: str
    first: int
    data: np.ndarray


@dataclass
class Threads:
    """The state of the threads of some blocks, in whole warps; `mask`: those that run the next instruction.

    ``block`` is the number of each thread's block among these, of which each has ``shared_bytes`` of shared memory.
    ``barriers``: for each convergence barrier, the number of the event at which a thread joined it, 0 for none.
    ``voted``: for each thread, what the last barrier that counts votes found in its block.
    """

    registers: np.ndarray
    uniform: np.ndarray
    predicates: np.ndarray
    uniform_predicates: np.ndarray
    mask: np.ndarray
    warps: np.ndarray
    constants: np.ndarray
    place: Mapping[str, np.ndarray]
    local: np.ndarray
    shared: np.ndarray
    block: np.ndarray
    shared_bytes: int
    barriers: np.ndarray
    voted: np.ndarray
    arrays: list[Region] = field(default_factory=list)

    def constant(self, at: int, size: int) -> np.uint64:
        return np.uint64(int.from_bytes(self.constants[at : at + size].tobytes(), "little"))

    def special(self, name: str) -> Any:
        if name not in self.place:
            raise UnknownInstruction(f"special register {name}")
        return self.place[name]


def split(text: str) -> list[str]:
    """Return the operands of an instruction, separated by commas outside of `[]` and parentheses."""
    return [part.strip() for part in re.split(r",(?![^\[]*\])(?![^(]*\))", text)] if text.strip() else []


def predicate(text: str) -> Value:
    """Return the truth of a predicate such as "!P0" or "UPT"."""
    negated = text.startswith("!")
    name = text.lstrip("!").replace(".reuse", "")
    uniform = name.startswith("U")
    number = 7 if name.endswith("T") else int(name[-1])

    def get(threads: Threads) -> Array:
        truth = (threads.uniform_predicates if uniform else threads.predicates)[number]
        return ~truth if negated else truth

    return get


def _constant(text: str) -> int | None:
    """Return the word of an immediate operand; None if it is none."""
    if re.fullmatch(r"-?0x[0-9a-f]+", text):
        return int(text, 16) & 0xFFFFFFFF
    if re.fullmatch(r"[+-]?(INF|QNAN|\d+(\.\d+)?(e[+-]?\d+)?)", text):
        value = {"INF": np.inf, "QNAN": np.nan}.get(text.lstrip("+-"))
        number = np.float32(text if value is None else (-value if text.startswith("-") else value))
        return int(number.view(np.uint32))
    return None


def _place(text: str) -> tuple[str, int] | None:
    """Return the file and the number of a register: R or U, 255 and 63 for the ones that are zero."""
    found = re.fullmatch(r"(U?)R(Z|\d+)", text)
    if not found:
        return None
    zero = 63 if found[1] else 255
    return found[1] or "R", zero if found[2] == "Z" else int(found[2])


def raw(text: str, words: int = 1) -> Value:
    """Return an operand without its sign: a word, or a pair of words as 64 bits, each as uint64."""
    text = text.replace(".reuse", "").removesuffix(".64")
    constant = _constant(text)
    if constant is not None:
        wide = np.uint64(constant if words == 1 or constant < 2**31 else constant + (0xFFFFFFFF << 32))
        return lambda threads: wide
    if found := re.fullmatch(r"c\[(0x\w+)\]\[(0x\w+)\]", text):
        if found[1] != "0x0":
            raise UnknownInstruction(f"constants of bank {found[1]}")
        at = int(found[2], 16)
        return lambda threads: threads.constant(at, 4 * words)
    if (place := _place(text)) is None:
        raise UnknownInstruction(f"operand {text}")
    uniform = place[0] == "U"
    number = place[1]

    def get(threads: Threads) -> Array:
        file = threads.uniform if uniform else threads.registers
        low = file[number].astype(np.uint64)
        if words == 1 or number == (63 if uniform else 255):
            return low
        return low | file[number + 1].astype(np.uint64) << SHIFT

    return get


def integer(text: str, words: int = 1) -> Value:
    """Return an operand in uint64; a negative one is 2^32 (or 2^64) less its amount, so that borrows are carries."""
    inner = text.lstrip("-~") if not re.match(r"-0x", text) else text
    value = raw(inner, words)
    if inner == text:
        return value
    if text.startswith("~"):
        return lambda threads: value(threads) ^ (WORD if words == 1 else ~np.uint64(0))
    return lambda threads: (ONE << SHIFT) - value(threads) if words == 1 else np.uint64(0) - value(threads)


def signed(value: Array) -> Array:
    """Return 32-bit words as int64."""
    return np.asarray(value).astype(np.uint32).view(np.int32).astype(np.int64)


def float_of(text: str, words: int = 1) -> Value:
    """Return an operand as float32, or as float64 of two words, with its sign and its amount."""
    fixed = _constant(text) is not None
    inner = text if fixed else text.replace(".reuse", "").strip("-+|")
    if fixed and words == 2:
        literal = np.float64(text.replace("+INF", "inf").replace("INF", "inf").replace("QNAN", "nan").lstrip("+"))
        return lambda threads: literal
    value = raw(inner, words)
    negative = text.startswith("-") and inner != text
    amount = "|" in text
    bits, kind = _FLOATS[words]

    def get(threads: Threads) -> Array:
        number: Any = np.asarray(value(threads)).astype(bits).view(kind)
        number = np.abs(number) if amount else number
        return -number if negative else number

    return get


def special(text: str) -> Value:
    """Return what a special register holds."""
    return lambda threads: threads.special(text)


def zero(text: str) -> Value:
    """Return zero, which is all that CS2R is known to read."""
    if text != "SRZ":
        raise UnknownInstruction(f"CS2R of {text}")
    return lambda threads: np.uint64(0)


def all_truths(text: str) -> Value:
    """Return the seven predicates of a thread as bits."""
    places = np.arange(7, dtype=np.uint64)[:, None]
    return lambda threads: (threads.predicates[:7].astype(np.uint64) << places).sum(axis=0, dtype=np.uint64)


def constant_at(text: str, size: int = 4, signed: bool = False) -> Value:
    """Return a constant of the launch of so many bytes, at a place that a register gives."""
    found = re.fullmatch(r"c\[0x0\]\[(?:(U?R(?:Z|\d+))\+?)?(-?0x\w+)?\]", text)
    if found is None:
        raise UnknownInstruction(f"LDC {text}")
    base = raw(found[1] or "RZ")
    offset = int(found[2] or "0", 16)
    kind = f"<{'i' if signed else 'u'}{size}"

    def get(threads: Threads) -> Array:
        places = np.broadcast_to(np.asarray(base(threads)).astype(np.int64) + offset, threads.mask.shape)
        places = np.clip(
            places, 0, len(threads.constants) - size
        )  # registers of threads that are not active hold anything
        data = threads.constants[np.add.outer(places, np.arange(size))]
        return data.view(kind)[:, 0].astype(np.int64).view(np.uint64)

    return get


def writer(text: str, words: int = 1) -> Action:
    """Return the function that writes a register, or several in sequence: given uint64 for one or two words."""
    place = _place(text.removesuffix(".64"))
    if place is None:
        raise UnknownInstruction(f"result {text}")
    uniform = place[0] == "U"
    number = place[1]
    if number == (63 if uniform else 255):
        return lambda threads, value: None

    def write(threads: Threads, value: Any) -> None:
        file = threads.uniform if uniform else threads.registers
        where = threads.warps if uniform else threads.mask
        value = np.asarray(value)
        np.copyto(file[number], (value & WORD).astype(np.uint32), where=where)
        if words == 2:
            np.copyto(file[number + 1], (value >> SHIFT).astype(np.uint32), where=where)

    return write


def float_writer(text: str, words: int = 1) -> Action:
    """Return the function that writes a float32, or a float64 of two words."""
    write = writer(text, words)
    bits, kind = _FLOATS[words]
    return lambda threads, value: write(threads, np.asarray(value, kind).view(bits).astype(np.uint64))


def truth_writer(text: str) -> Action:
    """Return the function that writes a predicate."""
    uniform = text.startswith("U")
    if text.endswith("T"):
        return lambda threads, value: None
    number = int(text[-1])

    def write(threads: Threads, value: Any) -> None:
        file, where = (threads.uniform_predicates, threads.warps) if uniform else (threads.predicates, threads.mask)
        np.copyto(file[number], value, where=where)

    return write


def truths_writer(text: str) -> Action:
    """Return the function that writes predicates: given bits, and which of the seven to write."""

    def write(threads: Threads, value: Any) -> None:
        for number in range(7):
            if int(value[1]) >> number & 1:
                np.copyto(threads.predicates[number], value[0] >> np.uint64(number) & ONE != 0, where=threads.mask)

    return write


def is_predicate(text: str) -> bool:
    return re.fullmatch(r"!?U?P[T\d]", text) is not None


pair = partial(integer, words=2)
pair_writer = partial(writer, words=2)
double_of = partial(float_of, words=2)
double_writer = partial(float_writer, words=2)


@dataclass(frozen=True)
class Rule:
    """What an operation computes: ``work(mods, *values)``, of its modifiers and of what its operands give.

    ``results`` make the writers of the first operands, ``operands`` the readers of the others. Of two results, work
    returns a pair. ``by_warp``: it takes rows of 32 lanes, first of all whether each is active.
    """

    work: Callable[..., Any]
    results: tuple[Callable[[str], Action], ...]
    operands: tuple[Callable[[str], Value], ...]
    by_warp: bool = False

    def __call__(self, mods: list[str], operands: list[str]) -> Run:
        texts = iter(operands)
        writers = [make(next(texts)) for make in self.results]
        gets = [make(text) for make, text in zip(self.operands, texts, strict=True)]

        def run(threads: Threads) -> None:
            values = [get(threads) for get in gets]
            if self.by_warp:
                values = [
                    np.broadcast_to(value, threads.mask.shape).reshape(-1, WARP_SIZE)
                    for value in (threads.mask, *values)
                ]
            try:
                found = self.work(mods, *values)
            except (KeyError, StopIteration) as error:
                raise UnknownInstruction(f"the modifiers {'.'.join(mods)}") from error
            for write, value in zip(writers, found if len(writers) > 1 else [found], strict=True):
                write(threads, value)

        return run


def _carries(operands: list[str]) -> tuple[str, list[str], list[str], list[str]]:
    """Return the result, the predicates written, the other operands, and the predicates read, in this order."""
    first, *rest = operands
    written, read = list[str](), list[str]()
    while rest and is_predicate(rest[0]):
        written.append(rest.pop(0))
    while rest and is_predicate(rest[-1]):
        read.insert(0, rest.pop())
    return first, written, rest, read


def added(part: Callable[..., Any], mods: list[str], operands: list[str]) -> Run:
    """Return what adds the carries to ``part`` of the operands, which is less than a few times 2^32."""
    target, written, sources, read = _carries(operands)
    values = [integer(source) for source in sources]
    carries_in = [predicate(name) for name in read] if "X" in mods else []
    write = writer(target)
    carries_out = [truth_writer(name) for name in written]

    def run(threads: Threads) -> None:
        total = part(mods, *[value(threads) for value in values])
        for carry in carries_in:
            total = total + carry(threads)
        write(threads, total)
        for count, out in enumerate(carries_out, 1):
            out(threads, total >> SHIFT >= np.uint64(count))

    return run


def lea(mods: list[str], a: Array, b: Array, *others: Any) -> Array:
    low = a & WORD
    by = others[-1]
    if "SX32" in mods:
        return ((signed(low) << by.astype(np.int64)).view(np.uint64) >> SHIFT) + b
    return ((low | others[0] << SHIFT) << by >> SHIFT if "HI" in mods else low << by & WORD) + b


def wide_product(mods: list[str], operands: list[str]) -> Run:
    """A product of 64 bits and a sum, or the upper word of it."""
    target, written, (a, b, c), read = _carries(operands)
    write = writer(target, 2 if "WIDE" in mods else 1)
    carries_out = [truth_writer(name) for name in written]
    x = integer(a)
    y = integer(b)
    z = pair(c)
    carries_in = [predicate(name) for name in read] if "X" in mods else []

    def run(threads: Threads) -> None:
        one, other = numbers(mods, x(threads), y(threads))
        product = (one * other).view(np.uint64)
        total = product + z(threads)
        over = total < product
        for carry in carries_in:
            total = total + carry(threads)
        write(threads, total if "WIDE" in mods else total >> SHIFT)
        for out in carries_out:
            out(threads, over)

    return run


def numbers(mods: list[str], *words: Array) -> list[Array]:
    """Return 32-bit words as numbers, with a sign unless the modifiers say otherwise."""
    return [np.asarray(word & WORD) if "U32" in mods else signed(word & WORD) for word in words]


def shift(mods: list[str], low: Array, by: Array, high: Array) -> Array:
    value = np.asarray(low | high << SHIFT)
    by = by & np.uint64(31) if "W" in mods else np.minimum(by, np.uint64(63))
    if "L" in mods:
        value = value << by
    elif {"S32", "S64"} & {*mods}:
        value = (value.view(np.int64) >> by.astype(np.int64)).view(np.uint64)
    else:
        value = value >> by
    return value >> SHIFT if "HI" in mods else value


def table3(a: Any, b: Any, c: Any, table: int, every: Any) -> Any:
    """Return the function of three bits that a table of eight gives; `every` has all bits set."""
    total: Any = a & ~a
    for row in range(8):
        if table >> row & 1:
            bits = (each if row & bit else each ^ every for each, bit in ((a, 4), (b, 2), (c, 1)))
            total = total | reduce(operator.and_, bits)
    return total


def logic(mods: list[str], operands: list[str]) -> Run:
    """A function of the bits of three words, and whether a bit of it is set, or the given predicate is true."""

    def work(mods: list[str], a: Array, b: Array, c: Array, table: Any, given: Array) -> tuple[Any, Any]:
        value = np.asarray(table3(a, b, c, int(table), WORD))
        return (np.logical_and if "PAND" in mods else np.logical_or)(value & WORD != 0, given), value

    every = operands if is_predicate(operands[0]) else ["PT", *operands]
    every = every if len(every) == 7 else [*every, "!PT"]
    return Rule(work, (truth_writer, writer), (raw, raw, raw, raw, predicate))(mods, every)


COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "LT": operator.lt, "LE": operator.le, "GT": operator.gt, "GE": operator.ge, "EQ": operator.eq, "NE": operator.ne,
}  # fmt: skip
JOIN: dict[str, Callable[[Any, Any], Any]] = {"AND": np.logical_and, "OR": np.logical_or, "XOR": np.logical_xor}


def _joined(mods: list[str], truth: Any, others: Any) -> tuple[Any, Any]:
    """Return a truth and its opposite, each joined with another one."""
    join = JOIN[next(m for m in mods if m in JOIN)]
    return join(truth, others), join(~np.asarray(truth), others)


def compare(mods: list[str], a: Array, b: Array, others: Array, low: Array | None = None) -> tuple[Any, Any]:
    """``low``: the comparison of the lower words, which decides where these upper ones are equal."""
    x, y = numbers(mods, a, b)
    truth = COMPARE[mods[0]](x, y)
    return _joined(mods, truth if low is None else np.where(x == y, low, truth), others)


def compare_floats(mods: list[str], x: Array, y: Array, others: Array) -> tuple[Any, Any]:
    """With MAX or MIN, whether to take the first one, also if the second one is NaN; and whether both are NaN."""
    how = mods[0]
    none = (np.isnan(x), np.isnan(y))
    if how in ("MAX", "MIN"):
        return _joined(mods, (x > y if how == "MAX" else x < y) | none[1], others)[0], none[0] & none[1]
    if how in ("NAN", "NUM"):
        return _joined(mods, (none[0] | none[1]) == (how == "NAN"), others)
    truth = COMPARE[how.removesuffix("U")](x, y)
    return _joined(mods, truth | none[0] | none[1] if how.endswith("U") else truth, others)


def smaller(mods: list[str], a: Array, b: Array, least: Array) -> Array:
    """The smaller of two integers where the predicate is true, the larger one where it is not."""
    x, y = numbers(mods, a, b)
    return np.where((x < y) == least, a, b)


def same(mods: list[str], value: Array) -> Array:
    return value


def to_uniform(mods: list[str], active: Array, value: Array) -> Array:
    """The value of the warp's first active lane."""
    return np.repeat(np.take_along_axis(value, active.argmax(axis=1)[:, None], axis=1), WARP_SIZE)


def vote(mods: list[str], operands: list[str]) -> Run:
    """Whether a predicate is true for all lanes of the warp that take part, or for any; and for which, as bits."""
    first, *others = operands
    write = None if is_predicate(first) else writer(first)
    write_truth = truth_writer(first if write is None else others[0])
    truth = predicate(operands[-1])
    bits = ONE << np.arange(WARP_SIZE, dtype=np.uint64)

    def run(threads: Threads) -> None:
        active = threads.mask.reshape(-1, WARP_SIZE)
        true = active & np.broadcast_to(truth(threads), threads.mask.shape).reshape(-1, WARP_SIZE)
        write_truth(threads, np.repeat((true == active).all(axis=1) if "ALL" in mods else true.any(axis=1), WARP_SIZE))
        if write is not None:
            write(threads, np.repeat((true * bits).sum(axis=1, dtype=np.uint64), WARP_SIZE))

    return run


def reduced(mods: list[str], active: Array, value: Array) -> Array:
    """A function of the words of the lanes of a warp that take part."""
    words = signed(value) if "S32" in mods else value.astype(np.int64)
    how, idle = {
        "SUM": (np.add, 0), "OR": (np.bitwise_or, 0), "XOR": (np.bitwise_xor, 0), "AND": (np.bitwise_and, -1),
        "MIN": (np.minimum, 2**40), "MAX": (np.maximum, -(2**40)),
    }[next((m for m in mods if m != "S32"), "AND")]  # fmt: skip
    found = how.reduce(np.where(active, words, idle), axis=1)
    return np.repeat(found.astype(np.int64).view(np.uint64) & WORD, WARP_SIZE)


def leading_one(mods: list[str], value: Array) -> Array:
    """The place of the highest bit that is set, all bits set for none; with SH, how far it is from the top."""
    word = np.asarray(value & WORD)
    place = np.frexp(word.astype(np.float64))[1].astype(np.int64) - 1
    place = 31 - place if "SH" in mods else place
    return np.where(word == 0, np.int64(-1), place).view(np.uint64) & WORD


def ones(mods: list[str], value: Array) -> Array:
    """The number of bits that are set."""
    return np.bitwise_count(np.asarray(value & WORD)).astype(np.uint64)


def reversed_bits(mods: list[str], value: Array) -> Array:
    bytes_ = np.ascontiguousarray(np.atleast_1d(value & WORD).astype(">u4")).view(np.uint8).reshape(-1, 4)
    bits = np.packbits(np.unpackbits(bytes_, axis=1)[:, ::-1], axis=1)
    return np.ascontiguousarray(bits).view(">u4")[:, 0].astype(np.uint64)


def extended(mods: list[str], value: Array, width: Array) -> Array:
    """The lowest bits of a word, with the sign of the highest of them; without, if unsigned."""
    by = (np.uint64(64) - np.minimum(width, np.uint64(32))) & np.uint64(63)
    high = np.asarray((value & WORD) << by)
    kept = high >> by if "U32" in mods else (high.view(np.int64) >> by.astype(np.int64)).view(np.uint64)
    return np.where(width == 0, np.uint64(0), kept) & WORD


def shuffle(mods: list[str], active: Array, value: Array, by: Array, limits: Array) -> tuple[Array, Array]:
    lane = np.arange(WARP_SIZE)
    n = by.astype(np.int64)
    bound = limits.astype(np.int64)
    group = bound >> 8 & 31
    last = (lane & group) | (bound & 31 & ~group)
    begin = lane & group
    source = {
        "IDX": begin | (n & 31 & ~group), "UP": lane - n, "DOWN": lane + n, "BFLY": lane ^ n,
    }[mods[0]]  # fmt: skip
    inside = source >= last if mods[0] == "UP" else source <= last
    return inside.ravel(), np.take_along_axis(value, np.where(inside, source, lane), axis=1).ravel()


def halves(mods: list[str], operands: list[str]) -> Run:
    """HFMA2 as the compiler uses it to write a constant: zero times zero, plus two immediates in half precision."""
    if [text.strip("-") for text in operands[1:3]] != ["RZ", "RZ"]:
        raise UnknownInstruction("HFMA2")
    high, low = (int(np.float16(float(text)).view(np.uint16)) for text in operands[3:5])
    write = writer(operands[0])
    word = np.uint64(high << 16 | low)
    return lambda threads: write(threads, word)


def byte_choice(mods: list[str], a: Array, how: Array, b: Array) -> Any:
    total: Any = np.uint64(0)
    for byte in range(4):
        at = how >> np.uint64(4 * byte) & np.uint64(15)
        value = (a | b << SHIFT) >> (at & np.uint64(7)) * np.uint64(8) & np.uint64(255)
        sign = np.where(value >> np.uint64(7), np.uint64(255), np.uint64(0))
        total = total | np.where(at >> np.uint64(3), sign, value) << np.uint64(8 * byte)
    return total


def least_float(mods: list[str], a: Array, b: Array, least: Array) -> Any:
    return np.where(least, min_or_max(np.fmin, a, b, True), min_or_max(np.fmax, a, b, True))


def fused(a: Array, b: Array, c: Array) -> Array:
    """Return a·b + c, rounded once (but for the rare sum that rounds twice by way of float64)."""
    return (a.astype(np.float64) * b + c).astype(np.float32)


def floats(work: Callable[..., Any], count: int, words: int = 1) -> Rule:
    """Return the rule of a function of so many floats."""
    results, operands = (float_writer, float_of) if words == 1 else (double_writer, double_of)
    return Rule(lambda mods, *values: work(*values), (results,), (operands,) * count)


def to_float(mods: list[str], operands: list[str]) -> Run:
    """An integer as a float, to the nearest one, or with RP or RZ not below or not above it."""
    wide = {"S64", "U64"} & {*mods}
    unsigned = {"U8", "U16", "U32", "U64"} & {*mods}
    bits = next((int(m[1:]) for m in mods if m in ("U8", "S8", "U16", "S16")), 32)
    text, _, part = operands[1].partition(".B") if ".B" in operands[1] else operands[1].partition(".H")
    begin = int(part or 0) * (8 if ".B" in operands[1] else 16)
    double = "F64" in mods
    ends = np.inf if "RP" in mods else -np.inf if "RM" in mods else None

    def work(mods: list[str], value: Array) -> Array:
        x = np.asarray(value)
        if not wide:
            x = np.asarray((x & WORD) << np.uint64(64 - bits - begin))
            x = x >> np.uint64(64 - bits) if unsigned else (x.view(np.int64) >> np.int64(64 - bits)).view(np.uint64)
        x = x if unsigned else x.view(np.int64)
        found = x.astype(np.float64 if double else np.float32)
        if ends is not None and not double:
            beyond = found.astype(np.float64) < x if ends > 0 else found.astype(np.float64) > x
            found = np.where(beyond, np.nextafter(found, np.float32(ends)), found)
        return found

    return Rule(work, (double_writer if double else float_writer,), (pair if wide else integer,))(
        mods, [operands[0], text]
    )


ROUNDED: dict[str, Callable[[Any], Any]] = {"TRUNC": np.trunc, "FLOOR": np.floor, "CEIL": np.ceil}


def rounded(mods: list[str], value: Array) -> Array:
    return next((work for name, work in ROUNDED.items() if name in mods), np.rint)(value)


def to_integer(mods: list[str], operands: list[str]) -> Run:
    """A float as an integer; one that is too large becomes the largest, and NaN 0 (in 64 bits the lowest bit set)."""
    kind = next((m for m in mods if re.fullmatch(r"[US](8|16|32|64)", m)), "S32")
    bits = int(kind[1:])
    wide = kind[1:] == "64"
    low, high = (0, 2**bits - 1) if kind[0] == "U" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    number = np.uint64 if kind[0] == "U" else np.int64

    def work(mods: list[str], value: Array) -> Array:
        whole = np.asarray(rounded(mods, value.astype(np.float64)))
        inside = np.where((whole > low) & (whole < high), whole, 0.0).astype(number)
        found = np.where(whole >= high, number(high), np.where(whole <= low, number(low), inside))
        found = np.where(np.isnan(whole), number(-(2**63) if wide and kind[0] == "S" else 0), found)
        return found.view(np.uint64)

    return Rule(work, (writer if not wide else pair_writer,), (double_of if "F64" in mods else float_of,))(
        mods, operands
    )


def float_to_float(mods: list[str], operands: list[str]) -> Run:
    target, source = (m for m in mods if m in ("F32", "F64"))
    write = double_writer if target == "F64" else float_writer
    get = double_of if source == "F64" else float_of
    return Rule(same, (write,), (get,))(mods, operands)


def upper_half(work: Callable[[Any], Any]) -> Rule:
    """The upper word of a function of a float64, of whose words the upper one is given."""

    def upper(mods: list[str], high: Array) -> Array:
        value = np.asarray((high & WORD) << SHIFT).view(np.float64)
        return np.asarray(work(value)).view(np.uint64) >> SHIFT

    return Rule(upper, (writer,), (raw,))


def needs_care(mods: list[str], a: Array, b: Array) -> Array:
    """Whether a division is left to the subroutine for very small and very large floats."""
    ea, eb = (np.frexp(x)[1] for x in (a, b))
    odd = ~np.isfinite(a) | ~np.isfinite(b) | (b == 0)
    return odd | (abs(eb) > 124) | (abs(ea - eb) > 124) | ((abs(ea) > 102) & (ea < 0) & (a != 0))


def least_sum(mods: list[str], a: Array, b: Array, c: Array, least: Array) -> Array:
    return smaller(mods, (a + b) & WORD, c & WORD, least)


def barrier_move(mods: list[str], operands: list[str]) -> Run:
    """A convergence barrier's members to a register, and back."""
    if operands[0].startswith("B"):
        number = int(operands[0][1:])
        get = raw(operands[1])

        def restore(threads: Threads) -> None:
            np.copyto(
                threads.barriers[number],
                np.broadcast_to(get(threads), threads.mask.shape).astype(np.int64),
                where=threads.mask,
            )

        return restore
    write = writer(operands[0])
    number = int(operands[1][1:])

    def save(threads: Threads) -> None:
        write(threads, threads.barriers[number].astype(np.uint64))
        if "CLEAR" in mods:
            threads.barriers[number][threads.mask] = 0

    return save


def barrier_result(mods: list[str], operands: list[str]) -> Run:
    """What the last barrier that counts votes found: a number, and whether it is not zero."""
    if mods != ["RESULT"]:
        raise UnknownInstruction(".".join(["B2R", *mods]))
    number = writer(operands[0])
    truth = truth_writer(operands[1] if len(operands) > 1 else "PT")

    def read(threads: Threads) -> None:
        number(threads, threads.voted)
        truth(threads, threads.voted != 0)

    return read


def nothing(mods: list[str], operands: list[str]) -> Run:
    return lambda threads: None


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "RCP": np.reciprocal, "SQRT": np.sqrt, "RSQ": lambda x: 1 / np.sqrt(x), "EX2": np.exp2, "LG2": np.log2,
    "SIN": np.sin, "COS": np.cos, "TANH": np.tanh,
}  # fmt: skip
#: What each operation does, by its name, or by that and one of its modifiers; uniform operations are those of the same
#: name without U.
OPERATIONS: dict[str, Callable[[list[str], list[str]], Run]] = {
    **dict.fromkeys(("IADD3", "VIADD", "IADD"), partial(added, lambda mods, *values: reduce(operator.add, values))),
    "IMAD": partial(added, lambda mods, a, b, c: (a * b & WORD) + c),
    **dict.fromkeys(("IMAD.WIDE", "IMAD.HI"), wide_product),
    "LEA": partial(added, lea),
    "SHF": Rule(shift, (writer,), (raw, raw, raw)),
    "LOP3": logic,
    "PLOP3": Rule(
        lambda mods, a, b, c, *tables: [table3(a, b, c, int(table), True) for table in tables],
        (truth_writer, truth_writer),
        (predicate, predicate, predicate, raw, raw),
    ),
    "ISETP": Rule(compare, (truth_writer, truth_writer), (integer, integer, predicate)),
    "ISETP.EX": Rule(compare, (truth_writer, truth_writer), (integer, integer, predicate, predicate)),
    "FSETP": Rule(compare_floats, (truth_writer, truth_writer), (float_of, float_of, predicate)),
    "DSETP": Rule(compare_floats, (truth_writer, truth_writer), (double_of, double_of, predicate)),
    "SEL": Rule(lambda mods, a, b, truth: np.where(truth, a, b), (writer,), (integer, integer, predicate)),
    "FSEL": Rule(lambda mods, a, b, truth: np.where(truth, a, b), (float_writer,), (float_of, float_of, predicate)),
    **dict.fromkeys(("VIMNMX", "IMNMX"), Rule(smaller, (writer,), (integer, integer, predicate))),
    "FMNMX": Rule(least_float, (float_writer,), (float_of, float_of, predicate)),
    "MOV": Rule(same, (writer,), (raw,)),
    "CS2R": Rule(same, (pair_writer,), (zero,)),
    "CS2R.32": Rule(same, (writer,), (zero,)),
    **dict.fromkeys(("S2R", "S2UR"), Rule(same, (writer,), (special,))),
    "LDC": Rule(same, (writer,), (constant_at,)),
    "LDC.64": Rule(same, (pair_writer,), (partial(constant_at, size=8),)),
    **{
        f"LDC.{kind}": Rule(same, (writer,), (partial(constant_at, size=size, signed=kind[0] == "S"),))
        for kind, size in (("U8", 1), ("S8", 1), ("U16", 2), ("S16", 2))
    },
    "R2UR": Rule(to_uniform, (writer,), (raw,), by_warp=True),
    **dict.fromkeys(("VOTE", "VOTEU"), vote),
    "REDUX": Rule(reduced, (writer,), (raw,), by_warp=True),
    "FLO": Rule(leading_one, (writer,), (integer,)),
    "POPC": Rule(ones, (writer,), (integer,)),
    "BREV": Rule(reversed_bits, (writer,), (integer,)),
    "SGXT": Rule(extended, (writer,), (raw, raw)),
    "SHFL": Rule(shuffle, (truth_writer, writer), (raw, raw, raw), by_warp=True),
    "P2R": Rule(lambda mods, truths, a, mask: a & ~mask | truths & mask, (writer,), (all_truths, raw, raw)),
    "R2P": Rule(lambda mods, *given: given, (truths_writer,), (raw, raw)),
    "HFMA2": halves,
    "IABS": Rule(lambda mods, value: np.abs(signed(value & WORD)).view(np.uint64), (writer,), (integer,)),
    "PRMT": Rule(byte_choice, (writer,), (raw, raw, raw)),
    "FFMA": floats(fused, 3),
    "FADD": floats(np.add, 2),
    "FMUL": floats(np.multiply, 2),
    "DFMA": floats(lambda a, b, c: a * b + c, 3, 2),
    "DADD": floats(np.add, 2, 2),
    "DMUL": floats(np.multiply, 2, 2),
    **{f"MUFU.{name}": floats(work, 1) for name, work in FUNCTIONS.items()},
    "MUFU.RCP64H": upper_half(np.reciprocal),
    "MUFU.RSQ64H": upper_half(lambda x: 1 / np.sqrt(x)),
    **dict.fromkeys(("I2F", "I2FP"), to_float),
    "F2I": to_integer,
    "F2F": float_to_float,
    "FRND": Rule(rounded, (float_writer,), (float_of,)),
    "FRND.F64": Rule(rounded, (double_writer,), (double_of,)),
    "FCHK": Rule(needs_care, (truth_writer,), (float_of, float_of)),
    "BMOV": barrier_move,
    "B2R": barrier_result,
    "VIADDMNMX": Rule(least_sum, (writer,), (integer, integer, integer, predicate)),
    **dict.fromkeys(("BRA.DIV", "UBRA.DIV"), nothing),  # the warp is together
    **dict.fromkeys(("NOP", "YIELD", "NANOSLEEP", "DEPBAR", "LDGDEPBAR", "MEMBAR", "ERRBAR", "CCTL"), nothing),
}
#: Operations with a modifier with which they are not known.
REFUSED = {"IADD3.64", "LDC.128", "F2F.F16", "F2F.BF16", "WARPSYNC.COLLECTIVE"}


def action(operation: str, operands: list[str]) -> Run:
    """Return what an instruction does to the threads that run it; both raise UnknownInstruction."""
    name, *mods = operation.split(".")
    name = name if name in OPERATIONS or not name.startswith("U") else name[1:]
    keys = [name, *(f"{name}.{mod}" for mod in mods)]
    known = [OPERATIONS[key] for key in keys if key in OPERATIONS]
    if not known or REFUSED & {*keys}:
        raise UnknownInstruction(operation)
    try:
        return known[-1](mods, list(operands))
    except (IndexError, KeyError, ValueError, StopIteration) as error:
        raise UnknownInstruction(f"{operation} {', '.join(operands)}") from error
