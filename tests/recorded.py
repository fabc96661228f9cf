"""The rungs and the GPUs of which there are recordings.

Tests of what was measured or compiled run over these: a new rung has neither until somebody records it, and the folder
of a GPU need not have every kind.
"""

import json

from course_lib.machine import measurements
from course_lib.machine.machine_code.recorded import FILE


def gpus(what):
    """Return the names of the GPUs with a recording of this kind."""
    return [gpu for gpu in measurements.gpus() if what in measurements.kinds(gpu)]


def rungs(what, gpu=measurements.DEFAULT_GPU):
    """Return the names of the rungs in a recording of a GPU."""
    return {result["rung"] for result in measurements.load(what, gpu).results if "rung" in result}


#: Those of which there is machine code where no compiler is installed.
WITH_CODE = {entry["rung"] for entry in json.loads(FILE.read_text(encoding="utf-8"))["results"]}
