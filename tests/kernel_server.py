"""Forks an IPython kernel for each line of its input, `<connection file> TAB <folder>`, and prints its process id.

The server has imported the packages that lessons use, which costs a kernel four seconds of processor, and the part of
the course that does not look for IPython when it is imported; each kernel imports the rest. The server ends when its
input ends, and its kernels end with it.
"""

import gc
import os
import signal
import sys

os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # as a kernel sets it, before the import

import anywidget  # noqa: F401
import ipywidgets  # noqa: F401
import matplotlib.axes  # noqa: F401
import matplotlib.backends.backend_agg  # noqa: F401
import matplotlib_inline.backend_inline  # noqa: F401
import numba.cuda  # noqa: F401
from ipykernel.kernelapp import IPKernelApp

import course_lib.kernels  # noqa: F401
import course_lib.machine.figures  # noqa: F401
import course_lib.machine.measurements  # noqa: F401


def serve(connection_file: str, folder: str) -> None:
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    app = IPKernelApp.instance(parent_handle=os.getppid())
    app.initialize(["-f", connection_file])
    app.start()


def main() -> None:
    gc.freeze()  # no kernel searches these objects for garbage
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # an ended kernel leaves no zombie
    for line in sys.stdin:
        process = os.fork()
        if not process:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            serve(*line.rstrip("\n").split("\t"))
            os._exit(0)
        print(process, flush=True)


if __name__ == "__main__":
    main()
