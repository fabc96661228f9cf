"""Which answers are the course's own text, and which are alike."""

import ast

import pytest
from classroom.teach.cheats import TILED, skeleton, solution
from oracles.rewrites import REWRITES

from course_lib.classroom.teach.similarity import (
    ALIKE,
    Group,
    alike,
    course_texts,
    like_course,
    nearest,
    statements,
    written,
)


def function(text):
    return next(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))


GIVEN = function(solution("barriers"))


def test_names_make_no_difference_and_operations_do():
    text = solution("barriers").split("\n\n\n")[0]
    assert statements(function(REWRITES["other parameters"](text))) == statements(GIVEN)
    assert statements(function(text.replace("k, ty] * B", "ty, k] * B"))) != statements(GIVEN)
    assert statements(function(text.replace("row < M", "row <= M"))) != statements(GIVEN)


def test_what_an_author_wrote_is_what_the_lesson_does_not_give():
    given = function("def f(A, C):\n    i = cuda.grid(1)\n    ...\n")
    own = function("def f(a, c):\n    j = cuda.grid(1)\n    if j < c.size:\n        c[j] = a[j]\n")
    assert len(statements(own)) == 3 and len(statements(given)) == 1
    alone = function("def g(a, c):\n    if j < c.size:\n        c[j] = a[j]\n")
    assert written(given, own) == tuple(sorted(statements(alone)))


_SPARE = ("acc = dtype(0)", "acc = dtype(0)\n    spare = 0")
#: A fifth of the text: a sum, an array, a loop and a condition, of which nothing is ever stored.
UNREAD = """acc = dtype(0)
    mine = cuda.local.array(4, float32)
    count, limit = 0, min(row, 3)
    for place in range(limit):
        mine[place] = count * float32(place)
        count += 1
    if count > 2:
        count = mine[0] + 1
        mine[1] = count"""
#: Small changes to a kernel of the course.
CHANGES = {
    "one spare statement": lambda text: text.replace(*_SPARE),
    "other variables": REWRITES["other variables"],
    "statements that nobody reads": lambda text: text.replace(_SPARE[0], UNREAD),
    "statements in another order": REWRITES["other order"],
    "comments": REWRITES["comments"],
    "an operation the other way round": lambda text: text.replace("row < M and col < N", "col < N and row < M"),
    "all of these": lambda text: REWRITES["other variables"](
        REWRITES["other order"](text.replace(*_SPARE).replace("row < M and col < N", "col < N and row < M"))
    ),
}


@pytest.mark.parametrize("gap", ["def f(A, B, C):\n    ...\n", skeleton("barriers")], ids=["all", "the heart"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_kernel_of_the_course_with_a_small_change_is_found(change, gap):
    """Also where the lesson gives most of it, and where a helper of another kernel is the copy."""
    changed = CHANGES[change](TILED)
    assert changed != TILED
    calls = function("def mine(A, B, C):\n    work(A, B, C)\n")
    for functions in ([function(changed)], [calls, function(changed)]):
        where, share = nearest(function(gap), *functions)
        assert where == "the course's kernel tiled" and share >= ALIKE, share


def test_every_statement_of_the_course_is_read():
    """In whatever order a loop uses what it has computed; and what is read stays."""
    texts = course_texts()
    assert len(texts) > 100 and all(statements(tree) == statements(tree, unread=False) for _, tree in texts)
    assert "the course's recorded kernel vectors" in dict(texts), "students have its text, in the recording"


def test_an_own_kernel_is_like_none_of_the_course():
    """Right, too, but one thread computes several elements, one after the other."""
    own = function("""
def mine(A, B, C):
    here = cuda.grid(1)
    while here < C.size:
        row, col = here // C.shape[1], here % C.shape[1]
        k, total = 0, float32(0)
        while k < A.shape[1]:
            total += A[row, k] * B[k, col]
            k += 1
        C[row, col] = total
        here += cuda.gridsize(1)
""")
    assert nearest(function("def f(A, B, C):\n    ...\n"), own)[1] < ALIKE


def test_those_who_are_like_the_course_are_listed_beside_it():
    """A text of the course that nobody wrote is in no group."""
    tiled, naive = "the course's kernel tiled", "the course's kernel naive"
    course = {"anna": (tiled, 0.95), "ben": (tiled, 1.0), "carl": (naive, 0.5)}
    assert like_course(course) == [Group(("anna", "ben"), 0.95, tiled)]


WORDS = "a fast warp overwrites the tile with the next pair while a slow one reads it".split()


@pytest.mark.parametrize(
    "texts, groups",
    [
        ({"anna": WORDS, "ben": WORDS[::-1], "carl": WORDS[:9]}, [(("anna", "ben"), 1.0)]),
        ({"anna": WORDS, "ben": WORDS[:-1], "carl": WORDS[:-2]}, [(("anna", "ben", "carl"), 28 / 30)]),
        ({"anna": ["x"], "ben": ["x"]}, []),
        ({}, []),
    ],
)
def test_groups_are_alike(texts, groups):
    assert [Group(who, pytest.approx(share)) for who, share in groups] == alike(texts)
