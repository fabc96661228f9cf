"""Runs a program without a GPU, as Python runs it, and judges each launch of a kernel.

    tile-by-tile run script.py ARGUMENTS
    tile-by-tile run -m pytest tests
    tile-by-tile run -m package

The findings are printed to stderr after the program's own output.

Exit status: the program's own if that is not 0. Else 1 if there are errors, which are findings that may change values
(with ``--fail-on warning``: or warnings, which cost only time); else 2 if the command is used wrongly or a launch is
not judged, as one that is refused (unless ``--allow refused`` accepts that); else 0.
"""

import argparse
import os
import shlex
import sys
from collections.abc import Sequence

from ...lazy import called
from ...simulator.findings import KINDS
from .. import measurements
from .launches import Policy, failing
from .process import Request
from .program import PythonProgram, run_program
from .report import REFUSED, fails, report, wrapped
from .stand_ins import CUDASIM


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    p = argparse.ArgumentParser(
        prog=called("run"),
        usage="%(prog)s [OPTION ...] (SCRIPT | -m MODULE) [ARGUMENT ...]",
        description="Run a program as Python does, without a GPU: each launch of a numba CUDA kernel is simulated and "
        "judged, in the program and in the Python processes that it starts. Findings are printed to stderr at the end. "
        "The exit status is the program's own if that is not 0; else 1 if there are errors, 2 if a launch is not "
        "judged, else 0.",
        allow_abbrev=False,
    )
    p.add_argument("program", nargs=argparse.REMAINDER, help="a script and its arguments", metavar="SCRIPT")
    p.add_argument("-m", nargs=argparse.REMAINDER, dest="module", help="a module and its arguments", metavar="MODULE")
    p.add_argument(
        "--strict",
        action="store_true",
        help="raise KernelError at a launch with a finding that makes the exit status 1",
    )
    p.add_argument(
        "--allow",
        action="append",
        default=[],
        type=_allowed,
        metavar="KIND[:KERNEL]",
        help=f"accept a kind of finding, in all kernels or in those of this name: {', '.join(KINDS)}; or {REFUSED}: "
        "launches that are not simulated",
    )
    p.add_argument(
        "--fail-on",
        choices=("error", "warning"),
        default="error",
        help="with warning, the exit status is also 1 for findings that only cost time, as float64 (error)",
    )
    p.add_argument("--limit", type=float, metavar="S", help="seconds that the program may run (any time)")
    p.add_argument("--max-steps", type=int, metavar="N", help="loop iterations that one launch may run")
    modelled = [gpu for gpu in measurements.gpus() if measurements.MACHINE in measurements.kinds(gpu)]
    p.add_argument(
        "--gpu", choices=modelled, default=measurements.DEFAULT_GPU, help="the recorded GPU that the program asks for"
    )
    return p


def _allowed(word: str) -> str:
    """Return a word of --allow if there is such a kind."""
    kind, of_kernel, kernel = word.partition(":")
    is_named = not of_kernel or kernel.isidentifier()
    if word != REFUSED and not (kind in KINDS and is_named):
        raise argparse.ArgumentTypeError(
            f"{word} is neither a kind nor KIND:KERNEL; the kinds are {', '.join(KINDS)}, and {REFUSED} for launches "
            "that are not simulated"
        )
    return word


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    p = parser()
    options = p.parse_args(arguments)
    words = ("-m", *options.module) if options.module else tuple(options.program)
    if options.module == [] or not words:
        p.error("name a script, or a module after -m")
    if words[0].startswith("-") and not options.module:
        p.error(f"{words[0]} is no option of this command")
    if options.limit is not None and not options.limit > 0:
        p.error(f"--limit is {options.limit:g}; it is a number of seconds above 0")
    if os.environ.get(CUDASIM, "0") != "0":
        print(f"{CUDASIM} is not set for the program: this simulator takes the place of numba's.", file=sys.stderr)
    warnings = options.fail_on == "warning"
    policy = Policy(raising=failing(warnings) if options.strict else frozenset(), allow=tuple(options.allow))
    request = Request(policy=policy, max_steps=options.max_steps)
    done = run_program(PythonProgram(words, options.gpu, options.limit), request)

    launches = done.launches
    lines = [*done.notes, *report(launches, options.allow)]
    if any(fails(each, options.allow, warnings=True) for each in launches.found.values()):
        lines += wrapped(more(words))
    if words[:2] == ("-m", "pytest") and "--strict" in words and not options.strict:
        lines.append("--strict stands after -m pytest, so pytest took it; write it before -m to raise at the launch.")
    if done.stopped:
        lines.append(f"{done.stopped}; --limit gives it more time.")
    if done.left:
        those = ", ".join(map(str, done.left))
        lines.append(f"Still running, and judged no longer: the program's processes {those}.")
    print("\n".join(lines), file=sys.stderr)
    if done.status and not done.stopped:
        return done.status
    if any(fails(each, options.allow, warnings) for each in launches.found.values()):
        return 1
    refused = launches.refused and REFUSED not in options.allow
    running = any(each.stopped for each in launches.every)
    return 2 if done.stopped or done.left or done.lost or refused or running else 0


def more(words: Sequence[str]) -> str:
    """Return which command says more of the findings of a program that these words run."""
    script, *arguments = words
    command = called("profile")
    if not script.endswith(".py"):  # a module, as pytest: profile takes scripts
        return f"To see more and to try repairs, write a script that makes such a launch: {command} SCRIPT.py"
    given = shlex.join([script, *(["--", *arguments] if arguments else [])])
    return f"To see more and to try repairs: {command} {given}"
