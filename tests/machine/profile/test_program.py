"""A script is a program of its own: how it ends is how it ends, and what it launched before that is told."""

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
from functools import partial

import nightly
import pytest

from course_lib.__main__ import main

HEAD = """import atexit, os, sys, threading, time
import numpy as np
from numba import cuda

pause = threading.Event().wait
SCRIPT = __file__  # which is gone at the end

@cuda.jit
def store(x):
    x[cuda.grid(1)] = 1

@cuda.jit
def listed(x):
    x[0] = sorted([1, 2])[0]

@cuda.jit
def endless(x):
    i = 0
    while x[0] == 0:
        i += 1

@cuda.jit
def long(x):
    for k in range(10**4):
        for j in range(10**3):
            x[cuda.grid(1)] = x[cuda.grid(1)] * 3 + 1

def launch(threads):
    store[1, threads](np.zeros(threads - 1, np.float32))

def reach_the_limit(when=lambda: True):
    "End as after the limit, once the main thread is where it should be."
    from pathlib import Path
    from course_lib.machine.programs import start
    while not when():
        pause(0.01)
    start.stop(Path(os.environ[start.FOLDER]), 0, SCRIPT)

def in_a_launch():
    kernels = {frame.f_code.co_filename for frame in calls(sys._current_frames()[threading.main_thread().ident])}
    return "<simulated kernel>" in kernels

def calls(frame):
    while frame is not None:
        yield frame
        frame = frame.f_back

def at_the_end():
    return not any(frame.f_code.co_filename == SCRIPT for frame in calls(
        sys._current_frames()[threading.main_thread().ident]))

"""
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no os.fork")


@pytest.fixture
def ran(tmp_path, capfd):
    """Run a script; return the exit status, what the command says as JSON, and stderr."""

    def run(body, *options, head=HEAD):
        path = tmp_path / "script.py"
        path.write_text(f"{head}{body}\n", encoding="utf-8")
        status = main(["profile", str(path), "--json", *options])
        out, err = capfd.readouterr()
        return status, json.loads(out), err

    return run


def line_of(body, text):
    return next(n for n, line in enumerate((HEAD + body).splitlines(), 1) if text in line)


def kinds(launch):
    return {finding["kind"] for finding in launch["findings"]}


def test_a_program_goes_on_after_a_launch_of_any_arguments(ran, tmp_path):
    """Tuples of arrays and numbers, arrays of records, states of random numbers: what is known of each is written."""
    body = f"""
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

@cuda.jit
def pair(arrays, numbers, out):
    i = cuda.grid(1)
    out[i] = arrays[0][i] + arrays[1][i] + numbers[0]

@cuda.jit
def records(r):
    i = cuda.grid(1)
    r[i].a = i

@cuda.jit
def drawn(states, out):
    i = cuda.grid(1)
    out[i] = xoroshiro128p_uniform_float32(states, i)

x = np.ones(8, np.float32)
pair[1, 8]((x, x.copy()), (1, 2), np.zeros(8, np.float32))
records[1, 8](np.zeros(8, np.dtype([("a", "i4"), ("b", "f4")])))
drawn[1, 8](create_xoroshiro128p_states(8, seed=1), x)
open({str(tmp_path / "reached")!r}, "w")
"""
    _, data, err = ran(body)
    assert (tmp_path / "reached").exists(), err
    assert [each["kernel"].split(" ")[0] for each in data["launches"]] == ["pair", "records", "drawn"]
    assert data["programs"][0]["status"] == 0


def test_what_a_program_catches_it_may_catch(ran, tmp_path):
    """Its own end, and all that a launch may be: a race, a refusal, a loop without end. All are told."""
    body = "for body in launch, listed[1, 1], endless[1, 1], sys.exit, os.kill:\n    try:\n"
    body += "        body(5) if body is launch else body(np.zeros(1, np.float32))\n    except:\n        pass\n"
    body += f"open({str(tmp_path / 'reached')!r}, 'w')"
    status, data, _ = ran(body, "--max-steps", "200")

    assert status == 1 and data["programs"][0]["status"] == 0 and (tmp_path / "reached").exists()
    assert [each["verdict"] for each in data["launches"]] == ["WRONG", "REFUSED", "WRONG"]


@forks
def test_launches_of_threads_processes_and_functions_at_the_exit(ran):
    """Of all that Python waits for at the end of a program."""
    body = """
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
import multiprocessing
fork = multiprocessing.get_context("fork")
atexit.register(launch, 2)
with ThreadPoolExecutor(2) as pool:
    pool.submit(launch, 3).result()
process = fork.Process(target=launch, args=(4,))
process.start(); process.join()
with ProcessPoolExecutor(1, mp_context=fork) as pool:
    pool.submit(launch, 5).result()
def later():
    while threading.main_thread().is_alive() and not at_the_end():
        pause(0.01)
    launch(6)
threading.Thread(target=later).start()
"""
    status, data, _ = ran(body)
    assert status == 1
    assert sorted(each["block"][0] for each in data["launches"]) == [2, 3, 4, 5, 6]
    assert all(kinds(each) == {"out-of-bounds"} for each in data["launches"])


CATCHING = "while True:  # here\n    try:\n        loops = not pause(0.01)\n    except BaseException:\n        pass"
STOPS = [
    (
        "launch(5)\nloops = False\n"
        f"threading.Thread(target=reach_the_limit, args=(lambda: loops,), daemon=True).start()\n{CATCHING}",
        "here",
        ["WRONG"],
    ),
    (
        "launch(5)\nthreading.Thread(target=reach_the_limit, args=(in_a_launch,), daemon=True).start()\n"
        "long[1, 4](np.zeros(4))  # here",
        "here",
        ["WRONG", "STOPPED"],
    ),
    (
        "launch(5)\nthreading.Thread(target=reach_the_limit, args=(at_the_end,), daemon=True).start()\n"
        "threading.Thread(target=lambda: threading.Event().wait()).start()  # here",
        "here",
        ["WRONG"],
    ),
    nightly.at_night(
        "import multiprocessing\nlaunch(5)\nthreading.Thread(target=reach_the_limit, args=(at_the_end,)).start()\n"
        "multiprocessing.get_context('fork').Process(target=time.sleep, args=(10**6,)).start()",
        "",
        ["WRONG"],
    ),
    nightly.at_night(
        "from concurrent.futures import ThreadPoolExecutor\nlaunch(5)\n"
        "threading.Thread(target=reach_the_limit, args=(at_the_end,), daemon=True).start()\n"
        "ThreadPoolExecutor(1).submit(threading.Event().wait)",
        "",
        ["WRONG"],
    ),
]


@forks
@pytest.mark.parametrize(("body", "line", "verdicts"), STOPS)
def test_what_never_ends_is_stopped(ran, body, line, verdicts):
    """In plain Python that catches all, within a kernel, and at the end, where a thread or a process is waited for.

    The status is not that of success, the launches before it are told, and one that runs, with its line.
    """
    status, data, err = ran(body)

    assert status == 1 and data["programs"][0]["stopped"]
    assert "Traceback" not in err  # of the thread that ends the program before the limit does
    assert [each["verdict"] for each in data["launches"]] == verdicts
    assert not line or int(re.search(r"in line (\d+); --limit", err)[1]) >= line_of(body, "# here")
    if "STOPPED" in verdicts:
        assert data["launches"][-1]["launch"] == "long [1, 4]"
        assert f"line {line_of(body, '# here')}" in data["launches"][-1]["says"]


@pytest.mark.parametrize("loop", nightly.every(2, ["while True: pass", "__import__('threading').Event().wait()"]))
def test_a_limit_that_is_reached(ran, loop):
    """Of time, in a loop and in a call that waits; there is no launch to tell of."""
    status, data, err = ran(loop, "--limit", "0.05", head="")

    assert status == 2 and data["launches"] == [] and data["clean"] is False
    assert "ran for 0.05 s and was stopped in line 1;" in err


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="nothing says when a process of another one ends")
def test_processes_that_a_program_leaves_are_ended(ran, tmp_path):
    """The command leaves nothing running: a process that nobody waits for has ended when it returns."""
    body = "import subprocess\nlaunch(5)\n"
    body += "process = subprocess.Popen([sys.executable, '-c', 'import threading; threading.Event().wait()'])\n"
    _, _, err = ran(body + "print('process', process.pid)")
    with contextlib.suppress(ProcessLookupError):  # it may have ended already; if not, wait for that
        select.select([os.pidfd_open(int(err.split("process ")[1].split()[0]))], [], [])


@forks
def test_an_interrupt_is_the_program_s(tmp_path):
    """Ctrl-C reaches it, and what it launched before is told."""
    path = tmp_path / "script.py"
    path.write_text(f"{HEAD}launch(5)\nprint('ready', flush=True)\npause()  # here\n", "utf-8")
    command = [sys.executable, "-m", "course_lib", "profile", str(path)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # a shell's background job ignores it
    )
    assert process.stderr.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()

    assert process.returncode == 130 and "KeyboardInterrupt" in err and "out-of-bounds" in out


def test_a_program_is_what_python_runs(ran, tmp_path):
    """It is ``__main__``, has its arguments, its folder's modules and the input, and finds its own functions there."""
    (tmp_path / "beside_it.py").write_text("VALUE = 5")
    body = f"""
import pickle, beside_it, __main__
assert __name__ == "__main__" and __main__.launch is launch and pickle.loads(pickle.dumps(launch)) is launch
assert sys.argv == [{str(tmp_path / "script.py")!r}, "--one", "two"] and __file__ == sys.argv[0]
assert sys.path[0] == os.path.realpath(os.path.dirname(__file__))
store[1, 5](np.zeros(beside_it.VALUE, np.float32))
"""
    status, data, _ = ran(body, "--", "--one", "two")
    assert status == 0 and data["clean"] and [each["verdict"] for each in data["launches"]] == ["RIGHT"]


def test_failing_statements_are_left_out_where_that_is_asked_for(ran, tmp_path):
    """Of exceptions; sys.exit() ends the program all the same."""
    body = f"import gone\nlaunch(5)\n1 / 0\nlaunch(6)\nsys.exit(3)\nopen({str(tmp_path / 'behind')!r}, 'w')"
    status, data, err = ran(body, "--skip-failing")

    assert status == 3 and len(data["launches"]) == 2 and not (tmp_path / "behind").exists()
    assert "ModuleNotFoundError" in err and "ZeroDivisionError" in err
