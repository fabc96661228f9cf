"""What a program would try that had broken the first wall: each returns only if it reached what it must not."""

import ctypes
import os
import socket
import sys


def _write(path):
    with open(path, "w") as file:
        file.write("x")


def inherited(canary):
    """Write into what is open: nothing but the process's own reply, its empty outputs, and the caller."""
    found = [n for n in range(4, 256) if not _is_closed(n)]
    if len(found) > 2:
        return found
    raise OSError


def _is_closed(number):
    try:
        os.fstat(number)
    except OSError:
        return True
    return False


def connected(canary):
    with socket.create_connection(("127.0.0.1", int(canary.rpartition("-")[2]))) as link:
        link.send(b"x")


def traced(canary):
    if ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) != 0:
        raise OSError


PAYLOADS = {
    "a file of the system": lambda canary: open("/etc/passwd").read(),
    "a file of a neighbour": lambda canary: open(f"{canary}.neighbour").read(),
    "a new file": _write,
    "an empty file": lambda canary: os.close(os.open(canary, os.O_CREAT)),
    "a new folder": lambda canary: os.mkdir(canary),
    "another name": lambda canary: os.rename(f"{canary}.neighbour", canary),
    "a link": lambda canary: os.symlink("/etc/passwd", canary),
    "a deleted file": lambda canary: os.unlink(f"{canary}.neighbour"),
    "other rights": lambda canary: os.chmod(f"{canary}.neighbour", 0o777),
    "a shorter file": lambda canary: os.truncate(f"{canary}.neighbour", 0),
    "the environment of the parent": lambda canary: open(f"/proc/{os.getppid()}/environ", "rb").read(),
    "the memory of the parent": lambda canary: os.open(f"/proc/{os.getppid()}/mem", os.O_RDWR),
    "the outputs of the parent": lambda canary: os.open(f"/proc/{os.getppid()}/fd/1", os.O_WRONLY),
    "all processes": lambda canary: os.listdir("/proc"),
    "another process": lambda canary: os.fork(),
    "another program": lambda canary: os.execv(sys.executable, [sys.executable, "-c", ""]),
    "a signal to the parent": lambda canary: os.kill(os.getppid(), 0),
    "a trace of the parent": traced,
    "the network": connected,
    "what is open": inherited,
    "another user": lambda canary: os.setuid(os.getuid() + 1),
}
