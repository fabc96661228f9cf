"""Python imports this module at the start of each process of a program: its folder is on PYTHONPATH.

The folder leaves ``sys.path`` at once, and a ``sitecustomize`` of the user's own is imported as without it.
"""

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location


def _with_the_user_s_own() -> None:
    """Import the ``sitecustomize`` that Python would have found without this one; its errors are its own."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != folder]
    this = sys.modules.pop(__name__)
    try:
        import sitecustomize  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != __name__:
            raise
    finally:
        sys.modules.setdefault(__name__, this)


def _begin() -> None:
    """Load ``start.py`` without the packages around it: most processes of a program never launch a kernel."""
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "start.py")
    spec = spec_from_file_location("course_lib.machine.programs.start", path)
    assert spec is not None and spec.loader is not None
    sys.modules[spec.name] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.begin()


_begin()
_with_the_user_s_own()
