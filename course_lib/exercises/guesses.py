"""What a reader's guess says: its numbers, in each way in which people write them, and whether they are right."""

import ast
import itertools
import math
import re
from collections.abc import Callable

from ..simulator.language.source.literals import PYTHON

#: A number with a fraction, or a large one, is right within this share of the truth.
TOLERANCE = 0.01

#: A whole number below this is a count that a reader can know, and is right only exactly.
LARGE = 10_000

#: Characters. Python's parser could not hold an expression that is nested without limit.
_LONGEST = 100

_SIGNS = str.maketrans({"×": "*", "·": "*", "−": "-", "^": "**", "\u00a0": " ", "\u2009": " ", "\u202f": " ", "’": "'"})
_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_NAMED = {word: float(number) for number, word in enumerate(_WORDS)}
_NAMED |= {"none": 0.0, "half": 1 / 2, "a half": 1 / 2, "a third": 1 / 3, "a quarter": 1 / 4}
_ABOUT = re.compile(r"^(?:about|around|roughly|approximately|approx\.?|circa|ca\.?|[~≈=])\s*")
_PERCENT = re.compile(r"\s*(?:%|per ?cent)$")
#: A unit: "times" and "x", or a word that the question has too.
_TIMES = re.compile(r"(?<=[\d)])(?:\s*[x*]|\s+times)$")
_UNIT = re.compile(r"(?<=[\d)])\s+([a-z][a-z/ ]*)$")
_THOUSANDS = re.compile(r"(?<=\d)[,' ](?=\d{3}(?!\d))")
_POINTS = re.compile(r"(?<![\d.])(\d{1,3}(?:\.\d{3})+)(?![\d.])")
#: How a text with several numbers may be divided, from the clearest mark to the least clear.
_BETWEEN = (r";|\band\b|&", r",\s+|;|\band\b|&", r"\s+", r"[,;]", r"(?:[\s,;&]|\band\b)+")

#: The arithmetic of Python, but that a power has no value where it is complex.
_ARITHMETIC: dict[type[ast.AST], Callable[..., float]] = {
    kind: PYTHON[kind] for kind in (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.USub, ast.UAdd)
} | {ast.Pow: math.pow}


def equal(guess: float, truth: float) -> bool:
    """Whether a guess is right.

    A whole number below `LARGE` must be exact. Others are right within `TOLERANCE`: 11,500 is right for 11,538. A share
    is also right if it is the truth in whole percent, of two digits: 0.19 for 0.1875.
    """
    if isinstance(truth, int) and abs(truth) < LARGE:
        return guess == truth
    in_percent = 0.1 <= abs(truth) < 1 and math.isclose(100 * guess, round(100 * truth))
    return in_percent or math.isclose(guess, truth, rel_tol=TOLERANCE)


def key(text: str) -> str:
    """A text without spaces, commas, brackets and quotes, in small letters: "1 1 0 1" and "1,1,0,1" are equal."""
    return re.sub(r"[\s,;()\[\]\"'`]", "", text).rstrip(".!").lower()


def numbers_of(text: str, question: str = "", *, fraction: bool = True) -> list[float]:
    """The numbers that a text may mean, such as "0,25", "1,024", "1 024", "3/4", "2*8+3", "8 loads" or "25 %".

    There are two where a comma may be a decimal point or divide thousands. The text means none if the list is empty.

    Args:
        text: what a reader typed.
        question: what was asked; it says which units may follow the number.
        fraction: whether the answer is a share, so that "25 %" is 0.25. If the question asks for percent it is 25.
    """
    text = _ABOUT.sub("", text.strip().strip("`'\"").translate(_SIGNS).lower().rstrip(" .!"))
    percent = _PERCENT.search(text)
    text = _TIMES.sub("", _PERCENT.sub("", text))
    unit = _UNIT.search(text)
    if unit and {word.rstrip("s") for word in unit[1].split()} <= _words(question):
        text = text[: unit.start()]
    without = _THOUSANDS.sub("", text)
    forms = [text, without, text.replace(",", "."), without.replace(",", ".")]
    forms += [_POINTS.sub(lambda found: found[1].replace(".", ""), text).replace(",", ".")]
    values = [_NAMED[text]] if text in _NAMED else []
    for form in dict.fromkeys(forms):
        try:
            values.append(calculated(form))
        except (ValueError, ArithmeticError):
            continue
    asked = "%" in question or "percent" in question.lower()
    share = percent and fraction and not asked
    return [value / 100 if share else value for value in dict.fromkeys(values) if math.isfinite(value)]


def lists_of(text: str, count: int, question: str = "") -> list[tuple[float, ...]]:
    """The lists of so many numbers that a text may mean: "1, 4", "1 and 4", "(1 4)", "24 threads, 6 loads"."""
    text = re.sub(r"^[(\[](.*)[)\]]$", r"\1", text.strip())
    whole = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    ways = [(signs, each) for each in (text, whole) for signs in _BETWEEN]
    split = ([part for part in re.split(signs, each) if part.strip()] for signs, each in ways)
    found = [[numbers_of(part, question) for part in parts] for parts in split if len(parts) == count]
    return list(dict.fromkeys(guess for each in found for guess in itertools.product(*each)))


def _words(question: str) -> set[str]:
    return {word.rstrip("s") for word in re.findall(r"[a-z][a-z/]*", question.lower())}


def calculated(text: str) -> float:
    """The value of ``text``, such as "2*8+3" or "3/4", in float64.

    Raises ValueError where it is not arithmetic with numbers, ArithmeticError where it has no value.
    """
    text = text.strip()
    if len(text) > _LONGEST:
        raise ValueError(f"more than {_LONGEST} characters")
    try:
        return _value(ast.parse(text, mode="eval").body)
    except SyntaxError as error:
        raise ValueError(f"{text!r} is not arithmetic") from error


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.UnaryOp(sign, operand) if type(sign) in _ARITHMETIC:
            return float(_ARITHMETIC[type(sign)](_value(operand)))
        case ast.BinOp(left, operation, right) if type(operation) in _ARITHMETIC:
            return float(_ARITHMETIC[type(operation)](_value(left), _value(right)))
    raise ValueError(f"{ast.unparse(node)} is not arithmetic with numbers")
