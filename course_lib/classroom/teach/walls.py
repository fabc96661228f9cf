"""Walls that Linux builds around a process, which only become narrower: Landlock for files, seccomp for system calls.

They need no rights and no package. Elsewhere there are none, and `standing` says so.
"""

import contextlib
import ctypes
import os
import platform
import struct
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

#: The system calls that are left, with their numbers on x86_64 and aarch64: computing, memory, and open descriptors.
_COMPUTING = """
    read 0 63 write 1 64 close 3 57 fstat 5 80 lseek 8 62 mmap 9 222 mprotect 10 226 munmap 11 215
    brk 12 214 rt_sigaction 13 134 rt_sigprocmask 14 135 rt_sigreturn 15 139 writev 20 66
    sched_yield 24 124 mremap 25 216 madvise 28 233 getpid 39 172 exit 60 93 gettimeofday 96 169
    getrusage 98 165 sigaltstack 131 132 gettid 186 178 futex 202 98 sched_getaffinity 204 123
    restart_syscall 219 128 clock_gettime 228 113 clock_nanosleep 230 115 exit_group 231 94
    getrandom 318 278 rseq 334 293
"""
#: Beside them, what a process that also imports modules and reads the course's files needs.
_READING = """
    stat 4 -1 lstat 6 -1 pread64 17 67 access 21 -1 dup 32 23 fcntl 72 25 getcwd 79 17 readlink 89 -1
    getuid 102 174 geteuid 107 175 getgid 104 176 getegid 108 177 uname 63 160 getdents64 217 61
    openat 257 56 newfstatat 262 79 readlinkat 267 78 faccessat 269 48 statx 332 291 faccessat2 439 439
"""
#: By machine: the column above, and the name of its kind in the Linux headers.
_MACHINES = {"x86_64": (1, 0xC000003E), "aarch64": (2, 0xC00000B7)}
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001  # the refused call fails with EPERM
_NO_NEW_PRIVS, _DUMPABLE, _SECCOMP = 38, 4, 22
_CREATE, _ADD, _RESTRICT = 444, 445, 446
#: What stays allowed: reading a file, and beneath a folder also listing it; not execution.
_READ, _LIST = 1 << 2, 1 << 3


#: What there is without them.
NONE = (
    "this machine has no walls around what is executed; use --container, or --without-walls on a machine for this alone"
)


def hide() -> None:
    """Let no other process of the user look into this one's memory; nothing where the system has no such switch."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DUMPABLE, 0, 0, 0, 0)


@cache
def standing() -> str:
    """Return the names of the walls that this machine has, or an empty text."""
    if sys.platform != "linux" or platform.machine() not in _MACHINES:
        return ""
    has_filter = ctypes.CDLL(None).prctl(21, 0, 0, 0, 0) == 0  # the mode of seccomp, where the kernel has it
    return "Landlock and seccomp" if _landlock() > 0 and has_filter else ""


def _landlock() -> int:
    return int(ctypes.CDLL(None, use_errno=True).syscall(_CREATE, None, 0, 1))


def build(readable: Sequence[str] | None = None) -> None:
    """Build the walls around this process and its children, until they end.

    Without ``readable`` it can compute, and write to what is open; with it, also read what is beneath these paths.
    Raises OSError if a wall cannot be built.
    """
    system = ctypes.CDLL(None, use_errno=True)

    def must(result: int) -> int:
        if result < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return result

    must(system.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
    must(system.prctl(_DUMPABLE, 0, 0, 0, 0))
    version = must(_landlock())
    files = (1 << (13 + (version > 1) + (version > 2) + (version > 4))) - 1
    net, scope = (3 if version > 3 else 0), (3 if version > 5 else 0)
    asked = struct.pack("QQQ", files, net, scope)[: 8 if version < 4 else 16 if version < 6 else 24]
    rules = must(system.syscall(_CREATE, asked, len(asked), 0))
    for path in readable or ():
        with contextlib.suppress(FileNotFoundError):
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            rights = _READ | _LIST if Path(path).is_dir() else _READ
            must(system.syscall(_ADD, rules, 1, struct.pack("=Qi", rights, place), 0))
            os.close(place)
    must(system.syscall(_RESTRICT, rules, 0))
    os.close(rules)
    program = _program(_COMPUTING + _READING * (readable is not None))
    text = ctypes.create_string_buffer(program)
    must(system.prctl(_SECCOMP, 2, struct.pack("HP", len(program) // 8, ctypes.addressof(text)), 0, 0))


def _program(calls: str) -> bytes:
    """The filter: another kind of machine and any call that is not in the list are refused."""
    column, machine = _MACHINES[platform.machine()]
    words = calls.split()
    numbers = [int(words[i + column]) for i in range(0, len(words), 3) if int(words[i + column]) >= 0]
    equal, load, give = 0x15, 0x20, 0x06
    lines = [(load, 0, 0, 4), (equal, 1, 0, machine), (give, 0, 0, _REFUSE), (load, 0, 0, 0)]
    lines += [(equal, len(numbers) - i, 0, number) for i, number in enumerate(numbers)]
    lines += [(give, 0, 0, _REFUSE), (give, 0, 0, _ALLOW)]
    return b"".join(struct.pack("HBBI", *line) for line in lines)
