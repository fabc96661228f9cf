"""What the tests of generated kernels and of the table of cases share."""

import pytest
from oracles.numba_simulator import NumbaSimulator

from course_lib.simulator.compile import compiled_kernel
from course_lib.simulator.language.program.writer import Code, Writer


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(autouse=True)
def typed(monkeypatch):
    """Hold every number that a kernel computes against the type that the typed program gives it."""

    def checked(out, node):
        code = emitted(out, node)
        return Code(f"typed({code.text}, {out.module.dtype(node.type)})") if node.is_scalar else code

    def same(value, dtype):
        assert value is None or value.dtype == dtype, f"{value.dtype}, and its type is {dtype}"
        return value

    emitted = Writer.expr
    monkeypatch.setattr(Writer, "expr", checked)
    monkeypatch.setitem(compiled_kernel.SCOPE, "typed", same)


@pytest.fixture(scope="session")
def numba_simulator():
    """Numba's own simulator, in a process of its own."""
    simulator = NumbaSimulator()
    yield simulator
    simulator.close()
