"""Calls of a student's function, each in a process that can only compute.

A caller is forked before the course is imported, so that it holds no exercise and no right answer. It forks a process
for each call, inside the walls of `walls.py`; what comes back is a number, or words on what went wrong. It is given the
trees that `allowed.py` accepted, constants, and functions of NumPy by their names.
"""

import ast
import copyreg
import gc
import importlib
import os
import pickle
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from ...simulator.bounded import Endless, bounded
from ...simulator.language.source import defined
from . import walls
from .allowed import BUILTINS, import_parts
from .limits import Limits, Stopped, in_fork, silence, told

#: Bytes of a request or a reply: one message of a socket.
_MOST = 128 << 10
#: A call takes some milliseconds, and an exercise has up to a dozen.
_SECONDS = 2


@dataclass(frozen=True)
class Program:
    """A function to be called, the last of ``trees``, with those that it calls, and the other names that they use."""

    trees: tuple[ast.FunctionDef, ...]
    names: Mapping[str, Any]

    def __call__(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        """Call it in place of ``function``; raise what it raises, Endless, or Stopped."""
        match _asked(pickle.dumps((self, arguments))):
            case {"value": bool() | int() | float() | None as value}:
                return value
            case {"other": str(kind), "many": bool(many)}:
                return "" if kind == "str" else [] if many else _type(kind, object)()
            case {"raised": str(kind), "said": str(said)}:
                raise _type(kind, Exception)(said[:500])
            case {"endless": int(line)}:
                raise Endless(line)
        raise Stopped("its process sent no answer")


def _type(name: str, base: type) -> type:
    return type(name if name.isidentifier() else base.__name__, (base,), {})


copyreg.pickle(ModuleType, lambda module: (importlib.import_module, (module.__name__,)))  # sent by its name


# ---- the side that judges --------------------------------------------------------------------------------------

_caller: int | None = None


def start(executes: bool = False) -> None:
    """Fork the caller, once; it ends with this process. Raises Stopped where this machine has no walls, unless one
    ``executes`` without them."""
    global _caller
    if _caller is None:
        if not executes and not walls.standing():
            raise Stopped(f"it was not executed: {walls.NONE}")
        mine, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if os.fork() == 0:
            mine.close()
            try:
                _serve(other.detach())
            finally:
                os._exit(0)
        other.close()
        _caller = mine.detach()


def connection() -> int:
    """The descriptor of the caller, or that of the standard input where there is none."""
    return _caller or 0


def _asked(request: bytes) -> Any:
    start()
    assert _caller is not None
    nonce = secrets.token_bytes(8)
    if len(request) > _MOST - len(nonce):
        raise Stopped(f"it has more than {_MOST >> 10} KiB")
    os.write(_caller, nonce + request)
    while reply := os.read(_caller, _MOST):
        if reply.startswith(nonce):  # else it answers a process that was ended
            try:
                return told(reply.removeprefix(nonce))
            except Stopped as stopped:
                raise Stopped(f"in a call, {stopped}") from None
    raise Stopped("the process that calls it ended")


# ---- the caller ------------------------------------------------------------------------------------------------


def _serve(connection: int) -> None:
    walls.hide()
    silence()
    os.dup2(connection, 3)
    os.closerange(4, 1 << 16)
    import_parts()
    gc.freeze()
    while request := os.read(3, _MOST):
        call = partial(_called, request[8:])
        os.write(3, request[:8] + in_fork(call, Limits(seconds=_SECONDS), _MOST - 8))


def _called(request: bytes) -> dict[str, Any]:
    program, arguments = pickle.loads(request)  # inside the walls
    names = {"__builtins__": BUILTINS, "__name__": "answer", **program.names}
    for tree in program.trees:
        literal = tuple(each.value for each in tree.args.defaults if isinstance(each, ast.Constant))
        names[tree.name] = defined(tree, "<answer>", names, literal)
    try:
        value = bounded(names[program.trees[-1].name], tuple(arguments))
        value = value.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else value
        if value is None or type(value) in (bool, float) or (type(value) is int and value.bit_length() < 4096):
            return {"value": value}
        return {"other": type(value).__name__, "many": isinstance(value, list | tuple | dict) or hasattr(value, "ndim")}
    except Endless as endless:
        return {"endless": endless.line}
    except MemoryError:
        raise
    except Exception as error:
        return {"raised": type(error).__name__, "said": str(error)[:500]}
