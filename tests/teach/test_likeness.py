"""Which answers are the course's own text, and which are alike."""

import ast

import pytest
from oracles.rewrites import REWRITES
from teach.cheats import solution

from course_lib.teach.likeness import alike, comments, copied_from, normal, statements, written


def function(text):
    return next(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))


GIVEN = function(solution("barriers"))


def test_names_layout_and_comments_make_no_difference():
    text = solution("barriers").split("\n\n\n")[0]
    for rewrite in ("other variables", "other parameters", "comments"):
        assert normal(function(REWRITES[rewrite](text))) == normal(GIVEN), rewrite
    assert normal(function(text.replace("k, ty] * B", "ty, k] * B"))) != normal(GIVEN)
    assert normal(function(text.replace("row < M", "row <= M"))) != normal(GIVEN)


def test_what_an_author_wrote_is_what_the_lesson_does_not_give():
    given = function("def f(A, C):\n    i = cuda.grid(1)\n    ...\n")
    own = function("def f(a, c):\n    j = cuda.grid(1)\n    if j < c.size:\n        c[j] = a[j]\n")
    assert len(statements(own)) == 3 and len(statements(given)) == 1
    assert written(given, own) == sorted(
        statements(function("def g(a, c):\n    if j < c.size:\n        c[j] = a[j]\n"))
    )


SHORT = "@cuda.jit\ndef f(A, B, C):\n    C[cuda.grid(1)] = 1\n"


def test_a_short_answer_may_be_equal_by_chance():
    """Where the lesson gives nearly all, the right answer is everybody's; where it gives nothing, it is a copy."""
    assert copied_from(GIVEN, GIVEN, keeps=True) is None
    assert copied_from(GIVEN, function(SHORT), keeps=False) == "the solution of product"
    assert copied_from(function(SHORT), function("def f(A, B, C):\n    ...\n"), keeps=True) is None


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
    assert [(who, pytest.approx(share)) for who, share in groups] == alike(texts)


def test_comments_are_part_of_what_one_wrote():
    assert comments("x = 1  # one\n# two\n") == ["one", "two"]
    assert comments("x = (") == []
