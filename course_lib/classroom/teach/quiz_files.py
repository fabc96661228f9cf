"""A quiz as a file of a learning platform: Moodle's XML, a package of QTI 1.2 for Canvas, or one of QTI 2.1."""

import html
import io
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .templates import rendered


@dataclass(frozen=True)
class Question:
    """A question, the code below it, four answers with what each of them says, and the place of the right one."""

    ask: str
    code: str
    answers: tuple[tuple[str, str], ...]
    right: int

    @property
    def key(self) -> str:
        """The letter of the right answer."""
        return "abcd"[self.right]

    @property
    def asked(self) -> str:
        """The HTML of the text, with `code` as code, and of the kernel below it."""
        text = re.sub(r"`([^`]*)`", r"<code>\1</code>", _paragraph(self.ask))
        return text + (f"<pre>{html.escape(self.code, quote=False)}</pre>" if self.code else "")

    @property
    def choices(self) -> list[tuple[str, str, str]]:
        """The letter of each answer, its HTML, and that of what it says, "" for nothing."""
        answers = zip("abcd", self.answers, strict=True)
        return [(letter, _paragraph(text), _paragraph(said) if said else "") for letter, (text, said) in answers]


def _paragraph(text: str) -> str:
    return f"<p>{html.escape(text, quote=False)}</p>"


def moodle(title: str, questions: Sequence[Question]) -> bytes:
    """Return Moodle's XML, to be imported into its question bank; the answers keep their order."""
    return rendered("quiz_moodle.xml", title=title, questions=questions).encode()


def canvas(title: str, questions: Sequence[Question]) -> bytes:
    """Return a package of QTI 1.2, which Canvas imports as a quiz."""
    quiz = rendered("quiz_canvas.xml", title=title, questions=questions)
    return _package({"quiz.xml": quiz}, "imsqti_xmlv1p2", "IMS Content", "1.1.3")


def qti(title: str, questions: Sequence[Question]) -> bytes:
    """Return a package of QTI 2.1, an item a question."""
    items = {
        f"q{number}.xml": rendered("quiz_qti.xml", title=title, number=number, each=each)
        for number, each in enumerate(questions, 1)
    }
    return _package(items, "imsqti_item_xmlv2p1", "QTIv2.1 Package", "1.0.0")


def _package(files: Mapping[str, str], kind: str, schema: str, version: str) -> bytes:
    """Return a package with its manifest; the same files give the same bytes."""
    manifest = rendered("quiz_package.xml", names=files, kind=kind, schema=schema, version=version)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as package:
        for name, text in {"imsmanifest.xml": manifest, **files}.items():
            package.writestr(zipfile.ZipInfo(name), text)
    return packed.getvalue()


#: Each platform: the ending of its file, and what writes it.
WRITERS: Mapping[str, tuple[str, Callable[[str, Sequence[Question]], bytes]]] = {
    "moodle": (".xml", moodle),
    "canvas": (".zip", canvas),
    "qti": (".zip", qti),
}
