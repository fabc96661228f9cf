"""Random programs: each gives in the interpreter what Python gives, the value or the type of the exception."""

import ast
import copy
import math
import warnings

import numpy as np
import pytest
from classroom.teach.interpreter.programs import program
from nightly import NIGHTLY, drawn

from course_lib.classroom.teach.interpreter import Program, TooLarge, unlisted
from course_lib.simulator.line_limit import Endless

GIVEN = (5, -2.5, [3, 1, 2], {"tile": 8, "rate": 0.5}, np.array([1.0, -2.0, 0.5]))
NAMES = {"np": np, "math": math}


def told(call):
    """The value and its types as a text, or the type of what is raised; and what became of the arguments."""
    arguments = copy.deepcopy(GIVEN)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            value = call(*arguments)
    except Exception as error:
        # Of a comprehension's free name that is unbound, Python 3.12 says UnboundLocalError, and 3.11 NameError.
        value = type(error).__name__.replace("UnboundLocalError", "NameError")
    return repr(value), repr(arguments)


def both(text):
    """What Python gives, and what the interpreter gives; None where that stops, so that Python does not begin.

    It stops by what it counts and by sizes, never by a time: a program stops on each machine, or on none.
    """
    tree, scope = ast.parse(text), dict(NAMES)
    assert [*unlisted(tree.body)] == []
    with warnings.catch_warnings(action="ignore"):
        exec(compile(text, "<program>", "exec"), scope)
    interpreted = Program("main", tuple(tree.body), NAMES)
    try:
        ours = told(lambda *arguments: interpreted(None, arguments))
    except (Endless, TooLarge):
        return None
    return told(scope["main"]), ours


def test_random_programs_give_what_python_gives():
    """Each form is drawn often enough: most programs return, many raise. A failure shows the program's text."""
    seeds = drawn().integers(2**40, size=20_000 if NIGHTLY else 150)
    returned = raised = 0
    for seed in seeds.tolist():
        text = program(seed)
        try:
            pair = both(text)
        except SyntaxError:  # such as -4.size
            continue
        except BaseException as error:
            error.add_note(f"of program({seed}):\n{text}")
            raise
        if pair is None:
            continue
        python, ours = pair
        assert ours == python, f"of program({seed}):\n{text}"
        returned += python[0].startswith("[")
        raised += "Error" in python[0]
    assert returned > len(seeds) / 8 and raised > len(seeds) / 8, (returned, raised)


@pytest.mark.parametrize(
    "body",
    [
        "n = 3\n    for i in range(13):\n        n *= n\n    return n % 7",
        "n = 7\n    for i in range(5):\n        n = n * n\n    return A * n",
        "xs = [0] * 300_000\n    return len(xs * 4)",
        "return round(2.5, 500)",
        "return math.comb(500, 2)",
    ],
    ids=["bits", "bits in NumPy", "elements", "digits", "an argument of a function that grows fast"],
)
def test_what_is_too_large_here_is_no_exception_of_the_program(body):
    """Python gives a value for each, so an answer that needs it is no wrong one; nor may it catch what is raised."""
    body = body.replace("\n", "\n    ")
    text = f"def main(a, b, xs, table, A):\n    try:\n        {body}\n    except Exception:\n        return 'caught'"
    with pytest.raises(TooLarge):
        Program("main", tuple(ast.parse(text).body), NAMES)(None, copy.deepcopy(GIVEN))
    scope = dict(NAMES)
    exec(compile(text, "<program>", "exec"), scope)
    assert not isinstance(scope["main"](*copy.deepcopy(GIVEN)), str)


@pytest.mark.parametrize(
    "step", ["n, a = 3, pow(a, 2)", "a *= a", "a += a", "a <<= 9", "xs += xs", "name = name + name"]
)
def test_what_grows_in_a_loop_without_end_is_stopped(step):
    """Neither an exception nor a value is compared with what Python never gives."""
    text = f"def main(a, b, xs, table, A):\n    n, name = 3, 'tile'\n    while n < 9:\n        {step}\n    return n"
    assert both(text) is None


SCOPES = {
    "an element of an array is deleted": "def main(a, b, xs, table, A):\n    del A[0]",
    "an element of a text is deleted": "def main(a, b, xs, table, A):\n    del 'tile'[0]",
    "a name of an outer function": "def main(*_):\n    x = 1\n    def f():\n        nonlocal x\n        x += 1\n        return x\n    return f() + f() + x",
    "a local name before it is bound": "def main(a, *_):\n    if a < 0:\n        x = 1\n    return x",
    "an augmented name of an outer function": "def main(a, *_):\n    def f():\n        a += 1\n    f()",
    "closures in a loop": "def main(*_):\n    return [f() for f in [lambda: i for i in range(3)]]",
    "a default in a loop": "def main(*_):\n    return [f() for f in [lambda i=i: i for i in range(3)]]",
    "a shared default": "def main(*_):\n    def f(x, seen=[]):\n        seen.append(x)\n        return seen\n    f(1)\n    return f(2)",
    "a comprehension's own name": "def main(*_):\n    x = 9\n    y = [x for x in range(3)]\n    return x, y",
    "a walrus in a comprehension": "def main(*_):\n    y = [z := x * 2 for x in range(3)]\n    return z, y",
    "the first iterable is evaluated at once": "def main(*_):\n    xs = [1, 2]\n    g = (x for x in xs)\n    xs = [3]\n    return list(g)",
    "the others are evaluated late": "def main(*_):\n    k = 1\n    g = (x * k for x in [1, 2])\n    k = 10\n    return list(g)",
    "an exception's name is unbound": "def main(*_):\n    try:\n        1 / 0\n    except ZeroDivisionError as e:\n        pass\n    return e",
    "finally replaces a return": "def main(*_):\n    for i in range(3):\n        try:\n            return 1\n        finally:\n            break\n    return 2",
    "else after try": "def main(*_):\n    try:\n        x = 1\n    except ValueError:\n        x = 2\n    else:\n        x += 10\n    finally:\n        x += 100\n    return x",
    "raised again": "def main(*_):\n    try:\n        try:\n            [][0]\n        except IndexError:\n            raise\n    except LookupError as e:\n        return str(e)",
    "no exception to raise again": "def main(*_):\n    raise",
    "keywords and stars": "def main(*_):\n    def f(a, b=2, *c, d, **e):\n        return a, b, c, d, e\n    return f(1, *[5, 6], d=4, **{'k': 7})",
    "an argument too many": "def main(*_):\n    return (lambda a: a)(1, 2)",
    "generators one inside the other": "def main(*_):\n    return sum(sum(x * y for x in range(3)) for y in (z + 1 for z in range(3)))",
    "a generator goes on": "def main(*_):\n    g = (x for x in range(5))\n    return next(g), list(g), next(g, None)",
    "chained comparisons evaluate once": "def main(*_):\n    seen = []\n    def f(x):\n        seen.append(x)\n        return x\n    return f(1) < f(0) < f(2), seen",
    "an item is found once": "def main(*_):\n    seen, x = [], [1, 2]\n    def f():\n        seen.append(1)\n        return 0\n    x[f()] += 5\n    return x, seen",
    "lists are shared": "def main(*_):\n    x = [[0] * 2] * 2\n    x[0][0] = 1\n    y = x[0]\n    y += [3]\n    return x",
    "a view is shared": "def main(a, b, xs, table, A):\n    v = A[1:]\n    v *= 2\n    return A.tolist()",
    "unpacking inside": "def main(*_):\n    (a, (b, *c)), d = (1, (2, 3, 4)), 5\n    return a, b, c, d",
    "too few to unpack": "def main(*_):\n    a, b, *c = [1]",
    "a loop's else": "def main(*_):\n    for x in [1, 2]:\n        if x > 5:\n            break\n    else:\n        return 'none'",
    "a name that shadows": "def main(*_):\n    sum = max\n    return sum([1, 2])",
    "deep recursion": "def main(*_):\n    def f(n):\n        return 0 if n == 0 else 1 + f(n - 1)\n    return f(900)",
    "recursion without end": "def main(*_):\n    def f(n):\n        return f(n + 1)\n    return f(0)",
}  # fmt: skip


@pytest.mark.parametrize("text", SCOPES.values(), ids=SCOPES)
def test_names_calls_and_exceptions_follow_pythons_rules(text):
    python, ours = both(text)
    assert ours == python
