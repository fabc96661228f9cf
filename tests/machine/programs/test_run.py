"""``tile-by-tile run``: a program is what it is for ``python``, and each launch of it is judged."""

import contextlib
import linecache
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import textwrap
from functools import partial

import nightly
import pytest

from course_lib import UnsupportedKernelError
from course_lib.__main__ import main
from course_lib.machine.programs import command as of_run
from course_lib.machine.programs.launches import Launches
from course_lib.machine.programs.program import ProgramRun
from course_lib.machine.programs.stand_ins import without_device

HEAD = """import os, sys, threading
import numpy as np
from numba import cuda

@cuda.jit
def store(x):
    x[cuda.grid(1)] = 1

@cuda.jit
def wide(x):
    x[cuda.grid(1)] = x[cuda.grid(1)] * 0.5

@cuda.jit
def listed(x):
    x[0] = sorted([1, 2])[0]

@cuda.jit
def endless(x):
    i = 0
    while x[0] == 0:
        i += 1

def launch(threads, size=4):
    store[1, threads](cuda.to_device(np.zeros(size, np.float32)))

"""
RIGHT, WRONG, REFUSED = "launch(4)", "launch(5)", "listed[1, 1](np.zeros(1))"
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no os.fork")


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Return a function that writes a script, and returns its name; the current folder has it."""
    monkeypatch.chdir(tmp_path)

    def write(body, name="script.py"):
        (tmp_path / name).write_text(f"{HEAD}{body}\n", encoding="utf-8")
        return name

    return write


@pytest.fixture
def ran(script, capfd):
    """Run a script; return the exit status, and what is in stdout and in stderr."""

    def run(body, *words, options=()):
        status = main(["run", *options, script(body), *words])
        return status, *capfd.readouterr()

    return run


@pytest.fixture
def told(monkeypatch, capfd):
    """Make a script's launches in this process; return the command's status for a program that makes them, and stderr.

    ``ends``: fields of ProgramRun, how the program ended.
    """

    def run(body, *options, ends=None):
        launches = Launches()
        name = "<launches>"
        text = HEAD + body
        monkeypatch.setitem(linecache.cache, name, (len(text), None, text.splitlines(keepends=True), name))
        with without_device(launches.launch, print), contextlib.suppress(UnsupportedKernelError):
            exec(compile(text, name, "exec"), {})
        monkeypatch.setattr(of_run, "run_program", lambda *_: ProgramRun(launches, **ends or {}))
        return main(["run", *options, "script.py", "--one", "a word"]), capfd.readouterr().err

    return run


def found(err):
    """Return the kinds of findings that are told, with the number of their launches."""
    text = " ".join(err.split())
    told = re.findall(r"(\S+) \(lines? [^)]*\): .*?\((?:in (\d+) launches; the first is )?in [^)]*\)", text)
    return sorted((kind, int(times or 1)) for kind, times in told)


ENDS = [
    ("", 0, ""),
    nightly.at_night("sys.exit('a reason')", 1, "a reason\n"),
    ("raise ValueError('wrong')", 1, "ValueError: wrong\n"),
    ("os._exit(9)", 9, ""),
    nightly.at_night("sys.exit(0)", 0, ""),
    nightly.at_night("sys.exit(None)", 0, ""),
    nightly.at_night("sys.exit(7)", 7, ""),
    nightly.at_night("sys.exit(-1)", 255, ""),
    nightly.at_night("def f():\n    raise SystemExit(4)\nf()", 4, ""),
    nightly.at_night("def f():\n    f()\nf()", 1, "RecursionError"),
    nightly.at_night("raise KeyboardInterrupt", 130, "KeyboardInterrupt\n"),
    nightly.at_night("raise MemoryError", 1, "MemoryError\n"),
    nightly.at_night("import gone", 1, "ModuleNotFoundError: No module named 'gone'\n"),
    nightly.at_night("import argparse; argparse.ArgumentParser().parse_args(['--what'])", 2, "unrecognized arguments"),
    nightly.at_night("sys.excepthook = lambda *_: print('hooked', file=sys.stderr)\n1 / 0", 1, "hooked\n"),
    nightly.at_night("import ends_in_it", 3, ""),
]
if hasattr(signal, "SIGKILL"):
    ENDS.append(nightly.at_night("os.kill(os.getpid(), 9)", 128 + 9, ""))
    ENDS.append(nightly.at_night("os.abort()", 128 + 6, ""))


@pytest.mark.parametrize(("end", "status", "words"), ENDS, ids=str)
def test_nothing_runs_after_the_end(ran, tmp_path, end, status, words):
    """The status is the program's, or 1 if that is 0 and something was found; the launch before the end is told."""
    (tmp_path / "ends_in_it.py").write_text("raise SystemExit(3)")
    behind = f"open({str(tmp_path / 'behind')!r}, 'w')"
    done, _, err = ran(f"{WRONG}\n{end}\n{behind}")
    assert done == (status or 1) and found(err) == [("out-of-bounds", 1)]
    assert words in err and (tmp_path / "behind").exists() == (not end)


def test_a_traceback_is_that_of_the_program(ran):
    """No file of ours is in it, also where a call of numba's is answered by us."""
    _, _, err = ran("def f():\n    cuda.get_current_device().PCI_BUS_ID  # here\nf()")
    assert "PCI_BUS_ID  # here" in err and "in f\n" in err and "/course_lib/" not in err


@pytest.mark.parametrize(
    ("body", "options", "status"),
    [
        (RIGHT, [], 0),
        ("", [], 0),
        (WRONG, ["--allow", "out-of-bounds"], 0),
        (WRONG, ["--allow", "race"], 1),
        (WRONG, ["--allow", "out-of-bounds:store"], 0),
        (WRONG, ["--allow", "out-of-bounds:wide"], 1),
        ("wide[1, 4](np.zeros(4, np.float32))", [], 0),
        ("wide[1, 4](np.zeros(4, np.float32))", ["--fail-on", "warning"], 1),
        ("wide[1, 4](np.zeros(4, np.float32))", ["--fail-on", "warning", "--allow", "float64"], 0),
        (REFUSED, [], 2),
        (REFUSED, ["--allow", "refused"], 0),
        (f"{WRONG}\n{REFUSED}", [], 1),
        (f"{WRONG}\n{REFUSED}", ["--allow", "refused"], 1),
        (f"{WRONG}\n{REFUSED}", ["--allow", "out-of-bounds"], 2),
    ],
)
def test_which_launches_fail(told, body, options, status):
    done, err = told(body, *options)
    assert done == status and ("1 launch not simulated" in err) == (REFUSED in body)
    assert ("listed, " in err) == (REFUSED in body and "refused" not in options)


@pytest.mark.parametrize(
    ("ends", "right", "wrong"),
    [
        ({"status": 3}, 3, 3),
        ({"stopped": "The program ran for 3 s", "status": 9}, 2, 1),
        ({"left": [17]}, 2, 1),
        ({"lost": True}, 2, 1),
    ],
    ids=str,
)
def test_which_ends_fail(told, ends, right, wrong):
    assert (told(RIGHT, ends=ends)[0], told(WRONG, ends=ends)[0]) == (right, wrong)


def test_a_program_is_what_python_runs(script, tmp_path):
    """Its words, its input and output, its folder, its environment but for two variables, and its own sitecustomize."""
    (tmp_path / "beside_it.py").write_text("VALUE = 3")
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import sys; sys.of_the_user = __name__, __file__")
    text = f"""
import beside_it, json, pickle, __main__
assert __main__.launch is launch and pickle.loads(pickle.dumps(launch)) is launch
own = "PYTHONPATH", "TILE_BY_TILE_PROGRAM"
environment = {{name: value for name, value in os.environ.items() if name not in own}}
print(json.dumps([sys.argv, sys.orig_argv[1:], sys.path, __file__, sys.stdin.read(), environment, sys.of_the_user]))
print("to stderr", file=sys.stderr)
{RIGHT}
"""
    name = script(text)
    environment = os.environ | {"PYTHONPATH": str(own)}
    words = [name, "--one", "--", "-m", "two"]
    plain = [sys.executable, "-c", "import sys, subprocess; sys.exit(subprocess.call([sys.executable, *sys.argv[1:]]))"]
    course = [sys.executable, "-m", "course_lib", "run"]
    results = []
    for command, body in ((plain, text.replace(RIGHT, "")), (course, text)):
        script(body)
        options = {"input": "some\ninput", "capture_output": True, "text": True, "env": environment, "check": False}
        results.append(subprocess.run([*command, *words], **options))
    assert results[0].returncode == results[1].returncode == 0, results[1].stderr
    assert results[0].stdout == results[1].stdout and "some\\ninput" in results[0].stdout
    assert results[1].stderr.startswith("to stderr\n")


def test_a_module(script, tmp_path, capfd):
    """A package, and one that is installed, with options of its own."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    script(f"print(__name__, __package__, sys.argv[1:])\n{WRONG}", "package/__main__.py")
    assert main(["run", "-m", "package", "--strict", "-m"]) == 1
    out, err = capfd.readouterr()
    assert out == "__main__ package ['--strict', '-m']\n" and found(err) == [("out-of-bounds", 1)]
    assert main(["run", "--strict", "-m", "json.tool", "--help"]) == 0
    assert "json.tool" in capfd.readouterr().out


@pytest.mark.parametrize(
    "words",
    [[], ["-m"], ["--unknown", "script.py"], ["--limit", "0", "script.py"], ["--allow", "no-kind", "script.py"]],
)
def test_wrong_words(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["run", *words])
    assert ended.value.code == 2 and capsys.readouterr().err


def test_strict_behind_pytest_is_told(monkeypatch, capsys):
    """It is pytest's own there."""
    monkeypatch.setattr(of_run, "run_program", lambda *_: ProgramRun())
    for words, told in (
        (["-m", "pytest", "--strict"], True),
        (["--strict", "-m", "pytest", "--strict"], False),
        (["-m", "pytest", "-q"], False),
        (["-m", "package", "--strict"], False),
    ):
        main(["run", *words])
        assert ("--strict" in capsys.readouterr().err) == told


def test_strict_raises_at_the_launch(ran, tmp_path):
    """The program may catch it, and its traceback has no file of ours."""
    body = f"try:\n    {WRONG}\nexcept Exception as error:\n    print(type(error).__name__)\n{WRONG}\nprint('behind')"
    status, out, err = ran(body, options=["--strict"])
    assert status == 1 and out == "KernelError\n"
    assert "Traceback" in err and "/programs/" not in err and found(err) == [("out-of-bounds", 2)]
    status, out, _ = ran(body, options=["--strict", "--allow", "out-of-bounds"])
    assert status == 0 and out == "behind\n"


WRAPS = "wrap[1, 4](np.zeros(4, np.float32))"
WRAPPING = f"""
@cuda.jit
def wrap(x):
    x[cuda.grid(1)] = x[cuda.grid(1) - 1]

try:
    {WRAPS}
except Exception as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize(
    ("body", "kind", "options"),
    [
        (WRAPPING, "negative-index", ["--allow", "race"]),
        nightly.at_night(
            WRAPPING.replace(WRAPS, "wide[1, 4](np.zeros(4, np.float32))"), "float64", ["--fail-on", "warning"]
        ),
    ],
    ids=["may change values", "costs time"],
)
def test_strict_raises_for_what_makes_the_status_1(ran, body, kind, options):
    """A program that catches everything goes on, and the finding is told all the same."""
    status, out, err = ran(body, options=["--strict", *options])
    assert (status, out, found(err)) == (1, "KernelError\n", [(kind, 1)])
    status, out, err = ran(body, options=["--strict", *options, "--allow", kind])
    assert (status, out, found(err)) == (0, "", [])


@pytest.mark.nightly
def test_strict_leaves_a_finding_that_fails_nothing(ran):
    status, out, err = ran("wide[1, 4](np.zeros(4, np.float32))\nprint('behind')", options=["--strict"])
    assert (status, out, found(err)) == (0, "behind\n", [("float64", 1)])


def test_a_program_can_ask_whether_its_launches_are_simulated(ran, monkeypatch):
    """Its children, too, by the variable that docs/cudasim.md names; the process that runs it has none."""
    asks = "print('TILE_BY_TILE_PROGRAM' in os.environ, flush=True)"
    body = f"import subprocess\n{asks}\nsubprocess.run([sys.executable, '-c', {f'import os; {asks}'!r}])"
    assert ran(body)[1] == "True\nTrue\n"
    assert "TILE_BY_TILE_PROGRAM" not in os.environ


RAISING = """import pytest
WORD = "one"

class Own(Exception):
    pass

@cuda.jit(debug={debug}, opt=False)
def checked(x):
    if x[0] == 1:
        raise Own(WORD, 1)
    assert x[0] != 2, "two"
    x[0] = 1 // x[0]

def raised(n, kind, words):
    with pytest.raises(kind, match=words):
        checked[1, 1](np.full(1, n))
"""


@pytest.mark.parametrize("options", nightly.every(2, [[], ["--strict"]]), ids=str)
def test_an_exception_of_a_kernel_with_debug_is_the_program_s(ran, options):
    """Its launch raises it, as on a GPU, and it is no finding; a bug beside it is one."""
    of_all = "\n".join(
        f"raised({each})" for each in ("1, Own, 'one'", "2, AssertionError, 'two'", "0, ArithmeticError, ''")
    )
    body = RAISING.format(debug=True) + of_all
    status, _, err = ran(body, options=options)
    assert status == 0 and found(err) == []
    assert ran(body.replace("if x[0]", "x[1] = 0\n    if x[0]"), options=options)[0] == 1


def test_an_exception_of_a_kernel_without_debug_is_a_finding(ran):
    """A GPU ends the thread there, and says nothing."""
    status, _, err = ran(RAISING.format(debug=False) + "checked[1, 1](np.ones(1))")
    assert status == 1 and found(err) == [("raised-exception", 1)]


@pytest.mark.parametrize("kernel", nightly.every(2, ["listed", "endless"]))
def test_a_launch_without_a_result_raises(ran, kernel):
    """It is refused, or stopped; the program would go on with wrong values."""
    status, out, err = ran(f"{kernel}[1, 1](np.zeros(1))\nprint('behind')", options=["--max-steps", "100"])
    assert status == 1 and out == "" and "Error: " in err and kernel in err


def test_what_a_program_catches_is_told(ran):
    """A loop without end is a finding, a kernel that is refused is none."""
    caught = "try:\n    {}[1, 1](np.zeros(1))\nexcept Exception:\n    print('caught')\n"
    body = caught.format("endless") + caught.format("listed")
    status, out, err = ran(body, options=["--max-steps", "100"])
    assert status == 1 and out == "caught\ncaught\n" and "1 error" in err and "sorted" in err


NOT_SIMULATED = {
    "caught": "try:\n    {}\nexcept course_lib.UnsupportedKernelError:\n    pass",
    "expected": "with pytest.raises(Exception):\n    {}",
    "in a child": "subprocess.run([sys.executable, '-c', 'import script, numpy as np; script.{}'], check=False)",
}


@pytest.mark.parametrize(
    ("program", "further", "options", "status"),
    [
        ("in a child", "", [], 2),
        *[nightly.at_night(program, "", [], 2) for program in ("caught", "expected")],
        nightly.at_night("caught", WRONG, ["--allow", "refused"], 1),
    ],
)
def test_a_launch_that_is_not_simulated(ran, program, further, options, status):
    """It makes the status 2 if the program goes on and ends with 0, unless that is accepted."""
    body = textwrap.indent(f"{NOT_SIMULATED[program].format(REFUSED)}\n{further}", "    ")
    done, _, err = ran(f"import course_lib, pytest, subprocess\nif __name__ == '__main__':\n{body}", options=options)
    assert done == status and "1 launch not simulated" in err
    assert ("listed, " in err) == ("refused" not in options)


def test_the_summary_counts_what_is_accepted(told):
    """Beside the findings that are not."""
    status, err = told(f"{WRONG}\nwide[1, 4](np.zeros(4, np.float32))", "--allow", "out-of-bounds")
    assert status == 0 and found(err) == [("float64", 1)]
    assert "1 warning, 1 accepted by --allow out-of-bounds" in err
    assert "warning: float64 " in err and "error: " not in err


@pytest.mark.parametrize("unused", ["race", "out-of-bounds:another", "refused"])
def test_a_word_that_accepts_nothing_is_told(told, unused):
    """As of a kernel that has another name by now. It changes no status."""
    for body in ("", RIGHT, WRONG):
        status, err = told(body, "--allow", unused, "--allow", "out-of-bounds:store")
        assert status == 0 and f"--allow {unused} accepted nothing" in err
        assert ("--allow out-of-bounds:store accepted nothing" in err) == (body != WRONG)
    assert "accepted nothing" not in told(REFUSED, "--allow", "refused")[1]


def test_a_command_says_more_of_what_was_found(told):
    """It has the script with its arguments; nothing says more where nothing was found."""
    assert "profile" not in told(RIGHT)[1]
    assert told(WRONG)[1].endswith("profile script.py -- --one 'a word'\n")


@pytest.mark.nightly
@pytest.mark.parametrize("arguments", [(), ("one", "--two", "a word")], ids=["alone", "with arguments"])
def test_the_command_that_says_more(ran, arguments):
    """It is told after findings alone, and takes the script with its arguments."""
    body = f"assert sys.argv[1:] == {[*arguments]}\n{{}}"
    assert "profile" not in ran(body.format(RIGHT), *arguments)[2]
    command = re.search(r"tile-by-tile (profile .*)|course_lib (profile .*)", ran(body.format(WRONG), *arguments)[2])
    assert main(shlex.split(command[1] or command[2])) == 1


CHILDREN = {
    "fork": "multiprocessing.get_context('fork').Process(target=launch, args=(5,))",
    "spawn": "multiprocessing.get_context('spawn').Process(target=launch, args=(5,))",
    "os._exit": "multiprocessing.get_context('spawn').Process(target=end, args=(5,))",
}


@forks
@pytest.mark.parametrize("kind", nightly.every(2, CHILDREN))
def test_processes_of_multiprocessing(ran, kind):
    """Findings of the program and of its children are one."""
    start = f"process = {CHILDREN[kind]}\n    process.start(); process.join()"
    end = "def end(threads):\n    launch(threads)\n    os._exit(0)\n"
    status, _, err = ran(f"import multiprocessing\n{end}if __name__ == '__main__':\n    {start}\n    {WRONG}")
    assert status == 1 and found(err) == [("out-of-bounds", 2)]
    assert "2 launches of 1 kernel" in err


@pytest.mark.nightly
def test_interpreters_that_a_program_starts(ran):
    """With their own children, in another session, and with an environment that keeps the variables."""
    run = "subprocess.run([sys.executable, '-c', {!r}], {}check=True)"
    inner = f"import script, os; script.{WRONG}; os._exit(0)"
    outer = f"import subprocess, sys; {run.format(inner, '')}"
    body = f"    {run.format(outer, '')}\n    {run.format(inner, 'start_new_session=True, ')}"
    status, _, err = ran(f"import subprocess\nif __name__ == '__main__':\n{body}")
    assert status == 1 and found(err) == [("out-of-bounds", 2)]


@pytest.mark.nightly
def test_the_workers_of_xdist(tmp_path, monkeypatch, capfd):
    """Each test of a suite fails or passes as it does, and the findings of all workers are told."""
    monkeypatch.chdir(tmp_path)
    for name, launch in (("test_right.py", RIGHT), ("test_wrong.py", WRONG)):
        (tmp_path / name).write_text(f"{HEAD}def test_it():\n    {launch}\n", encoding="utf-8")
    suite = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2"]
    assert main(["run", *suite]) == 1
    out, err = capfd.readouterr()
    assert "2 passed" in out and found(err) == [("out-of-bounds", 1)]
    assert main(["run", "--strict", *suite]) == 1
    out, err = capfd.readouterr()
    assert "1 failed, 1 passed" in out and "course_lib/machine" not in out and found(err) == [("out-of-bounds", 1)]


def test_without_gpu_within_a_program(ran):
    """It collects or raises there, and the command is told all the same."""
    body = f"""
import course_lib
with course_lib.without_gpu(strict=False) as launches:
    {WRONG}
assert [each.problem.kind for each in launches.findings] == ["out-of-bounds"]
{WRONG}
with course_lib.without_gpu() as launches:
    assert launches
    try:
        {WRONG}
    except course_lib.KernelError:
        print("raised")
"""
    status, out, err = ran(body)
    assert status == 1 and out == "raised\n" and found(err) == [("out-of-bounds", 3)]


def test_numba_s_own_simulator_is_not_used(ran, monkeypatch):
    """Neither by the environment nor by the program."""
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    status, _, err = ran(WRONG)
    assert status == 1 and found(err) == [("out-of-bounds", 1)] and "NUMBA_ENABLE_CUDASIM" in err


def test_what_a_kernel_prints_is_in_stdout(ran):
    body = "@cuda.jit\ndef says(x):\n    print(x[0])\nsays[1, 1](np.full(1, 7))"
    assert ran(body)[:2] == (0, "7\n")


def starts_another_session(first):
    """A script's body that makes a launch, and starts ``p`` in another session: a process that launches and waits."""
    child = f"import script, threading; script.{WRONG}; print(flush=True); threading.Event().wait()"
    body = f"import subprocess\nif __name__ == '__main__':\n    {first}\n"
    return f"{body}    p = subprocess.Popen([sys.executable, '-c', {child!r}], stdout=-1, start_new_session=True)\n"


@pytest.mark.nightly
@forks
def test_a_limit(ran):
    """Findings before it are told, and those of a process that waits in another session."""
    body = starts_another_session(WRONG)
    body += "    print('process', p.pid, p.stdout.readline(), flush=True)\n"
    body += "    from course_lib.machine.programs import start\n    from pathlib import Path\n"
    body += "    start.stop(Path(os.environ[start.FOLDER]), 0, __file__)\n"
    status, out, err = ran(body, options=["--limit", "300"])
    assert status == 1 and found(err) == [("out-of-bounds", 2)] and "ran for 300 s and was stopped in line" in err
    with contextlib.suppress(ProcessLookupError):  # it may have ended already; if not, wait for that
        select.select([os.pidfd_open(int(out.split()[1]))], [], [])


@pytest.mark.parametrize(
    ("store", "kind"), [("x[64] = cuda.grid(1)", "race"), nightly.at_night("x[65] = 1", "out-of-bounds")]
)
def test_what_was_found_in_a_launch_that_the_limit_stopped(ran, store, kind):
    """It is told beside the launch, which did not end; also a race of accesses that are compared at its end."""
    body = f"""
@cuda.jit
def long(x):
    {store}
    for k in range(10**4):
        for j in range(10**3):
            x[cuda.grid(1)] = x[cuda.grid(1)] * 3 + 1

def stop():
    from pathlib import Path
    from course_lib.machine.programs import start
    from course_lib.simulator.simulation import RUNNING
    while not any(judge.findings_so_far() for judges in list(RUNNING) for judge in judges):
        threading.Event().wait(0.01)
    start.stop(Path(os.environ[start.FOLDER]), 0, __file__)

threading.Thread(target=stop, daemon=True).start()
long[1, 64](np.zeros(65, np.float64))
"""
    status, _, err = ran(body, options=["--limit", "300"])
    assert (status, found(err)) == (1, [(kind, 1)]) and "long [1, 64] did not end" in err


def test_the_line_of_a_kernel_in_a_text_is_shown(ran):
    """No file has it, and the process that executed it is gone."""
    status, _, err = ran('exec("@cuda.jit\\ndef made(x):\\n    x[4] = 7\\n")\nmade[1, 1](np.zeros(4))')
    assert status == 1 and "line 3 | x[4] = 7\n" in err


@pytest.mark.nightly
@forks
def test_a_process_that_goes_on_is_told(ran):
    """It is not ended, as it is not by ``python``; what it found is told."""
    body = starts_another_session(RIGHT)
    body += "    p.stdout.readline()\n    print(p.pid)\n"
    status, out, err = ran(body)
    try:
        assert status == 1 and found(err) == [("out-of-bounds", 1)] and f"{int(out)}." in err
    finally:
        os.kill(int(out), signal.SIGKILL)


@forks
@pytest.mark.parametrize("number", nightly.every(2, [signal.SIGINT, signal.SIGTERM]))
def test_a_signal_of_the_command_is_the_program_s(script, number):
    """The program handles it; what it launched before is told."""
    handler = f"signal.signal({int(number)}, lambda *_: sys.exit(5))"
    name = script(f"import signal\n{WRONG}\n{handler}\nprint('ready', flush=True)\nsignal.pause()")
    command = [sys.executable, "-m", "course_lib", "run", name]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # a shell's background job ignores it
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    _, err = process.communicate()
    assert process.returncode == 5 and found(err) == [("out-of-bounds", 1)]


def test_what_cannot_be_written_is_told_and_the_program_goes_on(ran):
    """A record is lost, not the program."""
    body = f"from course_lib.machine.programs import records\n{RIGHT}\n"
    body += "def full(*_):\n    raise OSError(28, 'No space left on device')\n"
    body += f"records.os.write = full\n{WRONG}\nprint('behind')"
    status, out, err = ran(body)
    assert out == "behind\n" and "No space left" in err and status == 2
