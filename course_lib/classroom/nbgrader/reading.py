"""Reading of a submission: whatever the file is, there is a notebook to grade, and what is wrong is said.

nbgrader itself leaves out a student whose file it cannot read or whose notebook has another name, with the points of
somebody who handed in nothing right; and without a time stamp it does not see that somebody handed in again.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbformat import from_dict
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import rmtree

from ...trace.notebook_outputs import KEY
from ..teach.submission import contents, read

#: The id of a cell, as the format has it.
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class SubmissionReader(NotebookExporter):
    """The exporter of `nbgrader autograde`, which reads each file twice: as it was submitted, and as it was rebuilt.

    A file that is no notebook becomes a notebook without cells; ``resources["unreadable"]`` says why. Of the notebook's
    metadata the course's are kept: ``submitted``, a digest of the file, and ``unreadable``.

    >>> text, resources = SubmissionReader().from_filename("missing.ipynb")
    >>> json.loads(text)["cells"], resources["unreadable"]
    ([], 'No such file or directory.')
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        if isinstance(self.parent, Autograde):
            name_notebooks(self.parent)
            grade_changed_again(self.parent)

    def from_filename(self, filename: str, resources: Any = None, **given: Any) -> Any:
        """Read a file and pass it through the preprocessors."""
        path, resources = Path(filename), {} if resources is None else resources
        metadata: Any = {}
        try:
            found = _notebook(path)
            metadata = found.get("metadata")
            cells = _cells(found["cells"])
        except (OSError, ValueError) as error:
            cells, resources["unreadable"] = [], f"{getattr(error, 'strerror', None) or error}."
        resources["submitted"] = digest(path)
        kept = {KEY: metadata[KEY]} if isinstance(metadata, dict) and KEY in metadata else {}
        notebook = from_dict({"nbformat": 4, "nbformat_minor": 5, "metadata": kept, "cells": cells})  # as bad as it is
        return self.from_notebook_node(notebook, resources, **given)


def _notebook(path: Path) -> Any:
    """Return the JSON of a notebook; raise OSError or ValueError if there is none, or more than is read."""
    if path.is_symlink():
        raise ValueError("the file is a link: hand in the file itself")
    data = contents(path)
    read(data)
    return json.loads(data.decode("utf-8-sig"))


def _cells(found: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the cells with their texts, each with an id of its own: of several with one id, the last one has it."""
    cells = [cell for cell in found if isinstance(cell, dict)]
    last = {str(cell.get("id")): number for number, cell in enumerate(cells)}
    return [
        {
            **cell,
            "source": _joined(cell),
            "id": id if last[id] == number and _ID.fullmatch(id) else f"-without-an-id-{number}",
        }
        for number, cell in enumerate(cells)
        for id in [str(cell.get("id"))]
    ]


def _joined(cell: Mapping[str, Any]) -> str:
    """The text of a cell, which a file has as a list of lines."""
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def digest(path: Path) -> str:
    """Return what tells one version of a file from another; "" where there is none."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def match_folder(course: CourseDirectory, folder: str) -> re.Match[str] | None:
    """Return the ``student`` and the ``assignment`` of a folder in ``submitted``."""
    names = course.format_path(course.submitted_directory, "(?P<student>.*)", "(?P<assignment>.*)", escape=True)
    return re.fullmatch(names, folder)


def submissions(converter: Autograde) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield (folder, student, assignment, notebooks) for each submission that is to be graded now."""
    left_out = converter.coursedir.student_id_exclude.split(",")
    for folder, notebooks in converter.assignments.items():
        found = match_folder(converter.coursedir, folder)
        if found and found["student"] not in left_out:
            yield folder, found["student"], found["assignment"], notebooks


def name_notebooks(converter: Autograde) -> None:
    """Give a notebook that has another name that of the assignment's notebook, which nbgrader grades.

    Of several notebooks one with the assignment's name in its own counts, and of those the last one.
    """
    course = converter.coursedir
    if course.notebook_id != "*":
        return
    with Gradebook(course.db_url, course.course_id) as book:
        for folder, _, assignment, notebooks in submissions(converter):
            try:
                known = [notebook.name for notebook in book.find_assignment(assignment).notebooks]
            except MissingEntry:
                continue  # nbgrader says so
            names = {Path(each).name for each in notebooks}
            if len(known) == 1 and f"{known[0]}.ipynb" not in names:
                name = max(names, key=lambda name: (known[0] in name, name))
                before, after = Path(folder, name), Path(folder, f"{known[0]}.ipynb")
                before.rename(after)
                notebooks[notebooks.index(str(before))] = str(after)
                converter.log.warning("%s: %s is called %s now, as the assignment is", folder, name, after.name)


def grade_changed_again(converter: Autograde) -> None:
    """Remove what was graded of a submission that has changed since, so that nbgrader grades it again.

    nbgrader compares time stamps, which the files of a learning platform do not have.
    """
    course = converter.coursedir
    for folder, student, assignment, notebooks in submissions(converter):
        graded = Path(course.format_path(course.autograded_directory, student, assignment))
        changed = [path for path in map(Path, notebooks) if _graded(graded / path.name) not in ("", digest(path))]
        if changed and not converter.force:
            names = ", ".join(path.name for path in changed)
            converter.log.warning("%s: %s changed since it was graded, and is graded again", folder, names)
            if course.notebook_id == "*":
                rmtree(graded)
            else:
                for path in changed:
                    (graded / path.name).unlink()


def _graded(path: Path) -> str:
    """The digest of the submission of which a graded notebook was made; "" where nothing was graded."""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["metadata"][KEY]["submitted"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
