"""Tables and counts as text."""

from collections.abc import Collection, Iterable, Sequence


def text_table(rows: Iterable[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """Return a line for each row, in columns as wide as their longest cells; those of ``left`` begin at the left."""
    columns = []
    for place, column in enumerate(zip(*rows, strict=True)):
        justified, width = str.ljust if place in left else str.rjust, max(map(len, column))
        columns.append([justified(cell, width) for cell in column])
    return ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]


def plural(count: int, noun: str, ending: str = "s") -> str:
    """Return the number and the noun: 1 sector, 2,048 sectors."""
    return f"{count:,} {noun}{'' if count == 1 else ending}"
