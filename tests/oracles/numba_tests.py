"""Numba's own CUDA tests, unmodified, on the simulator: they come with numba and ask for a GPU.

    python tests/oracles/numba_tests.py [PATTERN ...]

An adapter takes the place of the driver: the host's calls are those of the profile, a signature is noted and not
compiled, and a launch is redirected to ``simulate``. Of the tests that launch a kernel, each is ``passed``, ``refused``
(the simulator names what it does not run), ``wrong`` (an assertion fails) or ``broken`` (another exception).
Where a test expects an error, a refusal counts as one, whatever its words.
A test that never launches says nothing of the simulator and is not counted, nor is one that looks at what a GPU's
compiler made (its PTX, registers, warnings and caches). Each line of the output is a test: its outcome, its name and
the reason. PATTERNs select tests by a part of their names, such as test_atomics or TestCudaMath.test_math_acos.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import importlib
import io
import itertools
import linecache
import pkgutil
import re
import signal
import sys
import traceback
import types as python_types
import unittest
import warnings
from pathlib import Path

from _pytest.outcomes import Skipped

from course_lib.machine import measurements
from course_lib.machine.programs import host_api

#: Seconds that one test may take.
LIMIT = 120
#: Modules that test what surrounds a launch: the compiler's dumps, flags and warnings, numba's file cache, and launches
#: from other processes, in which there is no adapter.
ELSEWHERE = (
    *("test_caching", "test_debug", "test_debuginfo", "test_inspect", "test_optimization", "test_warning"),
    *("test_ipc", "test_multiprocessing"),
)


# --- the adapter -----------------------------------------------------------------------------------------------------


class Compiled:
    """What remains of a signature: enough for numba to find its types. There is no code."""

    def __init__(self, signature):
        self.signature = signature
        self.argument_types = signature.args

    def __getattr__(self, name):
        raise unittest.SkipTest(f"asks for {name} of compiled code")


#: How many launches the running test has made.
LAUNCHES = collections.Counter()
#: Numbers the texts that are executed.
TEXTS = itertools.count()


class Message(str):
    """The text of an error where a test looks for numba's: it is said to contain that, since its words are our own."""

    __str__ = lambda self: self  # noqa: E731

    def __contains__(self, part):
        return True


class Expected(Exception):
    """A refusal, where a test expects an error of numba or of the driver."""

    def __str__(self):
        return Message(self.args[0])


def leave_assert_raises(self, kind, error, trace, _leave=unittest.case._AssertRaisesContext.__exit__):
    """Leave ``with self.assertRaises(...)``, also by a refusal, whose type is not that of an error of numba."""
    from course_lib import LaunchError, UnsupportedKernelError

    if isinstance(error, (UnsupportedKernelError, LaunchError)):
        self.exception = Expected(str(error))
        return True
    return _leave(self, kind, error, trace)


def on_the_host(value):
    """Convert an argument to one that simulate takes."""
    from numba.cuda.args import ArgHint, In

    if isinstance(value, In):
        value = value.value.copy()
    if isinstance(value, ArgHint):
        value = value.value
    return host_api.as_argument(value)


def launch(dispatcher, args, *given):
    """Launch on the simulator, in place of CUDADispatcher.call; numba gives four values, numba-cuda one object."""
    from course_lib import KernelError, simulate

    griddim, blockdim, stream, sharedmem = (
        given if len(given) > 1 else (getattr(given[0], n) for n in ("griddim", "blockdim", "stream", "sharedmem"))
    )
    LAUNCHES["made"] += 1
    retrieve, values = [], list(args)
    for extension in reversed(dispatcher.extensions or ()):
        pairs = [extension.prepare_args(None, value, stream=stream, retr=retrieve) for value in values]
        values = [value for _, value in pairs]
    try:
        run = simulate(dispatcher, strict=False)[griddim, blockdim, 0, sharedmem](*map(on_the_host, values))
    except KernelError as error:
        if "launch raises ZeroDivisionError" in str(error):
            raise ZeroDivisionError(Message(error)) from None
        raise
    for finding in run.errors:
        if "the launch raises the exception" in finding.message:
            name = re.search(r"ends at raise (\w+)", finding.message)[1]
            known = vars(builtins) | dispatcher.py_func.__globals__
            raise known[name](Message(finding))
    for back in retrieve:
        back()


def note_signature(dispatcher, argtypes, restype=None):
    """Keep the signature where numba keeps it, in ``overloads``, in place of compiling it."""
    home = "numba.cuda" if hasattr(dispatcher, "mark_launch_config_sensitive") else "numba.core"  # numba-cuda's own
    types = importlib.import_module(f"{home}.types")
    sigutils = importlib.import_module("numba.cuda.core.sigutils" if home == "numba.cuda" else "numba.core.sigutils")
    signature = importlib.import_module(f"{home}.typing").signature

    if not isinstance(argtypes, tuple) or not all(isinstance(t, types.Type) for t in argtypes):
        argtypes, restype = sigutils.normalize_signature(argtypes)
    if argtypes not in dispatcher.overloads:
        known = signature(restype or types.void, *argtypes)
        if restype is None and dispatcher.targetoptions.get("device"):  # numba infers it
            known = python_types.SimpleNamespace(args=argtypes, return_type=None)
        dispatcher.overloads[argtypes] = Compiled(known)
    return dispatcher.overloads[argtypes]


def for_all(dispatcher, ntasks, tpb=0, stream=0, sharedmem=0):
    """Return what launches for so many threads; numba asks the driver for a block size."""
    if ntasks < 0:
        raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
    tpb = tpb or 128
    return dispatcher[-(-ntasks // tpb), tpb, 0, sharedmem] if ntasks else lambda *args: None


def install():
    """Install the adapter in place of numba's driver."""
    from numba import cuda
    from numba.cuda import api, decorators, dispatcher, testing
    from numba.cuda.cudadrv import devices

    sys.modules["numba.cuda"].is_available = lambda: True
    testing.cc_X_or_above = lambda major, minor: True
    patches = host_api.stand_ins(measurements.load("occupancy").provenance, host_api.nothing)
    patches |= {
        "is_cuda_array": lambda obj: isinstance(obj, host_api.DeviceArray),
        "_auto_device": lambda obj, stream=0, copy=True, **_: (
            obj if isinstance(obj, host_api.DeviceArray) else patches["to_device"](obj),
            True,
        ),
    }
    for module in (cuda, api):
        for name, value in patches.items():
            setattr(module, name, value)
    devices.get_context = patches["current_context"]
    devices.reset = lambda: None
    kernel = dispatcher.CUDADispatcher
    kernel.call = launch
    kernel.compile = note_signature
    kernel.compile_device = note_signature
    kernel.specialize = lambda self, *args: self
    kernel.forall = for_all
    decorators.CUDADispatcher = kernel
    for name in dir(kernel):
        if name.startswith(("inspect_", "get_")) and name.endswith(
            ("llvm", "asm", "sass", "types", "cfg", "_thread", "size")
        ):
            setattr(kernel, name, no_code)
    builtins.exec = readable_exec
    unittest.case._AssertRaisesContext.__exit__ = leave_assert_raises


def no_code(*_, **__):
    raise unittest.SkipTest("asks for compiled code")


def readable_exec(code, names=None, local=None, _exec=exec):
    """Run ``exec`` and keep the text where inspect finds it, as a notebook does: numba generates ufuncs' kernels."""
    if names is None:
        frame = sys._getframe(1)
        names, local = frame.f_globals, frame.f_locals
    if isinstance(code, str):
        file = f"<numba's tests, text {next(TEXTS)}>"
        linecache.cache[file] = len(code), None, code.splitlines(keepends=True), file
        code = compile(code, file, "exec")
    _exec(code, names, local)


# --- the tests -------------------------------------------------------------------------------------------------------


def modules():
    import numba.cuda.tests as home

    for package in ("cudapy", "cudadrv", "doc_examples"):
        folder = importlib.import_module(f"{home.__name__}.{package}")
        for found in pkgutil.iter_modules(folder.__path__):
            if found.name.startswith("test_") and found.name not in ELSEWHERE:
                yield f"{folder.__name__}.{found.name}"


class OutOfTime(Exception):
    pass


def out_of_time(*_):
    raise OutOfTime(f"more than {LIMIT} seconds")


class Result(unittest.TestResult):
    """Notes of each test that launched a kernel how it went, and why; a part that fails decides."""

    def __init__(self):
        super().__init__()
        self.rows = {}

    def startTest(self, test):
        super().startTest(test)
        LAUNCHES.clear()
        signal.alarm(LIMIT)

    def stopTest(self, test):
        signal.alarm(0)
        super().stopTest(test)

    def addSuccess(self, test, outcome="passed", reason=""):
        name = test.id().removeprefix("numba.cuda.tests.")
        if LAUNCHES and self.rows.get(name, ("passed",))[0] in ("passed", "refused"):
            self.rows[name] = outcome, " ".join(reason.split())[:300]

    def addExpectedFailure(self, test, err):
        self.addSuccess(test)

    def addUnexpectedSuccess(self, test):
        self.addSuccess(test, "wrong", "an unexpected success")

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.addError(test, err)

    def addError(self, test, err):
        from course_lib import LaunchError, UnsupportedKernelError

        kind, error, trace = err
        if isinstance(error, (UnsupportedKernelError, LaunchError)):
            return self.addSuccess(test, "refused", str(error))
        if isinstance(error, AssertionError):
            return self.addSuccess(test, "wrong", str(error))
        frames = [frame for frame in traceback.extract_tb(trace) if "unittest" not in frame.filename]
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
        return self.addSuccess(test, "broken", f"{kind.__name__} in {place}: {error}")

    addFailure = addError


def main(patterns):
    """Print what became of each test that launched a kernel."""
    install()
    signal.signal(signal.SIGALRM, out_of_time)
    result, loader, silence = Result(), unittest.TestLoader(), io.StringIO()
    loader.testNamePatterns = [f"*{pattern}*" for pattern in patterns] or None
    with warnings.catch_warnings(), contextlib.redirect_stderr(silence), contextlib.redirect_stdout(silence):
        warnings.simplefilter("ignore")
        for name in modules():
            try:
                module = importlib.import_module(name)
            except (Exception, Skipped) as error:
                print(f"{name} is not imported: {type(error).__name__}: {error}", file=sys.__stderr__)
                continue
            loader.loadTestsFromModule(module)(result)
    for name, (outcome, reason) in sorted(result.rows.items()):
        print(outcome, name, reason)


if __name__ == "__main__":
    main(sys.argv[1:])
