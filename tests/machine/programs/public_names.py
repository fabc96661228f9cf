"""The public names of a ``cuda`` module for which the table has no row. As a program, it takes the module's name."""

import sys
from importlib import import_module
from types import ModuleType

from course_lib.machine import measurements
from course_lib.machine.programs import absent, host


def unknown(module):
    """Return the public names of an installed package's ``cuda`` that nothing stands in for, and that are not its own.

    Modules, and the texts that are left over of loops, are no names for programs.
    """
    cuda = import_module(module)
    table = host.stand_ins(measurements.load(measurements.MACHINE).provenance, host.nothing)
    known = vars(absent.modules("numba", table, host.nothing)["numba.cuda"]).keys() | absent.OF_THE_PACKAGE
    own = {name for name, thing in vars(cuda).items() if name[0] != "_" and not isinstance(thing, ModuleType | str)}
    return len(own), sorted(own - known)


if __name__ == "__main__":
    number, names = unknown(sys.argv[1])
    print(number, *names)
