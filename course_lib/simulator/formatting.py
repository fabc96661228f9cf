"""Tables as text and as HTML, sentences as HTML, and counts as text."""

import html
import re
from collections.abc import Collection, Iterable, Sequence


def text_table(rows: Iterable[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """Return a line for each row, in columns as wide as their longest cells; those of ``left`` begin at the left."""
    columns = []
    for place, column in enumerate(zip(*rows, strict=True)):
        justified = str.ljust if place in left else str.rjust
        width = max(map(len, column))
        columns.append([justified(cell, width) for cell in column])
    return ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]


def html_table(rows: Iterable[Sequence[str]], left: Collection[int] = (0,), caption: str = "") -> str:
    """Return the same in HTML: the first row is the head of the columns, and each row's first cell the row's head."""
    lines = []
    for number, row in enumerate(rows):
        cells = []
        for place, text in enumerate(row):
            style = ' style="text-align:left"' if place in left else ""
            if number and place:
                cells.append(f"<td{style}>{html.escape(text)}</td>")
            else:
                scope = "row" if number else "col"
                cells.append(f'<th scope="{scope}"{style}>{html.escape(text)}</th>')
        lines.append(f"<tr>{''.join(cells)}</tr>")
    head, *body = lines
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead>{head}</thead><tbody>{''.join(body)}</tbody></table>"


def as_code(sentence: str) -> str:
    """Return a sentence as HTML, its words in backquotes as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(sentence))


def plural(count: int, noun: str, ending: str = "s") -> str:
    """Return the number and the noun: 1 sector, 2,048 sectors."""
    return f"{count:,} {noun}{'' if count == 1 else ending}"
