"""How long a lesson takes a first reader; as a program, it writes the minutes into the lessons and the README."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORD = re.compile(r"<[^>]*>|\]\([^)]*\)")
WORDS_A_MINUTE, LINES_A_MINUTE, PREDICTION, EXERCISE, EXPLANATION, CHANGE = 100, 4, 2, 2, 4, 4
PICTURE, PLAY = 1, 3
#: What is played with: a stepper, the sliders of a picture or of the timing model.
PLAYED = re.compile(r"^(Stepper|compare|Waiting|sliders\.\w+)\(", re.MULTILINE)
DRAWN = re.compile(r"^(figures\.show|ladder)\(", re.MULTILINE)


def of_cell(cell):
    """Minutes to read a text or code, to look at a picture, to play, to guess, to write an answer.

    The lines of an answer, or a change of a kernel, take more. A reader's estimates of lessons 0 to 5, 9 and 10 were up
    to 35 minutes above a rule without pictures and without what is played with. They are within 10 minutes of this
    rule in lessons 0 to 4, and 15 to 30 minutes above it in lessons 5, 9 and 10.
    """
    source = "".join(cell["source"])
    if "optional" in cell["metadata"].get("tags", ()):
        return 0
    if cell["cell_type"] == "markdown":
        return len(WORD.sub(" ", source).split()) / WORDS_A_MINUTE
    if re.search(r"^predict\(", source, re.MULTILINE):
        return PREDICTION
    if re.search(r"^check\(", source, re.MULTILINE):
        fill_ins = [int(lines) for lines in re.findall(r"about (\d+) line", source)]
        return EXERCISE + (sum(fill_ins) or CHANGE)
    if re.search(r"^explain\(", source, re.MULTILINE):
        return EXPLANATION
    shown = [line for line in source.splitlines() if line.strip()]
    if cell["id"] == "imports":
        return 0
    looked_at = 0
    if PLAYED.search(source):
        looked_at = PLAY
    elif DRAWN.search(source):
        looked_at = PICTURE
    return looked_at + len(shown) / LINES_A_MINUTE


def of_lesson(cells):
    """The sum of the cells' minutes, a multiple of five."""
    return 5 * round(sum(map(of_cell, cells)) / 5)


def of_exercises(cells):
    """Those of the cells in which a reader writes an answer."""
    answers = re.compile(r"^(check|explain)\(", re.MULTILINE)
    return 5 * round(sum(of_cell(cell) for cell in cells if answers.search("".join(cell["source"]))) / 5)


def main():
    readme = ROOT / "README.md"
    page, minutes, exercises = readme.read_text(encoding="utf-8"), {}, {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        text = path.read_text(encoding="utf-8")
        cells = json.loads(text)["cells"]
        minutes[path.name], exercises[path.name] = of_lesson(cells), of_exercises(cells)
        text = re.sub(r"(\*\*Time:\*\* about )\d+(?= minutes)", rf"\g<1>{minutes[path.name]}", text)
        path.write_text(text, encoding="utf-8")

    def part(row):
        names = re.findall(r"[(]notebooks/([0-9]+_[^)]+)", row[2])
        return f"{row[1]}{sum(map(minutes.get, names))} | {sum(map(exercises.get, names))}{row[2]}"

    page = re.sub(r"^(\| \*\*.+?\*\* \| )\d+ \| \d+( \| .+\|)$", part, page, flags=re.MULTILINE)
    page = re.sub(
        r"([Aa]bout )\d+(?= hours)",
        rf"\g<1>{round(sum(of for name, of in minutes.items() if name[0].isdigit()) / 60)}",
        page,
    )
    readme.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
