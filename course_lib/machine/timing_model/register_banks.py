"""The two banks of registers: which registers an instruction reads, and when multiply-adds start that wait for them."""

from collections.abc import Mapping, Sequence

from ..machine_code.instructions import REGISTER


def register_reads(text: str, reused: Mapping[int, str]) -> tuple[tuple[list[int], list[int]], dict[int, str]]:
    """Return the registers that an instruction reads, the even and the odd ones, and the operands that may be reused.

    reused: those of the instruction before, by their places. An operand marked `.reuse` is not read again by the next
    instruction, if that has it in the same place.
    """
    operands = [operand.strip() for operand in text.partition(",")[2].split(",")]
    banks: tuple[list[int], list[int]] = [], []
    for place, operand in enumerate(operands):
        register = REGISTER.search(operand)
        if register is None or reused.get(place) == register[1]:
            continue
        number = int(register[1])
        if number not in banks[number % 2]:
            words = 2 if ".64" in operand else 1
            for read in range(number, number + words):
                banks[read % 2].append(read)
    marked = {place: REGISTER.search(operand) for place, operand in enumerate(operands) if ".reuse" in operand}
    return banks, {place: register[1] for place, register in marked.items() if register}


def bank_queue(code: Sequence[str]) -> list[tuple[int, list[int], list[int]]]:
    """Return for each multiply-add when it starts, if only registers hold it, and the even and odd registers it reads.

    It is a model, not a documented rule: the bank of the even registers and that of the odd ones each deliver one
    register in a cycle. An operand that is reused is not
    delivered again. A multiply-add starts a cycle after the one before it, or as soon as the banks that it reads have
    delivered what was asked for before.

    >>> timing_model.bank_queue(["FFMA R4, R2, R3, R4", "FFMA R6, R2, R8, R6"])
    [(0, [2, 4], [3]), (2, [2, 8, 6], [])]
    """
    queue = list[tuple[int, list[int], list[int]]]()
    reused = dict[int, str]()
    start = -1
    free = [0, 0]
    for line in code:
        reads, reused = register_reads(line, reused)
        if "FFMA" in line:
            start = max([start + 1, *(at for at, asked in zip(free, reads, strict=True) if asked)])
            free = [max(at, start) + len(asked) if asked else at for at, asked in zip(free, reads, strict=True)]
            queue.append((start, *reads))
    return queue


def lost_in_queues(code: Sequence[str]) -> float:
    """Return the cycles that a multiply-add loses on average in the queues at the banks (`bank_queue`).

    >>> timing_model.lost_in_queues(["FFMA R4, R2, R8, R4", "FFMA R6, R2, R10, R6"])
    1.0
    """
    queue = bank_queue(code)
    return (queue[-1][0] + 1) / len(queue) - 1 if queue else 0.0
