"""A lesson's own cells as slides: what is shown, what only the speaker sees, and which step a stepper opens at.

A slide is some text and one thing to look at: code, a picture, a table or a widget. What comes after that begins the
next slide, unless the type of its cell is "-". A cell of type "slide" or "subslide" begins one in any case, and "skip"
stays out. A prediction makes two slides: the question, and the answer with the output that its guess had folded. What a
cell shows follows from its kind:

- text: all of it, without what is folded. The metadata ``deck`` may name the sentences, list items, tables and blocks
  of code that are shown, each by the words with which it begins; after "---" come those of the next slide. The others
  go into the speaker's notes;
- code: kernels as code, and an output in place of the code that makes it. Imports, launches, checks and exercises stay
  out. ``deck`` may say "code" or "output", or both. Words after "code" begin the lines that are marked as new, and
  "Marked: new since 4.2" before them says since what. Words after "output" begin the rows of the table that are kept.
  "numbered" before "code" gives the lines the numbers that findings name. "tracks" shows the tracks of the stepper
  alone, and with "output" on a slide before it.

A cell whose ``deck`` is empty shows nothing. An exercise that the class does together names its text and its code in
``deck``; its answer follows on a slide of its own: the code of the solution, with the lines marked that were to be
written. Where the solutions are not, as in the installed package, it is the last hint, with the code as it was given.
"""

import ast
import html
import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from jinja2 import Environment
from nbconvert.filters import ansi2html, strip_ansi
from nbconvert.filters.markdown_mistune import markdown2html_mistune
from nbformat.v4 import new_output
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from ...exercises.grading.grades import YOUR_CODE
from ...exercises.predict import PREDICTION
from ...machine.sliders.widget import BUNDLE as SLIDERS
from ...machine.timing_model.widget import BUNDLE as WAITING
from ...simulator.formatting import as_code
from ...trace.figures.canvas import TALL
from ...trace.notebook_outputs import HTML, SLIDE, VIEW
from ...trace.png import size_of
from ...trace.viewer.page import STEPPER, escaped, module
from ..fallbacks import STATE
from ..pages.frame import file_text
from .convert import live_widgets, with_live_widgets

_DETAILS = re.compile(r"<details>\s*<summary>(.*?)</summary>(.*?)(?:</details>|\Z)", re.DOTALL)
_SENTENCE_ENDS = re.compile(r"(?<=[.?!])(?<!\*\*\d\.)(\*\*|\)|”|\")*\s+(?=\S)")
_HEIGHT = re.compile(r'\\"height\\":([\d.]+)')
#: As many characters fit beside each other on a slide, in the smallest text of code; and as many lines below an answer.
LONGEST_LINE, MOST_LINES = 110, 14
#: A picture with sliders is 1,000 wide; of a higher one the explanation is beside it.
TALL_SKETCH = 500
#: What a slide leaves out: asides, and what a reader, but not a class, needs at the beginning and at the end.
_ASIDE = re.compile(
    r"\(.*\)$|Time: about|Each section answers|\| question \| section \||Further reading|Next: ", re.DOTALL
)
#: What is for readers of the lesson, and not for the speaker either.
_FOR_READERS = re.compile(r"Time:|Further reading|Next: ")
#: Of a text above an exercise.
_HINT = "<summary>Hint"
#: A reference, which a reader follows.
_REFERENCE = re.compile(r" \(\[(?:measured|experiment|reason)\]\([^()]*\)\)")
_LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s]*)\)")
_STATE = re.compile(rf'(<script type="application/json" class="{STEPPER.mark}">)(.*?)(?=</script>)', re.DOTALL)
#: Decks are made at the same time, and in Python 3.11 `ast.parse` can fail in two threads at once (CPython 106905).
_PARSING = threading.Lock()
_STEP_LINK = re.compile(r"\[([^\[\]]*)\]\((#step=[^()\s]*)\)")


@dataclass
class Slide:
    """A slide: its heading, the HTML of its parts, and in Markdown what the lesson says beside them.

    ``cells`` are the ids of its cells; ``kind`` is "title", "question", "answer" or "".
    """

    heading: str
    kind: str = ""
    cells: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    steps: list[tuple[str, str]] = field(default_factory=list)
    notes: str = ""  # in Markdown
    minutes: float = 0
    full: bool = False  # has something to look at

    @property
    def live(self) -> bool:
        """Whether the slide has a stepper."""
        return any(STEPPER.mark in part for part in self.parts)

    @property
    def section(self) -> str:
        """The number of the slide's section, such as "4.2"; "" before the first one."""
        found = re.match(r"\d+\.\d+", self.heading)
        return found[0] if found else ""


def slides_of(notebook: Any, solutions: Mapping[str, str] | None = None) -> list[Slide]:
    """Return the slides of an executed notebook; their notes are what the lesson says beside them.

    ``solutions`` are the sources of the cells with solved exercises, by the ids of the cells.
    """
    found = [slide for slide in _SlideMaker(notebook, solutions or {}).make() if slide.parts]
    for slide in found:
        slide.notes = "\n\n".join(slide.said)
    return found


class _SlideMaker:
    """Goes through the cells of a notebook, and puts each on the slide that is open."""

    def __init__(self, notebook: Any, solutions: Mapping[str, str]) -> None:
        self.solutions = solutions
        self.models: Mapping[str, Any] = notebook.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
        self.predictions = {cell.get("id"): self._prediction(cell) for cell in notebook.cells}
        self.cells = with_live_widgets(notebook).cells
        self.slides: list[Slide] = [Slide("")]

    @property
    def open(self) -> Slide:
        return self.slides[-1]

    def add(self, cell: Any, parts: Sequence[str], full: bool = False) -> None:
        """Put parts of a cell on the open slide, or on a new one if that has something to look at."""
        if self.open.full and not self.keeps_slide:
            self.begin()
        self.open.cells.append(cell.get("id", ""))
        self.open.parts += parts
        self.open.full |= full

    def begin(self, kind: str = "") -> None:
        """Begin a slide under the same heading, unless the open one is still empty."""
        if self.open.parts:
            self.slides.append(Slide(self.open.heading, kind))
        self.open.kind = kind

    def make(self) -> list[Slide]:
        for at, cell in enumerate(self.cells):
            kind = cell.metadata.get("slideshow", {}).get("slide_type", "")
            if kind in ("slide", "subslide"):
                self.begin()
            following = self.cells[at + 1] if at + 1 < len(self.cells) else None
            self.keeps_slide = kind == "-"
            if cell.cell_type == "markdown":
                self._add_text(cell, kind, following)
            elif cell.cell_type == "code" and kind != "skip" and cell.metadata.get("deck") != []:
                self._add_code(cell)
        return self.slides

    # -- text

    def _add_text(self, cell: Any, kind: str, following: Any) -> None:
        """Add a text of the lesson to the open slide, or begin slides for it; ``following`` is the cell after it."""
        source = cell.source
        if kind == "notes":
            self.open.said.append(source)
            return
        if title := re.match(r"##? (.+)\n*", source):
            source = source[title.end() :]
            self.open.heading = title[1].strip()
            if not self.open.parts:
                self.open.said = []  # of a section without slides
            self.open.kind = "title" if title[0].startswith("# ") else self.open.kind
        ahead = following.metadata if following is not None else {}
        chosen = cell.metadata.get("deck")
        is_exercise = _HINT in source or "exercise" in ahead.get("tags", ())
        left_to_reader = kind == "skip" or (is_exercise and not ahead.get("deck"))
        if chosen is None and left_to_reader:
            return  # it is not said either
        steps = [
            (plain(words) if len(words) > 4 else f"step {dict(parse_qsl(link[1:]))['step']}", link)
            for words, link in _STEP_LINK.findall(source)
        ]
        slides = _chosen(source, chosen)
        for number, (shown, said) in enumerate(slides):
            after_answer = self.open.kind == "answer" and not self.keeps_slide
            if number or (shown and after_answer):
                self.begin()
            if shown:
                self.add(cell, [f'<div class="words">{markdown(shown)}</div>'])
            is_last, is_taken = number == len(slides) - 1, self.open.full and not self.keeps_slide
            if steps and is_last and is_taken:
                self.begin()  # the links belong to the stepper that follows
            if said:
                self.open.said.append(said)
        self.open.steps += steps

    # -- code

    def _add_code(self, cell: Any) -> None:
        """Add a cell of code to the open slide, with its outputs, or begin slides for them."""
        tags = cell.metadata.get("tags", ())
        if asked := self.predictions.get(cell.get("id")):
            self._add_question(cell, *asked)
            return
        chosen = cell.metadata.get("deck")
        if chosen is None:
            if "exercise" in tags or re.match(r"(score|explain|check|attempts?)\(", cell.source):
                return
            chosen = ["output"] if _outputs(cell) else ["code"] * ("@cuda.jit" in cell.source)
        wanted = _wanted(chosen)
        if wanted and self.open.full and not self.keeps_slide:
            self.begin()  # before the outputs are read: a stepper opens at the step of its own slide's text
        self.keeps_slide = True
        if "tracks" in wanted:
            self.add(cell, [self._output(output, "tracks") for output in _outputs(cell)], full=True)
            if "output" in wanted:
                steps = self.open.steps
                self.begin()
                self.open.steps += steps
        if "code" in wanted:
            essential = _essential(cell.source)
            first = cell.source[: cell.source.index(essential)].count("\n") + 1 if "numbered" in wanted else None
            self.add(cell, [code(essential, wanted["code"], first)], full=True)
        if "output" in wanted:
            parts = [_with_rows(self._output(output), wanted["output"]) for output in _outputs(cell)]
            self.add(cell, parts, full=True)
        if "exercise" in tags and wanted:
            self._add_answer(cell)

    def _add_answer(self, exercise: Any) -> None:
        """Add a slide with the answer of an exercise that is done together."""
        given = _essential(exercise.source)
        if solution := self.solutions.get(exercise.get("id")):
            lines = [line for line in _essential(solution).split("\n") if YOUR_CODE not in line]
            before = {line.strip() for line in given.split("\n")}
            written = [line.strip() for line in lines if line.strip() not in before]
            self.begin("answer")
            answer = code("\n".join(lines), ["Marked: what was to be written", *written])
            self.add(exercise, ['<div class="words"><p>One answer:</p></div>', answer])
            return
        above = self.cells[self.cells.index(exercise) - 1]
        if hints := _DETAILS.findall(above.source):
            self.begin("answer")
            answer = f'<div class="words">{markdown("One answer: " + hints[-1][1].strip())}</div>'
            self.add(exercise, [answer, code(given)])

    def _add_question(self, cell: Any, question: str, choices: Sequence[str], answer: str, because: str) -> None:
        if (self.open.full or self.open.kind == "answer") and not self.keeps_slide:
            self.begin()
        self.open.kind = "question"
        question = re.sub(r"\*(\w+)\*", r"\1", question)  # a prediction has no emphasis
        offered = "".join(f"<li>{html.escape(choice)}</li>" for choice in choices)
        asks = f'<p class="asks">{as_code(question)}</p>' + f'<ul class="choices">{offered}</ul>' * bool(choices)
        self.add(cell, [asks])
        self.begin("answer")
        said = f'<p class="answer"><b>{as_code(answer)}</b></p>' + f"<p>{as_code(because)}</p>" * bool(because)
        self.add(cell, [f'<div class="words answered"><p class="asked">{as_code(question)}</p>{said}</div>'])

    def _prediction(self, cell: Any) -> tuple[str, Sequence[str], str, str] | None:
        """Return question, choices, answer and reason of a prediction's cell."""
        for output in cell.get("outputs", ()):
            view = output.get("data", {}).get(VIEW)
            for state, bundle in live_widgets(self.models, view["model_id"]) if view else ():
                if bundle is PREDICTION:
                    return state["question"], state["choices"], state["answer"], state["because"]
        return None

    def _output(self, output: Any, only: str = "") -> str:
        """Return an output as HTML, in an element whose class says how a slide shows it; ``only`` is one more class."""
        data = output.get("data", {})
        if output.output_type == "stream":
            return _printed(output.text)
        if output.output_type == "error":
            return _printed("\n".join(output.traceback))
        if HTML not in data:
            return _printed(data.get("text/plain", ""))
        text: str = data.get(SLIDE, data[HTML])
        if STEPPER.mark in text:
            return f'<div class="live {only}">{self._at_step(text)}</div>'
        if "<script" in text:
            tall = any(float(height) > TALL_SKETCH for height in _HEIGHT.findall(text))
            return f'<div class="live{" tall" * tall}">{text}</div>'
        if size := size_of(text):
            tall, least = size[0] < TALL * size[1], min(380, WIDTH * size[1] // size[0])
            return f'<div class="picture{" tall" * tall}" style="min-height: {least}px">{text}</div>'
        return f'<div class="table">{text}</div>'

    def _at_step(self, text: str) -> str:
        """Return a stepper, opened at the step to which the slide's text links first, without views that are closed."""
        asked = dict(parse_qsl(self.open.steps[0][1][1:])) if self.open.steps else {}
        wanted: dict[str, Any] = {"panel": asked["panel"]} if "panel" in asked else {}
        if asked:
            wanted |= {"step": int(asked["step"]), "statements_of": int(asked.get("run", 0))}

        def opened(state: re.Match[str]) -> str:
            found = json.loads(state[2]) | wanted
            return state[1] + escaped(json.dumps(found if found.get("panel") else found | {"panels": []}))

        return _STATE.sub(opened, text, count=1)


def _outputs(cell: Any) -> list[Any]:
    """Return what a cell shows; what it printed piece by piece is one output."""
    shown: list[Any] = []
    for output in cell.outputs:
        if output.get("name") == "stderr" or not (output.get("data") or output.get("text")):
            continue
        if shown and output.output_type == shown[-1].output_type == "stream":
            shown[-1] = new_output("stream", text=shown[-1].text + output.text)  # type: ignore[no-untyped-call]
        else:
            shown.append(output)
    return [output for output in shown if output.get("data") or output.get("text", "").strip()]


def _wanted(chosen: Sequence[str]) -> dict[str, list[str]]:
    """Return what of a cell with code is shown, each with the words that follow it."""
    wanted: dict[str, list[str]] = {}
    for words in chosen:
        if words in ("code", "output", "numbered", "tracks"):
            wanted[words] = []
        else:
            wanted[next(reversed(wanted))].append(words)
    return wanted


def _with_rows(table: str, kept: Sequence[str]) -> str:
    """Return a table with its head and the rows that begin with these words; all of it without any.

    Raise ValueError if no row begins with one of them.
    """
    if not kept:
        return table
    head, body, end = re.split(r"(?<=<tbody>)|(?=</tbody>)", table)
    rows = {plain(re.sub(r"<[^>]*>", "", row)): row for row in re.findall(r"<tr>.*?</tr>", body, re.DOTALL)}
    for words in kept:
        if not any(text.startswith(words) for text in rows):
            raise ValueError(f"no row of the table begins with {words!r}")
    return head + "".join(row for text, row in rows.items() if text.startswith(tuple(kept))) + end


def _essential(source: str) -> str:
    """Return the kernels of a cell, or else all of it without assertions and checks."""
    with _PARSING:
        statements = ast.parse(source).body
    kernels = [
        each for each in statements if "@cuda.jit" in (ast.get_source_segment(source, each) or "") or _jitted(each)
    ]
    kept = kernels or [
        each
        for each in statements
        if not isinstance(each, ast.Assert | ast.Import | ast.ImportFrom)
        and not re.match(r"(check|explain|attempt|predict)\(", ast.get_source_segment(source, each) or "")
    ]
    lines = source.split("\n")
    pieces = []
    for each in kept:
        first = min([each.lineno, *(item.lineno for item in getattr(each, "decorator_list", ()))])
        pieces.append("\n".join(lines[first - 1 : each.end_lineno]))
    return ("\n\n" if kernels else "\n").join(pieces)


def _jitted(statement: ast.stmt) -> bool:
    return any("cuda.jit" in ast.unparse(item) for item in getattr(statement, "decorator_list", ()))


def _printed(text: str) -> str:
    """Return what a cell printed: a table keeps its lines, a sentence is broken, and a long list is in columns."""
    lines = text.strip("\n").rstrip().split("\n")
    widest = max(len(strip_ansi(line)) for line in lines)  # type: ignore[no-untyped-call]
    kinds = " sentences" * (widest > LONGEST_LINE) + " listed" * (len(lines) > MOST_LINES and 3 * widest < LONGEST_LINE)
    shown = ansi2html("\n".join(lines))  # type: ignore[no-untyped-call]
    return f'<pre class="printed{kinds}">{shown}</pre>'


def code(source: str, new: Sequence[str] = (), first: int | None = None) -> str:
    """Return highlighted code, in which the lines that begin with these words are marked as new.

    The first of the words may say what the marks mean: "Marked: new since 4.2". ``first`` is the number of the first
    line, where lines have numbers. Raise ValueError if no line begins with one of the words.
    """
    legend, new = (new[0], new[1:]) if new and new[0].startswith("Marked: ") else ("Marked: new", new)
    lines = [line.strip() for line in source.split("\n")]
    for words in new:
        if not any(line.startswith(words) for line in lines):
            raise ValueError(f"no line of the code begins with {words!r}")
    marked = [number for number, line in enumerate(lines, 1) if new and line.startswith(tuple(new))]
    numbers = {"linenos": "inline", "linenostart": first} if first else {}
    shown = highlight(source, PythonLexer(), HtmlFormatter(cssclass="highlight", hl_lines=marked, **numbers))
    return str(shown).replace("</div>", f'<p class="marked">{html.escape(legend)}</p></div>' if new else "</div>")


def markdown(text: str) -> str:
    """Return Markdown as HTML, in which only links to steps and to other sites are links."""
    text = _REFERENCE.sub("", text)
    text = _LINK.sub(lambda link: link[0] if link[2].startswith(("http", "#step=")) else link[1], text)
    return str(markdown2html_mistune(text))


def _chosen(source: str, chosen: Sequence[str] | None) -> list[tuple[str, str]]:
    """Return for each slide of a cell the text that it shows, and what the lesson says beside it, for the speaker.

    ``chosen`` has the first words of sentences, items, tables and blocks of code; after "---" those of the next slide.
    Without it everything is shown but what is folded, asides in parentheses, and where the reader goes next.
    What is not shown belongs to the slide whose text is before it; what follows the last text, to the slide after a
    last "---". Raise ValueError if a choice begins nothing in the text.
    """
    groups = _choices_by_slide(chosen)
    blocks = []
    for text, folded in _blocks_of(source):
        pieces = list(_pieces(text))
        slides = [_number_of_slide(piece, text, folded, chosen, groups) for piece, _ in pieces]
        blocks.append(_Block(text, pieces, slides))
    _refuse_unused_choices(groups, blocks)
    shown, said = [[list[str]() for _ in groups] for _ in range(2)]
    slide = 0
    left = sum(number is not None for block in blocks for number in block.slides)
    for block in blocks:
        kept, beside = [[list[str]() for _ in groups] for _ in range(2)]
        slide = next((number for number in block.slides if number is not None), slide)
        before: int | None = None
        for number, (piece, joint) in zip(block.slides, block.pieces, strict=True):
            if number is not None:
                slide = number
                left -= 1
                kept[number].append(piece + joint)
            elif not piece.startswith("#") and not _FOR_READERS.match(plain(block.text)):
                of_slide = beside[slide if left or groups[-1] else -1]
                if before is not None and not _is_list(block.text):
                    of_slide.append("…")
                of_slide.append(piece)
            before = number
        between = "\n" if _is_list(block.text) else " "
        for number in range(len(groups)):
            if kept[number]:
                shown[number].append("".join(kept[number]).rstrip())
            if beside[number]:
                said[number].append(between.join(beside[number]))
    return [("\n\n".join(one), "\n\n".join(other)) for one, other in zip(shown, said, strict=True)]


@dataclass(frozen=True)
class _Block:
    """A paragraph, list, table or block of code: its pieces, each with what joins it to the next one.

    ``slides`` are the numbers of the slides that show the pieces; None of a piece that none shows.
    """

    text: str
    pieces: list[tuple[str, str]]
    slides: list[int | None]


def _choices_by_slide(chosen: Sequence[str] | None) -> list[list[str]]:
    """Return the words that choose pieces, for each slide: "---" ends those of one."""
    groups: list[list[str]] = [[]]
    for words in chosen or ():
        if words == "---":
            groups.append([])
        else:
            groups[-1].append(plain(words))
    return groups


def _refuse_unused_choices(groups: Sequence[Sequence[str]], blocks: Sequence[_Block]) -> None:
    """Raise ValueError for words with which no piece begins."""
    starts = [plain(piece) for block in blocks for piece, _ in block.pieces]
    for words in (words for group in groups for words in group):
        if not any(start.startswith(words) for start in starts):
            raise ValueError(f"no sentence, item, table or code of the text begins with {words!r}")


def _blocks_of(source: str) -> Iterator[tuple[str, bool]]:
    """Yield the blocks of a text without its hints, and whether each is folded."""
    start = 0
    for details in _DETAILS.finditer(source):
        yield from ((block, False) for block in _blocks(source[start : details.start()]))
        if not details[1].startswith("Hint"):
            yield from ((block, True) for block in _blocks(details[2]))
        start = details.end()
    yield from ((block, False) for block in _blocks(source[start:]))


def _number_of_slide(
    piece: str, block: str, folded: bool, chosen: Sequence[str] | None, groups: Sequence[Sequence[str]]
) -> int | None:
    """Return the number of the slide that shows a piece of a block, or None."""
    start = plain(piece)
    if chosen is None:
        return None if folded or _ASIDE.match(plain(block)) or _ASIDE.match(start) else 0
    return next((at for at, group in enumerate(groups) if any(map(start.startswith, group))), None)


def _blocks(text: str) -> list[str]:
    """Return paragraphs, lists, tables and blocks of code."""
    parts = re.split(r"(```.*?```)", text, flags=re.DOTALL)
    return [
        block.strip("\n")
        for part in parts
        for block in ([part] if part.startswith("```") else re.split(r"\n\s*\n", part))
        if block.strip()
    ]


def _pieces(block: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a block that are chosen one by one, each with what joins it to the next."""
    if block.startswith(("```", "|", "#")):
        yield block, "\n"
    elif _is_list(block):
        for item in re.split(r"\n(?=(?:-|\d+\.) )", block):
            yield item, "\n"
    else:
        start = 0
        for end in _SENTENCE_ENDS.finditer(block):
            yield block[start : end.start()] + (end[1] or ""), " "
            start = end.end()
        yield block[start:], " "


def _is_list(block: str) -> bool:
    return bool(re.match(r"(-|\d+\.) ", block))


def plain(text: str) -> str:
    """Return a text without marks of Markdown, as a choice names it."""
    if text.startswith("```"):
        return text
    return re.sub(r"^(- |\d+\. )", "", re.sub(r"[*`]", "", _LINK.sub(r"\1", text)).strip())


#: What is run before a lesson, so that its pictures are there for slides, too.
SHOW_FOR_SLIDES = "from course_lib.trace.figures.canvas import Slides\nSlides.on = True"
#: Of a slide, in CSS pixels: those of a projector.
WIDTH, HEIGHT = 1280, 720


def page(slides: Sequence[Slide], title: str, theme: str = "light") -> str:
    """Return a deck as one file, which loads nothing: → leads on, Enter into a widget, s opens the notes, d is dark."""
    body = "".join(part for slide in slides for part in slide.parts)
    bundles = [bundle for bundle in (STEPPER, WAITING, SLIDERS) if bundle.mark in body]
    sheets = [
        _file("reveal/reveal.css"),
        file_text("theme.css"),
        colours(),
        *(bundle.read("css") for bundle in bundles),
    ]
    size = f"const size = {{ width: {WIDTH}, height: {HEIGHT} }};\n"
    template = Environment(autoescape=True, trim_blocks=True).from_string(_file("slides.html.j2"))
    return template.render(
        title=title,
        theme=theme,
        slides=slides,
        heading=lambda text: as_code(text),
        markdown=markdown,
        styles=[*sheets, _file("slides.css")],
        # reveal.js first: it moves the slides' elements before the widgets are drawn
        scripts=[_file("reveal/reveal.js"), _file("reveal/notes.js"), size + _file("slides.js")],
        modules="".join(map(module, bundles)),
    )


def without_notes(slides: Sequence[Slide]) -> list[Slide]:
    """Return slides as students get them."""
    return [replace(slide, notes="") for slide in slides]


def listing(decks: Sequence[tuple[str, str, Sequence[Slide]]]) -> str:
    """Return a page that lists decks: (the file's name without its ending, its title, its slides)."""
    rows = [(name, title, len(shown), round(sum(slide.minutes for slide in shown))) for name, title, shown in decks]
    return Environment(autoescape=True, trim_blocks=True).from_string(_file("decks.html.j2")).render(decks=rows)


def slides(notebook: Any, title: str, theme: str = "light") -> str:
    """Return an executed notebook as a deck.

    >>> deck = slides(new_notebook(cells=[new_markdown_cell("## An idea"), new_markdown_cell("In words.")]), "A lesson")
    >>> "An idea" in deck, "In words." in deck
    (True, True)
    """
    return page(slides_of(notebook), title, theme)


def colours() -> str:
    """Return the style of highlighted code, light and dark."""
    light, dark = HtmlFormatter(style="xcode"), HtmlFormatter(style="github-dark")
    kept = [light.get_style_defs(".highlight"), dark.get_style_defs('[data-theme="dark"] .highlight')]
    return "\n".join([*kept, ".highlight, .highlight pre { background: var(--soft) !important; }", ""])


def _file(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
