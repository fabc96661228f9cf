"""What machine instructions do: each becomes a function of the registers of a block's threads.

Registers are rows of 32-bit words, one column a thread. Those that all lanes of a warp have in common are held for each
lane. The meaning of operations is known from NVIDIA's list of mnemonics, from the PTX that they implement, and from
what they compute: tests hold the products of emulated kernels against NumPy.
"""

import operator
import re
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import numpy as np

from ...simulator.arithmetic import extreme
from ...simulator.hardware import WARP_SIZE
from .threads import Threads, UnknownInstruction

Array = np.ndarray
#: A value of every thread: an array of 32-bit words or of truths.
Value = Callable[["Threads"], Any]
Action = Callable[["Threads", Any], None]

WORD = np.uint64(0xFFFFFFFF)
SHIFT = np.uint64(32)
ONE = np.uint64(1)


def split(text: str) -> list[str]:
    """Return the operands of an instruction, separated by commas outside of `[]` and parentheses."""
    return [part.strip() for part in re.split(r",(?![^\[]*\])(?![^(]*\))", text)] if text.strip() else []


def predicate(text: str) -> Value:
    """Return the truth of a predicate such as "!P0" or "UPT"."""
    negated, name = text.startswith("!"), text.lstrip("!").replace(".reuse", "")
    uniform = name.startswith("U")
    number = 7 if name.endswith("T") else int(name[-1])

    def get(t: Threads) -> Array:
        truth = (t.uniform_predicates if uniform else t.predicates)[number]
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
        return lambda t: wide
    if found := re.fullmatch(r"c\[(0x\w+)\]\[(0x\w+)\]", text):
        if found[1] != "0x0":
            raise UnknownInstruction(f"constants of bank {found[1]}")
        at = int(found[2], 16)
        return lambda t: t.constant(at, 4 * words)
    if (place := _place(text)) is None:
        raise UnknownInstruction(f"operand {text}")
    uniform, number = place[0] == "U", place[1]

    def get(t: Threads) -> Array:
        file = t.uniform if uniform else t.registers
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
        return lambda t: value(t) ^ (WORD if words == 1 else ~np.uint64(0))
    return lambda t: (ONE << SHIFT) - value(t) if words == 1 else np.uint64(0) - value(t)


def signed(value: Array) -> Array:
    """Return 32-bit words as int64."""
    return np.asarray(value).astype(np.uint32).view(np.int32).astype(np.int64)


def float_of(text: str, words: int = 1) -> Value:
    """Return an operand as float32, or as float64 of two words, with its sign and its amount."""
    inner = text if words == 1 and _constant(text) is not None else text.replace(".reuse", "").strip("-+|")
    value, negative, amount = raw(inner, words), text.startswith("-") and inner != text, "|" in text
    bits, kind = (np.uint32, np.float32) if words == 1 else (np.uint64, np.float64)

    def get(t: Threads) -> Array:
        number: Any = np.asarray(value(t)).astype(bits).view(kind)
        number = np.abs(number) if amount else number
        return -number if negative else number

    return get


double_of = partial(float_of, words=2)


def writer(text: str, words: int = 1) -> Action:
    """Return the function that writes a register, or several in sequence: given uint64 for one or two words."""
    place = _place(text.removesuffix(".64"))
    if place is None:
        raise UnknownInstruction(f"result {text}")
    uniform, number = place[0] == "U", place[1]
    if number == (63 if uniform else 255):
        return lambda t, value: None

    def put(t: Threads, value: Any) -> None:
        file = t.uniform if uniform else t.registers
        where = t.warps if uniform else t.mask
        value = np.asarray(value)
        np.copyto(file[number], (value & WORD).astype(np.uint32), where=where)
        if words == 2:
            np.copyto(file[number + 1], (value >> SHIFT).astype(np.uint32), where=where)

    return put


def float_writer(text: str) -> Action:
    """Return the function that writes a float32."""
    put = writer(text)
    return lambda t, value: put(t, np.asarray(value, np.float32).view(np.uint32).astype(np.uint64))


def truth_writer(text: str) -> Action:
    """Return the function that writes a predicate."""
    uniform = text.startswith("U")
    if text.endswith("T"):
        return lambda t, value: None
    number = int(text[-1])

    def put(t: Threads, value: Any) -> None:
        file, where = (t.uniform_predicates, t.warps) if uniform else (t.predicates, t.mask)
        np.copyto(file[number], value, where=where)

    return put


def is_predicate(text: str) -> bool:
    return re.fullmatch(r"!?U?P[T\d]", text) is not None


def _carries(operands: list[str]) -> tuple[str, list[str], list[str], list[str]]:
    """Return the result, the predicates written, the other operands, and the predicates read, in this order."""
    first, *rest = operands
    written, read = list[str](), list[str]()
    while rest and is_predicate(rest[0]):
        written.append(rest.pop(0))
    while rest and is_predicate(rest[-1]):
        read.insert(0, rest.pop())
    return first, written, rest, read


def _added(part: Callable[[list[str]], Value], mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    """Return what adds the carries to ``part`` of the operands, which is less than a few times 2^32."""
    target, written, sources, read = _carries(operands)
    value, ins = part(sources), [predicate(p) for p in read] if "X" in mods else []
    put, outs = writer(target), [truth_writer(p) for p in written]

    def run(t: Threads) -> None:
        total = value(t)
        for carry in ins:
            total = total + carry(t)
        put(t, total)
        for count, out in enumerate(outs, 1):
            out(t, total >> SHIFT >= np.uint64(count))

    return run


def _total(sources: list[str]) -> Value:
    values = [integer(s) for s in sources]
    return lambda t: reduce(operator.add, (value(t) for value in values))


add3 = partial(_added, _total)


def _product(sources: list[str]) -> Value:
    a, b, c = (integer(s) for s in sources)
    return lambda t: (a(t) * b(t) & WORD) + c(t)


def multiply(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    wide, unsigned = "WIDE" in mods, "U32" in mods
    if not wide and "HI" not in mods:
        return _added(_product, mods, operands)
    target, written, sources, read = _carries(operands)
    a, b, c = integer(sources[0]), integer(sources[1]), integer(sources[2], 2)
    put, outs = writer(target, 2 if wide else 1), [truth_writer(p) for p in written]
    ins = [predicate(p) for p in read] if "X" in mods else []

    def run(t: Threads) -> None:
        x, y = a(t) & WORD, b(t) & WORD
        product = x * y if unsigned else (signed(x) * signed(y)).view(np.uint64)
        total = product + c(t)
        over = total < product
        for carry in ins:
            total = total + carry(t)
        put(t, total if wide else total >> SHIFT)
        for out in outs:
            out(t, over)

    return run


def lea(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    high, extended = "HI" in mods, "SX32" in mods

    def part(sources: list[str]) -> Value:
        shift = np.uint64(int(sources.pop(), 16))
        a, b = integer(sources[0]), integer(sources[1])
        c = raw(sources[2] if high and not extended else "RZ")

        def get(t: Threads) -> Array:
            low = a(t) & WORD
            if extended:
                return ((signed(low) << np.int64(shift)).view(np.uint64) >> SHIFT) + b(t)
            return ((low | c(t) << SHIFT) << shift >> SHIFT if high else low << shift & WORD) + b(t)

        return get

    return _added(part, mods, operands)


def shift(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    target, low, amount, high = operands
    put, a, n, c = writer(target), raw(low), raw(amount), raw(high)
    left, upper, wraps, arithmetic = "L" in mods, "HI" in mods, "W" in mods, {"S32", "S64"} & {*mods}

    def run(t: Threads) -> None:
        value = np.asarray(a(t) | c(t) << SHIFT)
        by = n(t) & np.uint64(31) if wraps else np.minimum(n(t), np.uint64(63))
        if left:
            value = value << by
        elif arithmetic:
            value = (value.view(np.int64) >> by.astype(np.int64)).view(np.uint64)
        else:
            value = value >> by
        put(t, value >> SHIFT if upper else value)

    return run


def table3(a: Any, b: Any, c: Any, table: int, every: Any) -> Any:
    """Return the function of three bits that a table of eight gives; `every` has all bits set."""
    total: Any = a & ~a
    for row in range(8):
        if table >> row & 1:
            bits = (each if row & bit else each ^ every for each, bit in ((a, 4), (b, 2), (c, 1)))
            total = total | reduce(operator.and_, bits)
    return total


def logic(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    truths = []
    if is_predicate(operands[0]):
        truths.append(truth_writer(operands.pop(0)))
    put, (a, b, c), table = writer(operands[0]), map(raw, operands[1:4]), int(operands[4], 16)

    def run(t: Threads) -> None:
        value = np.asarray(table3(a(t), b(t), c(t), table, WORD))
        put(t, value)
        for out in truths:
            out(t, value & WORD != 0)

    return run


def predicate_logic(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    outs = [truth_writer(p) for p in operands[:2]]
    a, b, c = (predicate(p) for p in operands[2:5])
    tables = [int(text, 16) for text in operands[5:7]]

    def run(t: Threads) -> None:
        values = a(t), b(t), c(t)
        found = [table3(*values, table, True) for table in tables]
        for out, value in zip(outs, found, strict=True):
            out(t, value)

    return run


COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "LT": operator.lt, "LE": operator.le, "GT": operator.gt, "GE": operator.ge, "EQ": operator.eq, "NE": operator.ne,
}  # fmt: skip
JOIN: dict[str, Callable[[Any, Any], Any]] = {"AND": np.logical_and, "OR": np.logical_or, "XOR": np.logical_xor}


def _compared(holds: Value, mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    join = JOIN[next(m for m in mods if m in JOIN)]
    out, opposite, given = truth_writer(operands[0]), truth_writer(operands[1]), predicate(operands[4])

    def run(t: Threads) -> None:
        truth, others = np.asarray(holds(t)), given(t)
        out(t, join(truth, others))
        opposite(t, join(~truth, others))

    return run


def compare(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    unsigned, compared = "U32" in mods, COMPARE[mods[0]]
    a, b, low = integer(operands[2]), integer(operands[3]), predicate(operands[5]) if "EX" in mods else None

    def holds(t: Threads) -> Array:
        x, y = a(t) & WORD, b(t) & WORD
        if not unsigned:
            x, y = signed(x), signed(y)
        return compared(x, y) if low is None else np.where(x == y, low(t), compared(x, y))

    return _compared(holds, mods, operands)


def compare_floats(value: Callable[[str], Value], mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    compared, unordered = COMPARE[mods[0].removesuffix("U")], mods[0].endswith("U")
    a, b = value(operands[2]), value(operands[3])

    def holds(t: Threads) -> Array:
        x, y = a(t), b(t)
        return compared(x, y) | np.isnan(x) | np.isnan(y) if unordered else compared(x, y)

    return _compared(holds, mods, operands)


def select(write: Callable[[str], Action], read: Callable[[str], Value], mods: list[str], operands: list[str]) -> Any:
    put, a, b, chosen = write(operands[0]), read(operands[1]), read(operands[2]), predicate(operands[3])
    return lambda t: put(t, np.where(chosen(t), a(t), b(t)))


def smaller(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    """The smaller of two integers where the predicate is true, the larger one where it is not."""
    put, a, b, least = writer(operands[0]), integer(operands[1]), integer(operands[2]), predicate(operands[-1])
    unsigned = "U32" in mods

    def run(t: Threads) -> None:
        x, y = a(t) & WORD, b(t) & WORD
        less = x < y if unsigned else signed(x) < signed(y)
        put(t, np.where(np.asarray(less) == least(t), x, y))

    return run


def move(words: int, mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    put, value = writer(operands[0], words), raw(operands[1], words)
    return lambda t: put(t, value(t))


def zeros(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    if operands[1] != "SRZ":
        raise UnknownInstruction(f"CS2R of {operands[1]}")
    put = writer(operands[0], 1 if "32" in mods else 2)
    return lambda t: put(t, np.uint64(0))


def special(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    put, name = writer(operands[0]), operands[1]
    return lambda t: put(t, t.special(name))


def to_uniform(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    put, value = writer(operands[0]), raw(operands[1])

    def run(t: Threads) -> None:  # that of the warp's first active lane
        lanes = np.broadcast_to(value(t), t.mask.shape).reshape(-1, WARP_SIZE)
        first = t.mask.reshape(-1, WARP_SIZE).argmax(axis=1)
        put(t, np.repeat(lanes[np.arange(len(lanes)), first], WARP_SIZE))

    return run


def vote(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    """Whether a predicate is true for all lanes of the warp that take part, or for any."""
    if len(operands) != 2 or mods[0] not in ("ALL", "ANY"):
        raise UnknownInstruction(f"VOTE.{mods[0]} of {len(operands)} operands")
    out, value, every = truth_writer(operands[0]), predicate(operands[1]), mods[0] == "ALL"

    def run(t: Threads) -> None:
        truth = np.broadcast_to(value(t) | ~t.mask if every else value(t) & t.mask, t.mask.shape)
        lanes = truth.reshape(-1, WARP_SIZE)
        out(t, np.repeat(lanes.all(axis=1) if every else lanes.any(axis=1), WARP_SIZE))

    return run


def pack(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    put, value, mask = writer(operands[0]), raw(operands[2]), int(operands[3], 16)

    def run(t: Threads) -> None:
        bits: Any = value(t) & np.uint64(~mask & 0xFFFFFFFF)
        for number in range(7):
            if mask >> number & 1:
                bits = bits | t.predicates[number].astype(np.uint64) << np.uint64(number)
        put(t, bits)

    return run


def unpack(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    value, mask = raw(operands[1]), int(operands[2], 16)
    outs = [(number, truth_writer(f"P{number}")) for number in range(7) if mask >> number & 1]

    def run(t: Threads) -> None:
        bits = value(t)
        for number, out in outs:
            out(t, bits >> np.uint64(number) & ONE != 0)

    return run


def halves(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    """HFMA2 as the compiler uses it to write a constant: zero times zero, plus two immediates in half precision."""
    if [text.strip("-") for text in operands[1:3]] != ["RZ", "RZ"]:
        raise UnknownInstruction("HFMA2")
    high, low = (int(np.float16(float(text)).view(np.uint16)) for text in operands[3:5])
    put, word = writer(operands[0]), np.uint64(high << 16 | low)
    return lambda t: put(t, word)


def floats(work: Callable[..., Any], mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    put, values = float_writer(operands[0]), [float_of(text) for text in operands[1:] if not is_predicate(text)]
    return lambda t: put(t, work(*(value(t) for value in values)))


def fused(a: Array, b: Array, c: Array) -> Array:
    """Return a·b + c, rounded once (but for the rare sum that rounds twice by way of float64)."""
    return (a.astype(np.float64) * b + c).astype(np.float32)


def doubles(work: Callable[..., Any], mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    put, values = writer(operands[0], 2), [double_of(text) for text in operands[1:]]
    return lambda t: put(t, np.asarray(work(*(value(t) for value in values)), np.float64).view(np.uint64))


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "RCP": np.reciprocal, "SQRT": np.sqrt, "RSQ": lambda x: 1 / np.sqrt(x), "EX2": np.exp2, "LG2": np.log2,
    "SIN": np.sin, "COS": np.cos, "TANH": np.tanh,
}  # fmt: skip


def function(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    return floats(FUNCTIONS[mods[0]], mods, operands)


def to_float(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    double, wide = "F64" in mods, "S64" in mods or "U64" in mods
    unsigned = "U32" in mods or "U64" in mods
    value = integer(operands[1], 2 if wide else 1)
    put = writer(operands[0], 2) if double else float_writer(operands[0])

    def run(t: Threads) -> None:
        x = np.asarray(value(t))
        number = x if unsigned else x.view(np.int64) if wide else signed(x & WORD)
        put(t, number.astype(np.float64).view(np.uint64) if double else number.astype(np.float32))

    return run


def to_integer(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    if "F64" in mods or not ({"TRUNC", "FLOOR"} & {*mods}):
        raise UnknownInstruction("F2I")
    value, put = float_of(operands[1]), writer(operands[0])
    low, high = (0, 2**32 - 1) if "U32" in mods else (-(2**31), 2**31 - 1)
    round_ = np.trunc if "TRUNC" in mods else np.floor

    def run(t: Threads) -> None:
        number = np.nan_to_num(round_(value(t).astype(np.float64)), nan=0.0)
        put(t, np.clip(number, low, high).astype(np.int64).view(np.uint64))

    return run


def shuffle(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    out, put, value, by, limits = (
        truth_writer(operands[0]), writer(operands[1]), raw(operands[2]), raw(operands[3]), raw(operands[4])
    )  # fmt: skip
    lane = np.arange(WARP_SIZE)
    way = mods[0]

    def run(t: Threads) -> None:
        given = np.broadcast_to(value(t), t.mask.shape).reshape(-1, WARP_SIZE)
        n = np.broadcast_to(by(t), t.mask.shape).reshape(-1, WARP_SIZE).astype(np.int64)
        bound = np.broadcast_to(limits(t), t.mask.shape).reshape(-1, WARP_SIZE).astype(np.int64)
        group = bound >> 8 & 31
        last, begin = (lane & group) | (bound & 31 & ~group), lane & group
        source = {
            "IDX": begin | (n & 31 & ~group), "UP": lane - n, "DOWN": lane + n, "BFLY": lane ^ n,
        }[way]  # fmt: skip
        inside = source >= last if way == "UP" else source <= last
        source = np.where(inside, source, lane)
        put(t, np.take_along_axis(given, source, axis=1).ravel())
        out(t, inside.ravel())

    return run


def byte_choice(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    put, a, chosen, b = writer(operands[0]), raw(operands[1]), raw(operands[2]), raw(operands[3])

    def run(t: Threads) -> None:
        total: Any = np.uint64(0)
        source, how = a(t) | b(t) << SHIFT, chosen(t)
        for byte in range(4):
            at = how >> np.uint64(4 * byte) & np.uint64(15)
            value = source >> (at & np.uint64(7)) * np.uint64(8) & np.uint64(255)
            sign = np.where(value >> np.uint64(7), np.uint64(255), np.uint64(0))
            total = total | np.where(at >> np.uint64(3), sign, value) << np.uint64(8 * byte)
        put(t, total)

    return run


def amount(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    put, value = writer(operands[0]), integer(operands[1])
    return lambda t: put(t, np.abs(signed(value(t) & WORD)).view(np.uint64))


def least_float(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    put, a, b, least = float_writer(operands[0]), float_of(operands[1]), float_of(operands[2]), predicate(operands[-1])
    return lambda t: put(t, np.where(least(t), extreme(np.fmin, a(t), b(t), True), extreme(np.fmax, a(t), b(t), True)))


def nothing(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    return lambda t: None


#: What each operation does, by its name without modifiers; uniform operations are those of the same name without U.
OPERATIONS: dict[str, Callable[[list[str], list[str]], Callable[[Any], None]]] = {
    "IADD3": add3, "VIADD": add3, "IADD": add3, "IMAD": multiply, "LEA": lea, "SHF": shift, "LOP3": logic,
    "PLOP3": predicate_logic, "ISETP": compare, "SEL": partial(select, writer, integer), "MOV": partial(move, 1),
    "CS2R": zeros, "S2R": special, "S2UR": special, "R2UR": to_uniform, "P2R": pack, "R2P": unpack, "HFMA2": halves,
    "VIMNMX": smaller, "IMNMX": smaller, "IABS": amount, "PRMT": byte_choice, "FFMA": partial(floats, fused),
    "FADD": partial(floats, np.add), "FMUL": partial(floats, np.multiply), "FMNMX": least_float,
    "FSEL": partial(select, float_writer, float_of), "FSETP": partial(compare_floats, float_of),
    "DSETP": partial(compare_floats, double_of), "DADD": partial(doubles, np.add),
    "DMUL": partial(doubles, np.multiply), "DFMA": partial(doubles, lambda a, b, c: a * b + c), "MUFU": function,
    "I2F": to_float, "I2FP": to_float, "F2I": to_integer, "SHFL": shuffle, "VOTE": vote, "VOTEU": vote,
    **dict.fromkeys(
        ("BSSY", "BSYNC", "BREAK", "NOP", "WARPSYNC", "YIELD", "DEPBAR", "LDGDEPBAR", "MEMBAR", "ERRBAR", "CCTL"),
        nothing,
    ),
}  # fmt: skip


def action(operation: str, operands: list[str]) -> Callable[[Any], None]:
    """Return what an instruction does to the threads that run it; raise UnknownInstruction."""
    name, *mods = operation.split(".")
    if name in ("LDC", "ULDC"):
        return _load_constant(mods, operands)
    known = OPERATIONS.get(name) or (OPERATIONS.get(name[1:]) if name.startswith("U") else None)
    if known is None:
        raise UnknownInstruction(operation)
    try:
        return known(mods, list(operands))
    except (IndexError, KeyError, ValueError, StopIteration) as error:
        raise UnknownInstruction(f"{operation} {', '.join(operands)}") from error


def _load_constant(mods: list[str], operands: list[str]) -> Callable[[Any], None]:
    words = 2 if "64" in mods else 1
    found = re.fullmatch(r"c\[0x0\]\[(?:(U?R(?:Z|\d+))\+?)?(-?0x\w+)?\]", operands[1])
    if found is None or {"U8", "S8", "U16", "S16", "128"} & {*mods}:
        raise UnknownInstruction(f"LDC {operands[1]}")
    put, base, offset = writer(operands[0], words), raw(found[1] or "RZ"), int(found[2] or "0", 16)

    def run(t: Threads) -> None:
        at = base(t)
        if np.any(at != np.broadcast_to(at, t.mask.shape)[t.mask.argmax()]):
            raise UnknownInstruction("a constant at a place that differs between threads")
        put(t, t.constant(int(np.broadcast_to(at, t.mask.shape)[t.mask.argmax()]) + offset, 4 * words))

    return run
