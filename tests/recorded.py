"""The rungs of which there are recordings.

Tests of what was measured or compiled run over these: a new rung has neither until somebody records it.
"""

import json

from course_lib.machine import measurements
from course_lib.machine.compiler.recorded import FILE


def rungs(what, gpu=measurements.DEFAULT_GPU):
    """Return the names of the rungs in a recording of a GPU; none where it has no such recording."""
    if what not in measurements.kinds(gpu):
        return set()
    return {result["rung"] for result in measurements.load(what, gpu).results if "rung" in result}


#: Those of which there is machine code where no compiler is installed.
WITH_CODE = {entry["rung"] for entry in json.loads(FILE.read_text(encoding="utf-8"))["results"]}
