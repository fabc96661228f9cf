"""Judges answers to exercises: `python verdicts.py ANSWERS` prints as JSON what each verdict says.

ANSWERS is a file with a JSON list of [exercise, text of a module, name of the kernel in it].
"""

import importlib.util
import json
import sys
import tempfile
from pathlib import Path


def verdicts(answers):
    """Return for each answer its status, points, checks, the id of its hint, and all that is shown."""
    from course_lib import check

    said = []
    with tempfile.TemporaryDirectory() as folder:
        for number, (exercise, text, name) in enumerate(answers):
            file = Path(folder, f"answer{number}.py")
            file.write_text(text, encoding="utf-8")
            spec = importlib.util.spec_from_file_location(f"answer{number}", file)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            verdict = check(exercise, getattr(module, name))
            checks = [each.passed for each in verdict.checks]
            said.append([verdict.status, verdict.points, checks, verdict.hint_id, repr(verdict)])
    return said


if __name__ == "__main__":
    import course_lib  # noqa: F401  # where numba is not installed, its names come with it

    print(json.dumps(verdicts(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))))
