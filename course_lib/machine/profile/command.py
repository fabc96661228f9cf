"""Profiles kernels without a GPU.

    tile-by-tile profile my_script.py
    tile-by-tile profile my_kernel.py:kernel --grid 4,4 --block 16,16 --array A=random:float32:64,64 ...

The first form runs a script as it is, and profiles each of its launches.

A script gets the arguments after ``--``.

Exit status: a script's own if that is not 0. Else 1 if a launch is wrong or suspect or exceeds a budget (with
``--fail-on warning``: or is slow); else 2 if the command is used wrongly, a script was stopped or a kernel could not be
judged; else 0.
"""

import argparse
import json
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...lazy import called, is_missing, lacking
from ...simulator.check_all import LAUNCHES, Checked
from ...simulator.findings import KINDS, SimulatorError
from ...simulator.formatting import plural
from ...simulator.language.source.reading import read
from ...simulator.run import COUNTS
from ...simulator.testing import exceeded, not_allowed
from ...trace.simulate import simulate
from .. import measurements
from ..programs.launches import Policy, ScriptLaunch
from ..programs.process import Request
from ..programs.program import PythonProgram, run_program
from ..programs.statements import UsageError, compiled, left_out
from .arguments import FORM, in_order, numbers
from .kernel_files import File, load, split
from .launch_handler import ProfilingHandler
from .profiling import Profile, profile
from .report import ProfiledLaunch, as_data, as_found, as_page, as_text, first_screen, machine_code
from .residency import check_registers
from .verdicts import LaunchVerdict, launched

#: How long a script may run, in seconds.
SECONDS = 120.0


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    p = argparse.ArgumentParser(
        prog=called("profile"),
        description="Profile numba CUDA kernels without a GPU: what is wrong or slow, in which line, and a change that "
        "was tried and helps. The exit status is the script's own if that is not 0; else 1 if a launch is wrong or "
        "suspect or exceeds a budget, 2 if the command is used wrongly, the script was stopped or a kernel could not "
        "be judged, else 0. Words after -- are the script's own arguments.",
    )
    p.add_argument(
        "kernel",
        nargs="+",
        help="scripts, whose launches are profiled; or a file and a kernel in it: my_kernel.py:kernel",
        metavar="SCRIPT",
    )
    p.add_argument("--grid", help="blocks, as 4,4", metavar="X,Y,Z")
    p.add_argument("--block", help="threads of a block, as 16,16", metavar="X,Y,Z")
    p.add_argument("--array", action="append", default=[], metavar="NAME=SPEC", help=f"NAME={FORM}; or NAME=file:A.npy")
    p.add_argument("--scalar", action="append", default=[], metavar="NAME=VALUE", help="n=64, or alpha=float32:1.5")
    p.add_argument(
        "--launch",
        metavar="FUNCTION",
        help="a function of the same file that returns grid, block and a tuple of arguments, in place of these options",
    )
    p.add_argument(
        "--check-all",
        nargs="?",
        const="",
        metavar="FUNCTION",
        help="launch for many sizes, and profile the smallest launch that fails: a function of the same file takes "
        "sizes, and returns grid, block, a tuple of arguments and, if wanted, what arrays should hold by name; without "
        "one, the kernel is launched as a product of matrices (A, B, C)",
    )
    p.add_argument("--launches", type=int, default=LAUNCHES, metavar="N", help=f"of --check-all ({LAUNCHES})")
    p.add_argument("--seed", type=int, default=0, help="of random arrays (0)")
    p.add_argument("--shared-bytes", type=int, default=0, metavar="N", help="dynamic shared memory of a block (0)")
    p.add_argument("--registers", type=int, metavar="N", help="registers of a thread, as a compiler reports them")
    modelled = [gpu for gpu in measurements.gpus() if measurements.MACHINE in measurements.kinds(gpu)]
    p.add_argument("--gpu", choices=modelled, default=measurements.DEFAULT_GPU, help="a recorded GPU")
    p.add_argument("--max-steps", type=int, metavar="N", help="loop iterations that one launch may run")
    p.add_argument(
        "--allow",
        action="append",
        default=[],
        choices=KINDS,
        metavar="KIND",
        help=f"accept a kind of finding: {', '.join(KINDS)}",
    )
    for count in COUNTS:
        p.add_argument(
            f"--max-{count.replace('_', '-')}", type=int, metavar="N", help=f"budget of the launch's {count}"
        )
    p.add_argument(
        "--limit", type=float, default=SECONDS, metavar="S", help=f"seconds that a script may run ({SECONDS:g})"
    )
    p.add_argument(
        "--skip-failing",
        action="store_true",
        help="leave out the statements of the file that raise an exception, as imports of packages that are not there",
    )
    p.add_argument(
        "--fail-on",
        choices=("error", "warning"),
        default="error",
        help="with warning, the exit status is also 1 for a slow launch (error)",
    )
    p.add_argument("--all", action="store_true", help="print the tables: each line's traffic, occupancy, time")
    p.add_argument(
        "--machine-code",
        action="store_true",
        help="print each line's counts as written and as compiled, and what the compiler made of each inner loop",
    )
    p.add_argument("--html", type=Path, metavar="FILE", help="write one HTML page with the live stepper of each launch")
    p.add_argument("--json", action="store_true", help="print JSON in place of text")
    return p


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    end = given.index("--") if "--" in given else len(given)
    own = argparse.Namespace(words=given[end + 1 :], command=shlex.join(["profile", *given]))
    options = parser().parse_args(given[:end], own)
    try:
        return _run(options)
    except UsageError as error:
        print(error, file=sys.stderr)
    except SimulatorError as error:  # the launch is wrong, or the kernel is none that the simulator runs
        print(f"{options.kernel[0]}: {error.without_option()}", file=sys.stderr)
    return 2


def _run(options: argparse.Namespace) -> int:
    try:
        check_registers(options.registers)
    except ValueError as error:
        raise UsageError(f"{error}.") from None
    if options.html and is_missing("anywidget"):
        raise UsageError(str(lacking("--html", "anywidget")))
    scripts = [name.rpartition(":")[2].endswith(".py") for name in options.kernel]
    if all(scripts):
        return _scripts(options)
    if len(scripts) > 1:
        raise UsageError("Name several scripts, or one kernel of a file as my_kernel.py:kernel.")
    return _kernel(options, options.kernel[0])


def _kernel(options: argparse.Namespace, target: str) -> int:
    path, name = split(target)
    if options.seed < 0:
        raise UsageError(f"--seed is {options.seed}; it is 0 or more.")
    file = load(path, options.words, options.skip_failing)
    kernel = file.kernel(name)
    if file.failures:
        print(f"{path}: {file.failures}.", file=sys.stderr)
    checked = None
    if options.check_all is None:
        grid, block, values = _launch(options, file, kernel)
    else:
        checked, grid, block, values = _checked(options, file, kernel)
        if checked.holds:
            print(json.dumps({"clean": True, **_data(checked)}, indent=1) if options.json else checked)
            return 0
    settings = {name: getattr(options, name) for name in ("shared_bytes", "registers", "gpu", "max_steps")}
    launch = profile(kernel, grid, block, *values, **settings, compare_machine_code=options.machine_code)
    judged = _judged(options, launch, checked=checked)
    return _report(options, [judged], as_data(judged) | {"clean": not judged.fails} | _data(checked))


def _budgets(options: argparse.Namespace) -> dict[str, int]:
    return {count: limit for count in COUNTS if (limit := getattr(options, f"max_{count}")) is not None}


def _judged(
    options: argparse.Namespace,
    launch: Profile,
    script_launch: ScriptLaunch | None = None,
    checked: Checked | None = None,
) -> ProfiledLaunch:
    """Return a launch, of a script if ``script_launch`` is given, with what fails it by the options."""
    verdict = launch.verdict(options.allow)
    if checked is not None:
        verdict = replace(verdict, word="WRONG", says=repr(checked))
    over = tuple(map(str, exceeded(launch.run, _budgets(options))))
    strict = options.fail_on == "warning"
    found = not_allowed(launch.run, options.allow)
    slow = launch.slow if strict else ()
    bad = [each for each in found if strict or KINDS[each.kind].values]
    fails = [repr(checked) if checked is not None else "", launch.failed, *over, *map(str, bad), *map(str, slow)]
    return ProfiledLaunch(
        launched(launch.run, script_launch.times if script_launch else 1),
        verdict,
        launch,
        fails=(*filter(None, fails),),
        over=over,
        wanted=checked.wanted if checked is not None else {},
        script_launch=script_launch,
    )


def _report(options: argparse.Namespace, launches: Sequence[ProfiledLaunch], data: Any, more: int = 0) -> int:
    """Print what the options ask for, as JSON the data; return the exit status."""
    if options.json:
        print(json.dumps(data, indent=1))
    else:
        several = len({each.script for each in launches}) > 1
        for number, each in enumerate(launches if options.all else (), 1):
            script = f": {each.script}" if several else ""
            print(f"--- Launch {number} of {len(launches)}{script}\n{as_text(each)}\n")
        for each in launches if options.machine_code else ():
            print(f"{machine_code(each)}\n")
        print(first_screen(launches, sys.stdout.isatty() and "NO_COLOR" not in os.environ))
        if more:
            print(f"{plural(more, 'further launch', 'es')}: nothing was found that is not told above.")
    if options.html:
        try:
            options.html.write_text(as_page(launches, f"tile-by-tile {options.command}"), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{options.html}: {error.strerror}.") from None
        print(f"Page: {options.html}", file=sys.stderr if options.json else sys.stdout)
    if any(each.fails for each in launches):
        return 1
    return 2 if any(each.profile is None for each in launches) else 0


def _scripts(options: argparse.Namespace) -> int:
    """Profile the launches that scripts make, in one report."""
    if options.launch or options.check_all is not None:
        raise UsageError("--launch and --check-all need a kernel: name it after the file, as my_kernel.py:kernel.")
    _refuse_second_launch(options, "A script")
    if options.shared_bytes:
        raise UsageError("A script says itself how much dynamic shared memory a launch has; leave out --shared-bytes.")
    if not options.limit > 0:
        raise UsageError(f"--limit is {options.limit:g}; it is a number of seconds above 0.")
    every: list[ProfiledLaunch] = []
    found: list[dict[str, Any]] = []
    programs: list[dict[str, Any]] = []
    more, lost = 0, False
    several = len(set(options.kernel)) > 1
    # tries of repairs take a third of the time at most
    handler = ProfilingHandler(
        options.gpu, options.registers, options.limit / 3, _budgets(options), options.machine_code
    )
    request = Request(handler, Policy(goes_on=True), options.max_steps)
    for name in options.kernel:
        compiled(Path(name), name)
        words = (name, *options.words)
        program = PythonProgram(words, options.gpu, options.limit, apart=True, skip_failing=options.skip_failing)
        done = run_program(program, request)
        launches = done.launches
        ended = {"status": done.status, "stopped": done.stopped, "launches": launches.number}
        programs.append({"script": name, **ended})
        if done.skipped:
            print(f"Statements that fail are left out: {left_out(done.skipped, 3)}.", file=sys.stderr)
        for said in done.notes:
            print(said, file=sys.stderr)
        if done.stopped:
            print(f"{done.stopped}; --limit gives it more time.", file=sys.stderr)
        elif done.status:
            print(f"{name} ended with the exit status {done.status}.", file=sys.stderr)
        if not launches.number:
            advice = f"let it pass NumPy arrays to a kernel, or name one, as {name}:kernel"
            print(f"{name} made no launch{'' if done.status else f': {advice}'}.", file=sys.stderr)
        lost = lost or done.lost
        more += launches.more
        found += [as_found(each, name) for each in launches.found.values()]
        for each in launches.every:
            judged = replace(_of_script(options, each), found=launches.found, script=name)
            said = f"{name}: {judged.launched}" if several else judged.launched
            every.append(replace(judged, launched=said))

    failed = next((each["status"] for each in programs if each["status"] and not each["stopped"]), 0)
    unknown = lost or any(each["stopped"] or not each["launches"] for each in programs)
    all_right = all(not each.fails and each.profile is not None for each in every)
    clean = not failed and not unknown and all_right
    data = {"launches": [*map(as_data, every)], "findings": found, "clean": clean, "not_profiled": more}
    status = _report(options, every, data | {"programs": programs}, more) if every or options.json else 0
    return failed or status or (2 if unknown else 0)


def _of_script(options: argparse.Namespace, each: ScriptLaunch) -> ProfiledLaunch:
    """Return what is said of a launch of a script."""
    if each.verdict is not None:
        return _judged(options, each.verdict, each)
    if not each.stopped:
        return ProfiledLaunch(each.name, LaunchVerdict("REFUSED", each.refused), script_launch=each)
    says = f"the script launches it in line {each.first.line}, and ended before it did"
    return ProfiledLaunch(each.stopped, LaunchVerdict("STOPPED", says), script_launch=each)


def _launch(options: argparse.Namespace, file: File, kernel: Any) -> Any:
    """Return the grid, the block and the arguments, from the options or from a function of the file."""
    if options.launch:
        _refuse_second_launch(options, "--launch")
        make = file.named(options.launch)
        ended = ""
        try:
            returned = make()
        except Exception as error:
            returned = None
            ended = f"; it ended with {type(error).__name__}: {error}"
        if not isinstance(returned, tuple) or len(returned) < 3 or not isinstance(returned[2], tuple | list):
            raise UsageError(f"{options.launch}() must return grid, block and a tuple of arguments{ended}.")
        return returned[:3]
    for option in ("grid", "block"):
        if getattr(options, option) is None:
            raise UsageError(f"Give the launch a --{option}, as --{option} {'4,4' if option == 'grid' else '16,16'}.")
    grid = numbers("the grid", options.grid)
    block = numbers("the block", options.block)
    source = read(kernel)
    return grid, block, in_order(source.name, source.parameters, options.array, options.scalar, options.seed)


def _refuse_second_launch(options: argparse.Namespace, name: str) -> None:
    """Refuse a launch that is given twice."""
    if options.grid or options.block or options.array or options.scalar:
        raise UsageError(f"{name} gives grid, block and arguments; leave out --grid, --block, --array and --scalar.")


def _checked(options: argparse.Namespace, file: File, kernel: Any) -> tuple[Checked, Any, Any, Sequence[Any]]:
    """Return what many launches say, and grid, block and arguments of the smallest that fails, if one does."""
    _refuse_second_launch(options, "--check-all")
    if options.launch:
        raise UsageError("--check-all and --launch both give the launch; leave one of them out.")
    if options.launches < 1:
        raise UsageError(f"--launches is {options.launches}; it is 1 or more.")
    launch = file.named(options.check_all) if options.check_all else None
    if launch is not None and not callable(launch):
        raise UsageError(f"{options.check_all!r} in {file.path} is no function of sizes.")
    found = simulate(kernel, max_steps=options.max_steps).check_all(
        launch,
        allow=[*options.allow, "float64"],
        launches=options.launches,
        seed=options.seed,
        shared_bytes=options.shared_bytes,
    )
    smallest = (0, 0, ()) if found.sizes is None or found.launch is None else found.launch(**found.sizes)[:3]
    return found, *smallest


def _data(checked: Checked | None) -> dict[str, Any]:
    """Return what many launches say, as JSON holds it."""
    names = ("launches", "without", "largest", "sizes", "schedule", "reason")
    return {"checked": {name: getattr(checked, name) for name in names}} if checked is not None else {}
