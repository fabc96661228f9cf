"""The public names of a ``cuda`` module for which the table has no row. As a program, it takes the module's name."""

import sys
from importlib import import_module
from types import ModuleType

import numpy as np

from course_lib.machine import measurements
from course_lib.machine.programs import host_api, missing_packages


def unknown(module):
    """Return the public names of an installed package's ``cuda`` that nothing stands in for, and that are not its own.

    Modules, and the texts that are left over of loops, are no names for programs.
    """
    cuda = import_module(module)
    table = host_api.stand_ins(measurements.load(measurements.MACHINE).provenance, host_api.nothing)
    known = (
        vars(missing_packages.modules("numba", table, host_api.nothing)["numba.cuda"]).keys()
        | missing_packages.OF_THE_PACKAGE
    )
    own = {name for name, thing in vars(cuda).items() if name[0] != "_" and not isinstance(thing, ModuleType | str)}
    assert len(own) > 150, "a module without the names of kernels and types is none of these"
    return sorted(own - known)


def unknown_methods(module):
    """Return the public methods of a package's objects for which the stand-ins have neither a method nor a sentence."""
    cuda = import_module(module)
    context = host_api.DeviceContext(measurements.load(measurements.MACHINE).provenance, host_api.nothing)
    objects = {
        cuda.driver.Stream: host_api.Stream(),
        cuda.driver.Event: context.create_event(),
        cuda.driver.Context: context,
        cuda.driver.Device: context.device,
        cuda.devicearray.DeviceNDArray: host_api.ArrayFactory(host_api.nothing).to_device(np.zeros((3, 2))),
    }
    return [
        f"{type(made).__name__}.{name}"
        for kind, made in objects.items()
        for name in dir(kind)
        if name[0] != "_" and f"{type(made).__name__}.{name}" not in host_api.NEEDS and not hasattr(made, name)
    ]


if __name__ == "__main__":
    print(*unknown(sys.argv[1]), *unknown_methods(sys.argv[1]))
