"""Types where no package of numba is installed: their texts, and the signatures that are read, are those of numba."""

import numba
import numpy as np
import pytest
from numba import types
from numba.core import sigutils

from course_lib.simulator.language.types import stand_in_types

SIGNATURES = [
    "void(float32[:, ::1], float32[:, :])",
    "float32(float32)",
    "(int32[::1, :], UniTuple(float32, 3))",
    "void()",
    "int32(Tuple((int32, float64)), boolean)",
    "void(f4[:], intp, byte, c16)",
    "none(float32[::1])",
    "(float32,)",
    "void(Array(float32, 2, 'C'), c8)",
]
WRONG = ["void(float33)", "x", "float32", "__import__('os')", "void(float32[1])", "void(float32[1:2])", "(", "1"]


@pytest.mark.parametrize("text", SIGNATURES)
def test_a_signature_is_read_as_numba_reads_it(text):
    arguments, result = sigutils.normalize_signature(text)
    own_arguments, own_result = stand_in_types.normalize_signature(text)
    assert [*map(str, own_arguments)] == [*map(str, arguments)]
    assert str(own_result) == str(result)


@pytest.mark.parametrize("text", WRONG)
def test_a_text_that_is_no_signature(text):
    """numba computes what the text says, and fails in many ways; here nothing is computed."""
    with pytest.raises(TypeError, match="invalid signature"):
        stand_in_types.normalize_signature(text)


def test_types_have_the_names_of_numba():
    """Each name is one of numba's, for the same type; numba's others are of C, of NumPy and of Python."""
    others = {name: str(kind) for name, kind in stand_in_types.TYPES.items() if str(getattr(types, name)) != str(kind)}
    numbers = {n for n, kind in vars(types).items() if isinstance(kind, types.Number | types.Boolean)}
    assert others == {}
    assert {n for n in numbers - stand_in_types.TYPES.keys() if not n.startswith(("c_", "np_", "py_"))} == set()


def test_values_have_the_types_of_numba():
    matrix = np.zeros((3, 4), np.float32)
    fixed = matrix.copy()
    fixed.flags.writeable = False
    values = [
        matrix,
        matrix.T,
        matrix[:, ::2],
        fixed,
        1,
        -(2**63),
        2**63,
        True,
        1.5,
        1j,
        np.float16(1),
        (1, 2),
        (1, 2.0),
    ]
    for value in [*values, np.int8(1), None, (matrix, (1,))]:
        assert str(stand_in_types.typeof(value)) == str(numba.typeof(value))
    with pytest.raises(ValueError, match="Cannot determine"):
        stand_in_types.typeof(object())


def test_a_type_converts_a_number():
    """With NumPy's number of that type; with types it makes a signature."""
    made = stand_in_types.TYPES["int8"](3.7)
    assert made == 3 and isinstance(made, np.int8)
    kind = stand_in_types.TYPES["float32"]
    assert str(kind(kind, kind[:])) == "(float32, array(float32, 1d, A)) -> float32"
    assert kind[:, ::1] == kind[:, ::1] != kind[::1, :]
    assert len({kind[:], kind[:], kind}) == 2
