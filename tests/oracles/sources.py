"""Kernels from source text, written to a file and imported, so that `inspect.getsource` finds them; and their lines."""

import importlib.util
import inspect
import itertools
from functools import lru_cache

_number = itertools.count()


def import_module(source, folder, package=""):
    """Write `source` to a new module in `folder`, as one of `package`, and return the module."""
    path = folder / f"generated_{next(_number)}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(f"{package}.{path.stem}".lstrip("."), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def import_kernel(source, folder, name="kernel", package=""):
    """Return the function `name` of a module that `import_module` makes."""
    return getattr(import_module(source, folder, package), name)


def line_of(kernel, text):
    """Return the first line of the kernel, by its number in the file, that contains `text`."""
    lines, first = _lines_of(getattr(kernel, "py_func", kernel))
    return next(first + number for number, line in enumerate(lines) if text in line)


_lines_of = lru_cache(maxsize=16)(inspect.getsourcelines)  # takes milliseconds, and a test asks for several lines
