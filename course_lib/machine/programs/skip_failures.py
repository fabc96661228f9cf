"""A script whose statements that fail are left out, in the process that :mod:`program` starts for it."""

import os
import sys
from pathlib import Path
from types import CodeType, ModuleType

from .process import without_ours
from .records import RecordWriter
from .start import FOLDER
from .statements import compiled, skip_into


def run() -> None:
    """Run the script that the first argument names as ``__main__``; the process ends as the script does."""
    del sys.argv[0]
    own = os.path.abspath(sys.argv[0])
    code = compiled(Path(own), own, skip_failing=True)
    module = ModuleType("__main__")
    vars(module).update(__file__=own, __cached__=None)
    sys.modules["__main__"] = module
    sys.path.insert(0, os.path.dirname(os.path.realpath(own)))
    writer = RecordWriter(Path(os.environ[FOLDER]))
    skip_into(module, own, lambda said: writer.write("skipped", said))
    _execute(code, module)


def _execute(code: CodeType, module: ModuleType) -> None:
    """Execute the script; end with the status that Python gives an exception, after the script's own hook."""
    try:
        exec(code, vars(module))
    except SystemExit:
        raise
    except BaseException as error:
        trace = without_ours(error.__traceback__)
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        sys.exit(130 if isinstance(error, KeyboardInterrupt) else 1)
