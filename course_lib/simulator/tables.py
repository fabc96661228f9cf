"""Tables as text and as HTML, and counts as text."""

import html
from collections.abc import Collection, Iterable, Sequence


def text_table(rows: Iterable[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """Return a line for each row, in columns as wide as their longest cells; those of ``left`` begin at the left."""
    columns = []
    for place, column in enumerate(zip(*rows, strict=True)):
        justified, width = str.ljust if place in left else str.rjust, max(map(len, column))
        columns.append([justified(cell, width) for cell in column])
    return ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]


def html_table(rows: Iterable[Sequence[str]], left: Collection[int] = (0,), caption: str = "") -> str:
    """Return the same in HTML, the first row as its head."""
    lines = [f"<caption>{html.escape(caption)}</caption>" if caption else ""]
    for number, row in enumerate(rows):
        tag = "td" if number else "th"
        begins = (f'{tag} style="text-align:left"' if place in left else tag for place in range(len(row)))
        cells = (f"<{begin}>{html.escape(cell)}</{tag}>" for begin, cell in zip(begins, row, strict=True))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(lines)}</table>"


def plural(count: int, noun: str, ending: str = "s") -> str:
    """Return the number and the noun: 1 sector, 2,048 sectors."""
    return f"{count:,} {noun}{'' if count == 1 else ending}"
