"""Kernels from source text: written to a file and imported, so that `inspect.getsource` finds them."""

import importlib.util
import itertools

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
