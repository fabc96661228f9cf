"""Host programs that run in the tests' own process."""

import linecache

import pytest

from course_lib.machine.programs.stand_ins import without_device
from course_lib.machine.simulated_launch import simulated
from course_lib.simulator.findings import SimulatorError

HEAD = """import asyncio
import numpy as np, numba
from numba import cuda

@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2

"""


@pytest.fixture
def hosted(request):
    """Run a host program, in this process; return the runs of its launches, and what is said to the user.

    A launch that is refused has a text instead.
    """

    def run(body):
        text, name = HEAD + body, f"<{request.node.name}>"
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
        runs, notes = [], []

        def launch(kernel, grid, block, shared_bytes, arguments):
            try:
                runs.append(simulated(kernel, grid, block, arguments, shared_bytes=shared_bytes).run)
            except SimulatorError as error:
                runs.append(str(error))

        with without_device(launch, notes.append):
            exec(compile(text, name, "exec"), {"__name__": "program"})
        return runs, " ".join(notes)

    return run
