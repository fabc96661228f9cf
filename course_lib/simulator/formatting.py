"""Tables as text and as HTML, sentences as HTML, and counts as text."""

import html
import re
from collections.abc import Collection, Iterable, Sequence


def text_table(rows: Iterable[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """Return a line for each row, in columns as wide as their longest cells; those of ``left`` begin at the left."""
    columns = []
    for place, column in enumerate(zip(*rows, strict=True)):
        justified, width = str.ljust if place in left else str.rjust, max(map(len, column))
        columns.append([justified(cell, width) for cell in column])
    return ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]


def html_table(rows: Iterable[Sequence[str]], left: Collection[int] = (0,), caption: str = "") -> str:
    """Return the same in HTML: the first row is the head of the columns, and each row's first cell the row's head."""
    lines = []
    for number, row in enumerate(rows):
        begins = [f'th scope="{"row" if number else "col"}"', *["td" if number else 'th scope="col"'] * (len(row) - 1)]
        styles = (' style="text-align:left"' if place in left else "" for place in range(len(row)))
        cells = zip(begins, styles, row, strict=True)
        lines.append("".join(f"<{begin}{style}>{html.escape(cell)}</{begin[:2]}>" for begin, style, cell in cells))
    head, *body = (f"<tr>{line}</tr>" for line in lines)
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead>{head}</thead><tbody>{''.join(body)}</tbody></table>"


def as_code(sentence: str) -> str:
    """Return a sentence as HTML, its words in backquotes as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(sentence))


def plural(count: int, noun: str, ending: str = "s") -> str:
    """Return the number and the noun: 1 sector, 2,048 sectors."""
    return f"{count:,} {noun}{'' if count == 1 else ending}"
