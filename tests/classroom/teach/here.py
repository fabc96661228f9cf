"""A stand-in for the sandbox: its tasks are done in this process."""

from contextlib import nullcontext
from types import SimpleNamespace

from course_lib.classroom.teach.tasks import TASKS


def do(task, *arguments):
    """Do a task as a sandbox's process does it."""
    return TASKS[task](*arguments)


def here(do=do):
    """Return a function to call in place of `Sandbox`."""
    return lambda limits: nullcontext(SimpleNamespace(do=do))
