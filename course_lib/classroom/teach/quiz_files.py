"""A quiz as a file of a learning platform: Moodle's XML, a package of QTI 1.2 for Canvas, or one of QTI 2.1."""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """A question, the code below it, four answers with what each of them says, and the place of the right one."""

    ask: str
    code: str
    answers: tuple[tuple[str, str], ...]
    right: int


_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'


def _asked(question: Question) -> str:
    """Return a question's HTML: its text, with `code` as code, and the kernel below it."""
    text = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(question.ask, quote=False))
    return f"<p>{text}</p>" + (f"<pre>{html.escape(question.code, quote=False)}</pre>" if question.code else "")


def _answer(text: str) -> str:
    return f"<p>{html.escape(text, quote=False)}</p>"


def moodle(title: str, questions: Sequence[Question]) -> bytes:
    """Return Moodle's XML, to be imported into its question bank; the answers keep their order."""
    items = [
        f'<question type="category"><category><text>$course$/{html.escape(title)}</text></category></question>',
        *(
            f'<question type="multichoice"><name><text>{html.escape(title)}: {number}</text></name>'
            f'<questiontext format="html"><text>{html.escape(_asked(each))}</text></questiontext>'
            "<single>true</single><shuffleanswers>0</shuffleanswers><answernumbering>abc</answernumbering>"
            + "".join(
                f'<answer fraction="{100 if place == each.right else 0}" format="html">'
                f"<text>{html.escape(_answer(text))}</text>"
                f'<feedback format="html"><text>{html.escape(_answer(said))}</text></feedback></answer>'
                for place, (text, said) in enumerate(each.answers)
            )
            + "</question>"
            for number, each in enumerate(questions, 1)
        ),
    ]
    return f"{_XML}<quiz>{''.join(items)}</quiz>\n".encode()


def canvas(title: str, questions: Sequence[Question]) -> bytes:
    """Return a package of QTI 1.2, which Canvas imports as a quiz."""
    items = "".join(
        f'<item ident="q{number}" title="{number}"><itemmetadata><qtimetadata><qtimetadatafield><fieldlabel>'
        "question_type</fieldlabel><fieldentry>multiple_choice_question</fieldentry></qtimetadatafield></qtimetadata>"
        f'</itemmetadata><presentation><material><mattext texttype="text/html">{html.escape(_asked(each))}</mattext>'
        '</material><response_lid ident="response1" rcardinality="Single"><render_choice>'
        + "".join(
            f'<response_label ident="{letter}"><material><mattext texttype="text/html">{html.escape(_answer(text))}'
            "</mattext></material></response_label>"
            for letter, (text, _) in zip("abcd", each.answers, strict=True)
        )
        + '</render_choice></response_lid></presentation><resprocessing><outcomes><decvar maxvalue="100" minvalue="0"'
        ' varname="SCORE" vartype="Decimal"/></outcomes><respcondition continue="No"><conditionvar><varequal '
        f'respident="response1">{"abcd"[each.right]}</varequal></conditionvar><setvar action="Set" varname="SCORE">100'
        "</setvar></respcondition></resprocessing></item>"
        for number, each in enumerate(questions, 1)
    )
    text = (
        f'{_XML}<questestinterop xmlns="http://www.imsglobal.org/xsd/ims_qtiasiv1p2"><assessment ident="quiz" '
        f'title="{html.escape(title)}"><section ident="root_section">{items}</section></assessment></questestinterop>'
    )
    return _package({"quiz.xml": text}, "imsqti_xmlv1p2")


def qti(title: str, questions: Sequence[Question]) -> bytes:
    """Return a package of QTI 2.1, an item a question."""
    return _package(
        {
            f"q{number}.xml": f'{_XML}<assessmentItem xmlns="http://www.imsglobal.org/xsd/imsqti_v2p1" identifier="'
            f'q{number}" title="{html.escape(title)}: {number}" adaptive="false" timeDependent="false">'
            '<responseDeclaration identifier="RESPONSE" cardinality="single" baseType="identifier"><correctResponse>'
            f"<value>{'abcd'[each.right]}</value></correctResponse></responseDeclaration><outcomeDeclaration "
            'identifier="SCORE" cardinality="single" baseType="float"/><itemBody>'
            f'{_asked(each)}<choiceInteraction responseIdentifier="RESPONSE" shuffle="false" maxChoices="1">'
            + "".join(
                f'<simpleChoice identifier="{letter}">{_answer(text)}</simpleChoice>'
                for letter, (text, _) in zip("abcd", each.answers, strict=True)
            )
            + '</choiceInteraction></itemBody><responseProcessing template="http://www.imsglobal.org/question/qti_v2p1/'
            'rptemplates/match_correct"/></assessmentItem>'
            for number, each in enumerate(questions, 1)
        },
        "imsqti_item_xmlv2p1",
    )


def _package(files: Mapping[str, str], kind: str) -> bytes:
    """Return a package with its manifest; the same files give the same bytes."""
    resources = "".join(
        f'<resource identifier="{name[:-4]}" type="{kind}" href="{name}"><file href="{name}"/></resource>'
        for name in files
    )
    manifest = (
        f'{_XML}<manifest xmlns="http://www.imsglobal.org/xsd/imscp_v1p1" identifier="quiz"><organizations/>'
        f"<resources>{resources}</resources></manifest>"
    )
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
