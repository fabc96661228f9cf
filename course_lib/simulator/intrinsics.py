"""Calls: numba.cuda's functions and arrays, math, casts, builtins, and device functions.

It also gives the values of numba.cuda that are not called, such as ``threadIdx.x``.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from math import prod
from types import FunctionType

import numpy as np

from . import typing_rules
from .findings import UnsupportedKernelError
from .frontend import dtype_name, python_function, read
from .hardware import LOCAL_LIMIT
from .typing_rules import DTYPE, TypingError
from .values import (
    COMPILE_TIME,
    CONFLICT,
    COORDINATES,
    NONE,
    ArrayType,
    DeviceFunction,
    Symbol,
    TupleType,
    Value,
    Variable,
    describe_type,
    plural,
    unify_types,
)

AXES = {"x": 0, "y": 1, "z": 2}
ATOMICS = (
    "add",
    "sub",
    "max",
    "min",
    "nanmax",
    "nanmin",
    "and_",
    "or_",
    "xor",
    "exch",
    "inc",
    "dec",
    "cas",
    "compare_and_swap",
)
#: What an atomic takes after the array, where that is not an index and a value.
ATOMIC_ARGUMENTS = {
    "cas": ("the index", "the expected value", "the new value"),
    "compare_and_swap": ("the expected value", "the new value"),
}
SHUFFLES = {"shfl_sync": "at", "shfl_up_sync": "up", "shfl_down_sync": "down", "shfl_xor_sync": "xor"}
VOTES = {"all_sync": "bool", "any_sync": "bool", "eq_sync": "bool", "ballot_sync": "int32"}
FENCES = ("threadfence", "threadfence_block", "threadfence_system")
#: math functions of one argument, by the NumPy function that computes them.
MATH = {
    "sqrt": "sqrt",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "exp": "exp",
    "expm1": "expm1",
    "log": "log",
    "log2": "log2",
    "log10": "log10",
    "log1p": "log1p",
    "fabs": "fabs",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
    "degrees": "degrees",
    "radians": "radians",
    "exp2": "exp2",
}
MATH_TESTS = {"isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite"}
MATH2 = {"atan2": "arctan2", "hypot": "hypot", "fmod": "fmod", "copysign": "copysign", "pow": "power"}
#: NumPy's functions by the functions of math that do the same.
MATH_OF_NUMPY = {theirs: name for name, theirs in (MATH | MATH_TESTS | MATH2).items()}

#: What to write instead of a builtin function, a function of math, a NumPy function, and a part of numba.cuda.
INSTEAD = {
    "print": "look at run.source, or trace the kernel",
    "range": "it belongs in a for statement",
    "enumerate": "it belongs in a for statement",
    "zip": "it belongs in a for statement",
    "sum": "add in a loop",
    "any": "use or",
    "all": "use and",
    "isinstance": "the types of a kernel are known when it is compiled",
    "tuple": "write the items out, as in (a, b)",
    "list": "use cuda.local.array",
    "set": "use a tuple",
    "sorted": "sort before the launch",
    "str": "compute with numbers",
}
INSTEAD_OF_MATH = {
    "comb": "multiply in a loop",
    "perm": "multiply in a loop",
    "factorial": "multiply in a loop",
    "prod": "multiply in a loop",
    "fsum": "add in a loop",
    "sumprod": "add in a loop",
    "dist": "use math.sqrt of the sum of squares",
    "gcd": "write Euclid's algorithm as a loop",
    "lcm": "write Euclid's algorithm as a loop",
    "isqrt": "write int(math.sqrt(x))",
    "isclose": "write abs(a - b) < tolerance",
    "remainder": "use math.fmod",
    "ldexp": "write x * 2.0 ** n",
    "modf": "use math.trunc(x) and x - math.trunc(x)",
    "frexp": "use math.floor(math.log2(x))",
}
INSTEAD_OF_NUMPY = {
    "maximum": "max",
    "fmax": "max",
    "minimum": "min",
    "fmin": "min",
    "absolute": "abs",
    "power": "**",
    "zeros": "cuda.local.array",
    "empty": "cuda.local.array",
    "ones": "cuda.local.array",
    "where": "a if condition else b",
    "clip": "min and max",
    "sum": "a loop that adds",
    "dot": "a loop that multiplies and adds",
    "matmul": "a loop that multiplies and adds",
}
INSTEAD_OF_CUDA = {
    "atomic": "call one of its functions, such as cuda.atomic.add",
    "shared": "write tile = cuda.shared.array(...)",
    "local": "write v = cuda.local.array(...)",
    "libdevice": "use the functions of math",
    "fp16": "use float32",
    "const": "pass the array as an argument",
    "nanosleep": "leave it out: it computes nothing",
    "cg": "end the kernel, and launch the next one",
    "match_all_sync": "use all_sync of a comparison",
    "clock": "leave it out: the simulator counts, and knows no time",
    "clock64": "leave it out: the simulator counts, and knows no time",
}
#: What to write instead of an argument that a function of numba does not take.
NOT_TAKEN = {
    "round": "; write round(x * 100) / 100 for two digits",
    "math.log": "; divide by the log of the base",
    "int": "; it converts one number",
}


#: cuda.fp16 by the code that computes it, in float16.
FP16 = {
    "hadd": "({} + {})",
    "hsub": "({} - {})",
    "hmul": "({} * {})",
    "hdiv": "({} / {})",
    "hneg": "(-{})",
    "habs": "np.abs({})",
    "hfma": "fused({}, {}, {})",
    "hmax": "larger({}, {})",
    "hmin": "smaller({}, {})",
    "heq": "({} == {})",
    "hne": "({} != {})",
    "hlt": "({} < {})",
    "hle": "({} <= {})",
    "hgt": "({} > {})",
    "hge": "({} >= {})",
}
FP16 |= {
    f"h{name}": f"np.{name}({{}})"
    for name in ("sin", "cos", "exp", "exp2", "log", "log2", "log10", "sqrt", "floor", "ceil", "trunc", "rint")
}


class Intrinsics:
    """The part of :class:`compiler.Function` that compiles calls."""

    # --- numba.cuda's values ------------------------------------------------------------------------------

    def cuda_value(self, symbol: Symbol) -> Value | None:
        """``threadIdx.x``, ``laneid`` and the like; None for what is no number."""
        path, launch = symbol.path, self.unit.launch
        if len(path) == 2 and path[1] in AXES and path[0] in COORDINATES:
            axis = AXES[path[1]]
            if path[0] in ("blockDim", "gridDim"):
                size = (launch.block if path[0] == "blockDim" else launch.grid)[axis]
                return replace(self.number(np.int32(size)), literal=False)
            return Value(f"w.{'thread' if path[0] == 'threadIdx' else 'block'}[{axis}]", "int32")
        if path == ("laneid",):
            return Value("w.lanes.lane", "int32")
        if path == ("warpsize",):
            return replace(self.number(np.int32(32)), literal=False)
        return None

    def grid(self, node, name: str) -> Value:
        """``cuda.grid(dims)`` and ``cuda.gridsize(dims)``."""
        argument = self.expr(node.args[0]) if len(node.args) == 1 and not node.keywords else None
        dims = int(argument.const) if argument and argument.is_const and typing_rules.is_int(argument.type) else None
        if dims not in (1, 2, 3):
            self.refuse(node, f"cuda.{name}() takes a literal number of dimensions: 1, 2 or 3")
        if name == "grid":
            items = tuple(Value(f"w.global_id({d})", "int64") for d in range(dims))
        else:
            launch = self.unit.launch
            items = tuple(replace(self.number(launch.grid[d] * launch.block[d]), literal=False) for d in range(dims))
        return items[0] if dims == 1 else self.tuple_of(items)

    # --- shared and local arrays ----------------------------------------------------------------------------

    def allocation(self, node) -> Value | None:
        """``name = cuda.shared.array(...)`` or ``cuda.local.array(...)``, or None for other assignments."""
        if not isinstance(node.value, ast.Call):
            return None
        thing = self.constant_object(node.value.func)
        if not isinstance(thing, Symbol) or thing.path not in (("shared", "array"), ("local", "array")):
            return None
        space = thing.path[0]
        if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            self.refuse(node, f"give the {space} array one name: tile = cuda.{space}.array(...)")
        name = node.targets[0].id
        call = node.value
        arguments = dict(zip(("shape", "dtype", "alignment"), call.args, strict=False))
        for keyword in call.keywords:
            if keyword.arg not in ("shape", "dtype", "alignment") or keyword.arg in arguments:
                self.refuse(
                    node, f"cuda.{space}.array() takes shape, dtype and alignment, once each; leave out {keyword.arg!r}"
                )
            arguments[keyword.arg] = keyword.value
        if "shape" not in arguments or "dtype" not in arguments or len(call.args) > 3:
            self.refuse(
                node,
                f"cuda.{space}.array() takes a shape, a dtype and perhaps an alignment, as in "
                f"cuda.{space}.array((16, 16), float32)",
            )
        shape = self.static_shape(arguments["shape"], space)
        dtype = self.static_dtype(arguments["dtype"])
        if "alignment" in arguments:
            alignment = self.expr(arguments["alignment"])
            if not (alignment.type == NONE or alignment.is_const and typing_rules.is_int(alignment.type)):
                self.refuse(node, "the alignment must be a literal number of bytes, such as 16")
            if alignment.is_const and (alignment.const < 1 or int(alignment.const) & (int(alignment.const) - 1)):
                self.refuse(node, "the alignment must be a power of two, such as 16")
        size = prod(shape) * DTYPE[dtype].itemsize
        if space == "local" and size > LOCAL_LIMIT:
            self.refuse(
                node,
                f"the local array {name!r} takes {size:,} bytes a thread, and a GPU allows "
                f"{LOCAL_LIMIT:,}; use a smaller one",
            )
        if shape == (0,) and space == "shared":
            self.refuse(
                node, "the simulator does not run dynamic shared memory (shape 0); give the shape as a constant"
            )
        if min(shape) < 1:
            self.refuse(node, f"the {space} array {name!r} has shape {shape}; every dimension must be at least 1")
        self.unit.arrays.append(name)
        number = len(self.unit.arrays) - 1
        if space == "local":
            self.unit.local_bytes += size
            self.own_arrays.append(number)
        else:
            self.unit.static_shared[number] = (name, size, size // DTYPE[dtype].itemsize, node.lineno)
        make = f"w.{space}_array({number}, {name!r}, {self.unit.dtype(dtype)}, {shape!r}, {self.mask})"
        return Value(make, ArrayType(dtype, len(shape)))

    def static_shape(self, node, space: str) -> tuple[int, ...]:
        """The shape of a shared or local array, of what numba knows when it types the kernel."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        if not isinstance(node, ast.Tuple):
            value = self.expr(node)
            if isinstance(value.type, TupleType) and value.items and all(i.is_const for i in value.items):
                return tuple(int(i.const) for i in value.items)
        shape = []
        for part in parts:
            value = self.expr(part)
            if isinstance(part, ast.BinOp) and not all(
                isinstance(n, (ast.Constant, ast.operator, ast.BinOp)) for n in ast.walk(part)
            ):
                self.refuse(
                    part,
                    f"numba does not fold {ast.unparse(part)} in the shape of a {space} array; give it "
                    "a name outside the kernel and use the name",
                )
            if not (value.is_const and value.literal and typing_rules.is_int(value.type)):
                self.refuse(
                    part,
                    f"the shape of a {space} array must be known when the kernel is compiled, and "
                    f"{ast.unparse(part)} is not: use a literal, a global or a closure variable",
                )
            shape.append(int(value.const))
        return tuple(shape)

    def static_dtype(self, node) -> str:
        """The element type of a shared or local array."""
        if isinstance(node, ast.Call) and self.constant_object(node.func) is np.dtype and len(node.args) == 1:
            node = node.args[0]
        thing = node.value if isinstance(node, ast.Constant) else self.expr(node).const
        if isinstance(thing, str):
            try:
                thing = np.dtype(thing)
            except TypeError:
                thing = None
        name = dtype_name(thing)
        if name is None:
            self.refuse(
                node,
                f"{ast.unparse(node)} is not a type that the simulator runs; use float32, float64, "
                "an integer type or bool",
            )
        if isinstance(thing, type) and thing in (int, float, bool, complex):  # a NumPy dtype may be equal to one
            self.refuse(
                node,
                f"numba does not take {ast.unparse(node)} as the type of an array; write "
                f"{'boolean' if thing is bool else name}",
            )
        return name

    # --- calls ------------------------------------------------------------------------------------------------

    def statement_call(self, node: ast.Call):
        """A call whose value is not used."""
        thing = self.constant_object(node.func)
        if isinstance(thing, Symbol):
            path = thing.path
            if path == ("syncthreads",):
                self.at_most(node, 0)
                self.emit(self.barrier(node))
                return
            if path == ("syncwarp",):
                self.at_most(node, 1)
                members = self.members(node, 0)
                self.emit(f"w.syncwarp({members or '0xFFFFFFFF'}, {self.mask}, {node.lineno})")
                return
            if path and path[0] in FENCES:
                self.at_most(node, 0)
                self.unit.fences = True
                self.emit(f"w.threadfence({self.mask})")
                return
            if path[:1] == ("atomic",) and len(path) == 2:
                self.atomic(node, path[1], used=False)
                return
        value = self.call(node)
        if value.code and not value.pure_name:
            self.saved(value, force=True)

    def call(self, node: ast.Call) -> Value:
        """A call whose value may be used."""
        if isinstance(node.func, ast.Attribute) and node.func.attr == "conjugate" and not (node.args or node.keywords):
            return self.conjugate(node)
        thing = self.constant_object(node.func)
        if thing is None:
            target = self.expr(node.func)
            if target.type != COMPILE_TIME:
                advice = "index it with [ ]" if isinstance(target.type, (ArrayType, TupleType)) else "leave out the ( )"
                self.refuse(
                    node, f"{ast.unparse(node.func)} is {describe_type(target.type)}, and cannot be called; {advice}"
                )
            thing = target.const
        if isinstance(thing, Symbol):
            return self.cuda_call(node, thing)
        wide = getattr(thing, "__simulated_as__", None)
        if wide is not None:
            return self.wide_call(node, *wide)
        if thing is complex:
            return self.complex_call(node)
        if isinstance(thing, type) and thing in (int, float, bool) or dtype_name(thing) and not isinstance(thing, str):
            return self.cast_call(node, thing)
        if getattr(thing, "__module__", None) == "math":
            return self.math_call(node, thing.__name__)
        builtin = {min: "min", max: "max", abs: "abs", len: "len", round: "round", pow: "pow", divmod: "divmod"}.get(
            thing if callable(thing) and getattr(thing, "__hash__", None) else None
        )
        if builtin:
            return getattr(self, f"call_{builtin}")(node)
        if isinstance(thing, np.ufunc) or getattr(thing, "__module__", "").split(".")[0] == "numpy":
            name = getattr(thing, "__name__", str(thing))
            known = f"math.{MATH_OF_NUMPY[name]}" if name in MATH_OF_NUMPY else "math functions and single elements"
            self.refuse(
                node,
                f"the simulator does not run {ast.unparse(node.func)}(), a NumPy function; use "
                f"{INSTEAD_OF_NUMPY.get(name, known)}",
            )
        if getattr(thing, "py_func", None) is not None:
            return self.device_call(node, thing)
        if isinstance(thing, FunctionType):
            self.refuse(
                node,
                f"{ast.unparse(node.func)} is a plain Python function; decorate it with "
                "@cuda.jit(device=True) to call it from a kernel",
            )
        name = getattr(thing, "__name__", "")
        advice = (
            "write the operator itself"
            if getattr(thing, "__module__", "") == "_operator"
            else INSTEAD.get(name, "write it out with arithmetic, comparisons, if and for")
        )
        self.refuse(
            node,
            f"the simulator does not run {ast.unparse(node.func)}(); {advice}"
            if callable(thing)
            else f"{ast.unparse(node.func)} is no function, and cannot be called; leave out the ( )",
        )

    def arguments(self, node, count: int | tuple, what: str, real: bool = True) -> list[Value]:
        counts = (count,) if isinstance(count, int) else count
        if node.keywords or len(node.args) not in counts:
            count = " or ".join(map(str, counts[:-1] + (plural(counts[-1], "argument"),)))
            self.refuse(
                node,
                f"{what}() takes {count} without names, and is given "
                f"{len(node.args) + len(node.keywords)}{NOT_TAKEN.get(what, '')}",
            )
        values = [self.scalar(a) for a in node.args]
        for value in values:
            if real and typing_rules.is_complex(value.type):
                raise TypingError(f"{what} does not take {value.type}; give it .real, .imag or abs() of it")
        return values

    def at_most(self, node, count: int):
        """Refuse a call that has more arguments than ``count``, or named ones."""
        if node.keywords or len(node.args) > count:
            takes = f"at most {plural(count, 'argument')}, without a name" if count else "no arguments"
            self.refuse(node, f"{ast.unparse(node.func)}() takes {takes}; leave out what is too much")

    def cuda_call(self, node, symbol: Symbol) -> Value:
        path, name = symbol.path, ".".join(symbol.path)
        if not path:
            self.refuse(node, f"{ast.unparse(node.func)} is a module, and cannot be called; call one of its functions")
        if path in (("grid",), ("gridsize",)):
            return self.grid(node, path[0])
        if path[0] in SHUFFLES:
            return self.shuffle(node, path[0])
        if path[0] in VOTES:
            self.member_mask(node, 0)
            predicate = self.arguments(node, 2, f"cuda.{name}")[1]
            if path[0] == "eq_sync":
                code = predicate.code
            else:
                code = self.truth(predicate).code
            return self.effect(f"w.vote({path[0]!r}, {code}, {self.mask})", VOTES[path[0]])
        if path[0] == "match_any_sync":
            self.member_mask(node, 0)
            value = self.arguments(node, 2, "cuda.match_any_sync")[1]
            return self.effect(f"w.vote('match_any_sync', {value.code}, {self.mask})", "int32")
        if path[0] == "activemask":
            self.at_most(node, 0)
            return self.effect(
                f"cast(w.vote('ballot_sync', np.True_, {self.mask}), {self.unit.dtype('uint32')})", "uint32"
            )
        if path[0] == "lanemask_lt":
            self.at_most(node, 0)
            return Value("w.lanemask_lt()", "uint32")
        if path[0] in ("syncthreads_count", "syncthreads_and", "syncthreads_or"):
            value = self.truth(self.arguments(node, 1, f"cuda.{name}")[0])
            return self.effect(self.barrier(node, f"({path[0]!r}, {value.code})"), "int32")
        if path[0] == "atomic" and len(path) == 2:
            return self.atomic(node, path[1], used=True)
        if path[0] == "fma":
            a, b, c = self.arguments(node, 3, "cuda.fma")
            kind = "float32" if all(v.type in ("float16", "float32") for v in (a, b, c)) else "float64"
            a, b, c = (self.converted(v, kind) for v in (a, b, c))
            return Value(f"fused({a}, {b}, {c})", kind)
        if path[0] == "selp":
            condition, a, b = self.arguments(node, 3, "cuda.selp")
            kind = unify_types(a.type, b.type)
            if kind == "float16":
                raise TypingError("cuda.selp does not take float16; write a if condition else b")
            return Value(
                f"pick({self.truth(condition).code}, {self.converted(a, kind)}, {self.converted(b, kind)})", kind
            )
        if path[0] in ("popc", "clz", "ffs", "brev"):
            (value,) = self.arguments(node, 1, f"cuda.{name}")
            if not typing_rules.is_int(value.type):
                raise TypingError(f"cuda.{name} needs an integer, not {value.type}: convert it with int()")
            kind = {"clz": value.type, "ffs": "uint32" if typing_rules.bits(value.type) <= 32 else "uint64"}.get(
                path[0], value.type
            )
            return Value(f"cast(bit_{path[0]}({value.code}), {self.unit.dtype(kind)})", kind)
        if path[0] in ("cbrt", "rsqrt"):
            (value,) = self.arguments(node, 1, f"cuda.{name}")
            kind = typing_rules.math_result(value.type)
            code = self.converted(value, kind)
            return Value(f"np.cbrt({code})" if path[0] == "cbrt" else f"(np.{kind}(1) / np.sqrt({code}))", kind)
        if path[0] == "fp16" and path[1:] and path[1] in FP16:
            code = FP16[path[1]]
            values = self.arguments(node, code.count("{}"), f"cuda.{name}")
            return Value(
                code.format(*(self.converted(v, "float16") for v in values)),
                "bool" if "np." not in code and any(c in code for c in "=!<>") else "float16",
            )
        if path[0] in ("syncthreads", "syncwarp", *FENCES):
            self.refuse(node, f"cuda.{name}() has no value; write it as a statement of its own")
        if path in (("shared", "array"), ("local", "array")):
            self.refuse(node, f"assign cuda.{name}(...) to a name first: tile = cuda.{name}(...)")
        if path[0] in (*COORDINATES, "laneid", "warpsize"):
            self.refuse(node, f"cuda.{name} is a value, and cannot be called; leave out the ( )")
        if path[0] in INSTEAD_OF_CUDA or symbol.thing is not None:
            advice = INSTEAD_OF_CUDA.get(path[0], "call it outside the kernel, or leave it out")
            self.refuse(node, f"the simulator does not run cuda.{name}; {advice}")
        self.refuse(node, f"numba.cuda has no {name!r}; look up how it is spelled")

    def effect(self, code: str, kind: str) -> Value:
        """Emit a call with an effect and return the name of its result."""
        result = self.fresh("t")
        self.emit(f"{result} = {code}")
        return Value(result, kind)

    def members(self, node, position: int) -> str | None:
        """Code of the mask that a warp operation names, if it names one."""
        if len(node.args) <= position:
            return None
        value = self.scalar(node.args[position])
        if not typing_rules.is_int(value.type):
            raise TypingError("the mask of a warp operation must be an integer, such as 0xFFFFFFFF")
        return value.code

    def member_mask(self, node, position: int):
        """Check the lanes that a warp operation names against the lanes that arrive."""
        members = self.members(node, position)
        if members is not None:
            self.emit(f"w.check_members({members}, {self.mask}, {node.lineno})")

    def shuffle(self, node, name: str) -> Value:
        """``cuda.shfl_*_sync(mask, value, lane)``; numba moves small integers as int32."""
        if len(node.args) != 3 or node.keywords:
            self.refuse(
                node, f"cuda.{name} takes a mask, a value and a lane or an offset, as in cuda.{name}(0xFFFFFFFF, x, 1)"
            )
        self.member_mask(node, 0)
        value, lane = self.scalar(node.args[1]), self.scalar(node.args[2])
        if typing_rules.is_complex(value.type):
            raise TypingError(f"cuda.{name} does not take {value.type}; move .real and .imag")
        kind = {
            "int64": "int64",
            "uint32": "int64",
            "uint64": "int64",
            "float16": "float32",
            "float32": "float32",
            "float64": "float64",
        }.get(value.type, "int32")
        if not typing_rules.is_int(lane.type):
            raise TypingError(f"the lane of cuda.{name} must be an integer, not {lane.type}: convert it with int()")
        code = f"w.shuffle({SHUFFLES[name]!r}, {self.converted(value, kind)}, {lane.code}, {self.mask}, {node.lineno})"
        return self.effect(code, kind)

    def atomic(self, node, name: str, used: bool) -> Value:
        """``cuda.atomic.<name>(...)``; ``used`` if the kernel looks at the old value that it returns."""
        if name not in ATOMICS:
            self.refuse(node, f"numba.cuda has no atomic.{name}; it has {', '.join(ATOMICS)}")
        takes = ("the array", *ATOMIC_ARGUMENTS.get(name, ("the index", "the value")))
        if node.keywords or len(node.args) != len(takes):
            self.refuse(
                node,
                f"cuda.atomic.{name} takes {len(takes)} arguments without names: {', '.join(takes[:-1])} "
                f"and {takes[-1]}",
            )
        array = self.expr(node.args[0])
        if not isinstance(array.type, ArrayType):
            self.refuse(
                node,
                f"{ast.unparse(node.args[0])} is {describe_type(array.type)}; cuda.atomic.{name} takes "
                f"{', '.join(takes[:-1])} and {takes[-1]}",
            )
        if name == "compare_and_swap":
            index = ast.copy_location(ast.Constant(0), node)
            values = node.args[1:]
        else:
            index, values = node.args[1], node.args[2:]
        if isinstance(index, ast.Tuple) and len(index.elts) == 1:
            self.refuse(node, f"numba does not take a tuple of one index here; write {ast.unparse(index.elts[0])}")
        subscript = ast.copy_location(ast.Subscript(node.args[0], index, ast.Load()), node)
        array, indices = self.element(subscript)
        dtype = array.type.dtype
        if typing_rules.is_complex(dtype) or dtype == "float16":
            raise TypingError(f"cuda.atomic.{name} does not take an array of {dtype}; use one of float32 or float64")
        if not array.type.ndim:
            raise TypingError(f"cuda.atomic.{name} does not take an array without dimensions; pass one of shape (1,)")
        if name in ("inc", "dec") and dtype not in ("uint32", "uint64"):
            raise TypingError(
                f"cuda.atomic.{name} needs an array of uint32 or uint64, and {ast.unparse(node.args[0])} "
                f"holds {dtype}; convert the array before the launch"
            )
        if name in ("and_", "or_", "xor") and not typing_rules.is_int(dtype):
            raise TypingError(
                f"cuda.atomic.{name} needs an array of integers, and {ast.unparse(node.args[0])} holds "
                f"{dtype}; convert the array before the launch"
            )
        codes = [self.converted(self.scalar(v), dtype) for v in values]
        self.note_write(array)
        site = self.unit.site(node.lineno, "atomic")
        result = self.fresh("t")
        self.emit(
            f"{result} = {site}.atomic({name!r}, {array.code}, {self.index_code(indices)}, "
            f"({', '.join(codes)},), {self.mask}, {used})"
        )
        return Value(result, dtype)

    def wide_call(self, node, op: str, width: int) -> Value:
        """A vector load or store: ``load(array, *index)`` gives a tuple, ``store(array, *index, values)`` takes one."""
        what = ast.unparse(node.func)
        array = self.expr(node.args[0]) if node.args else None
        if array is None or not isinstance(array.type, ArrayType):
            self.refuse(node, f"{what} takes an array as its first argument; pass the array, then the indices")
        parts = node.args[1 : 1 + array.type.ndim]
        rest = node.args[1 + array.type.ndim :]
        if node.keywords or len(parts) != array.type.ndim or len(rest) != (op == "store"):
            indices = "1 index" if array.type.ndim == 1 else f"{array.type.ndim} indices"
            self.refuse(
                node,
                f"{what} takes the array"
                + (f", {indices} and a tuple of {width} values" if op == "store" else f" and {indices}")
                + ", without names",
            )
        indices = [self.scalar(p) for p in parts]
        for index, part in zip(indices, parts, strict=True):
            self.check_index(node, part, index)
        dtype = array.type.dtype
        if op == "load":
            site = self.unit.site(node.lineno, op, width)
            result = self.fresh("t")
            self.emit(f"{result} = {site}.load({array.code}, {self.index_code(indices)}, {self.mask})")
            return Value(result, TupleType((dtype,) * width))
        values = self.expr(rest[0])
        if values.type != TupleType((dtype,) * width):
            self.refuse(
                node,
                f"{what} stores a tuple of {width} values of {dtype}, and {ast.unparse(rest[0])} is "
                f"{describe_type(values.type)}; convert each item",
            )
        self.note_write(array)
        site = self.unit.site(node.lineno, op, width)
        self.emit(f"{site}.store({array.code}, {self.index_code(indices)}, {values.code}, {self.mask})")
        return Value("None", NONE)

    # --- casts, math and builtins -----------------------------------------------------------------------------

    def conjugate(self, node) -> Value:
        """``x.conjugate()`` of a number: a real one is its own."""
        value = self.scalar(node.func.value)
        if value.type == "bool":
            raise TypingError("a bool has no conjugate; leave it out")
        code = f"np.conjugate({value.code})" if typing_rules.is_complex(value.type) else value.code
        return Value(code, value.type, origin=value.origin)

    def complex_call(self, node) -> Value:
        """``complex(x)``, which is complex64 of a float32 alone, and ``complex(real, imaginary)``."""
        values = self.arguments(node, (1, 2), "complex", real=False)
        kind = typing_rules.complex_result(*(v.type for v in values))
        if len(values) == 1:
            return Value(self.converted(values[0], kind), kind)
        real, imaginary = (self.converted(v, typing_rules.PART[kind]) for v in values)
        return Value(f"complex_of({real}, {imaginary})", kind)

    def cast_call(self, node, thing) -> Value:
        (value,) = self.arguments(node, 1, ast.unparse(node.func), real=False)
        if thing is float:
            kind = value.type if typing_rules.is_float(value.type) else "float64"
        elif thing is int:
            kind = value.type if typing_rules.is_int(value.type) else "int64"
        else:
            kind = dtype_name(thing)
        if kind == "bool":
            return replace(self.truth(value), literal=False)
        code = self.converted(value, kind)
        return (
            self.folded(code, kind, (value,))
            if not value.is_const
            else replace(self.folded(code, kind, (value,)), literal=False)
        )

    def math_call(self, node, name: str) -> Value:
        if name in MATH or name in MATH_TESTS:
            (value,) = self.arguments(node, 1, f"math.{name}")
            kind = typing_rules.math_result(value.type, name)
            code = f"np.{(MATH | MATH_TESTS)[name]}({self.converted(value, kind)})"
            if name in MATH_TESTS:
                return Value(code, "bool")
            origin = value.origin
            if kind == "float64" and value.type != "float64":
                origin = f"{ast.unparse(node)}, math of {value.type}"
            return Value(code, kind, origin=origin)
        if name in MATH2:
            a, b = self.arguments(node, 2, f"math.{name}")
            if name == "pow" and a.type == "float32" and b.type in ("int32", "int16", "int8", "bool", "uint8"):
                kind = "float32"
            else:
                kind = typing_rules.math_result2(a.type, b.type)
            origin = self.promotion(node, kind, a, b, *node.args)
            return Value(f"np.{MATH2[name]}({self.converted(a, kind)}, {self.converted(b, kind)})", kind, origin=origin)
        if name in ("erf", "erfc", "gamma", "lgamma"):
            (value,) = self.arguments(node, 1, f"math.{name}")
            kind = typing_rules.math_result(value.type)
            return Value(f"elementwise(math.{name}, {self.converted(value, kind)})", kind)
        advice = INSTEAD_OF_MATH.get(name, "write it out with arithmetic and other functions of math")
        self.refuse(node, f"the simulator does not run math.{name}; {advice}")

    def call_min(self, node, function: str = "smaller") -> Value:
        if len(node.args) < 2 or node.keywords:
            self.refuse(
                node,
                "min() and max() take two or more numbers without names; compare the elements of an array in a loop",
            )
        values = [self.scalar(a) for a in node.args]
        kind = values[0].type
        for value in values[1:]:
            kind = typing_rules.unify(kind, value.type)
        typing_rules.comparison(kind, kind)
        code = self.converted(values[0], kind)
        for value in values[1:]:
            code = f"{function}({code}, {self.converted(value, kind)})"
        origins = [v.origin for v in values if v.type == "float64"]
        origin = None
        if kind == "float64" and all(origins):
            origin = origins[0] if origins else f"{ast.unparse(node)}, of {' and '.join(v.type for v in values)}"
        return Value(code, kind, origin=origin)

    def call_max(self, node) -> Value:
        return self.call_min(node, "larger")

    def call_abs(self, node) -> Value:
        (value,) = self.arguments(node, 1, "abs", real=False)
        if typing_rules.is_complex(value.type):
            value = self.saved(value)
            return Value(
                f"np.hypot({value.code}.real, {value.code}.imag)", typing_rules.PART[value.type], origin=value.origin
            )
        kind = "int8" if value.type == "bool" else value.type
        return Value(f"np.abs({self.converted(value, kind)})", kind, origin=value.origin)

    def call_len(self, node) -> Value:
        if len(node.args) != 1:
            self.refuse(node, "len() takes one argument, an array or a tuple")
        value = self.expr(node.args[0])
        if isinstance(value.type, ArrayType):
            return Value(f"dim({value.code}, 0)", "int64")
        if isinstance(value.type, TupleType):
            return self.number(len(value.type.items))
        self.refuse(
            node,
            f"len() takes an array or a tuple, and {ast.unparse(node.args[0])} is "
            f"{describe_type(value.type)}, which has no length",
        )

    def call_round(self, node) -> Value:
        (value,) = self.arguments(node, 1, "round")
        if not typing_rules.is_float(value.type):
            return Value(self.converted(value, "int64"), "int64")
        return Value(f"cast(np.rint({value.code}), {self.unit.dtype('int64')})", "int64")

    def call_pow(self, node) -> Value:
        if len(node.args) != 2 or node.keywords:
            self.refuse(node, "pow() takes two numbers without names; for a remainder write a ** b % c")
        return self.on_BinOp(ast.copy_location(ast.BinOp(node.args[0], ast.Pow(), node.args[1]), node))

    def call_divmod(self, node) -> Value:
        if len(node.args) != 2 or node.keywords:
            self.refuse(node, "divmod() takes two numbers, without names")
        parts = [
            self.on_BinOp(ast.copy_location(ast.BinOp(node.args[0], op, node.args[1]), node))
            for op in (ast.FloorDiv(), ast.Mod())
        ]
        return self.tuple_of(tuple(parts))

    # --- device functions --------------------------------------------------------------------------------------

    def device_call(self, node, thing) -> Value:
        """A call of a device function, which is compiled once for each combination of argument types."""
        function = python_function(thing)
        if function in self.stack:
            self.refuse(node, f"{function.__name__} calls itself; a kernel cannot recurse: write a loop")
        source = read(thing)
        if source.filename != self.unit.sources[0].filename:
            # its lines mean nothing in the kernel's file: all that it does belongs to the line of the call
            source = source.moved_to(node.lineno)
        values = self.bound(node, function, [a.arg for a in source.tree.args.args])
        key = (function, source.tree.lineno, tuple((v.type, v.origin) for v in values))
        if key not in self.unit.device:
            inner = type(self)(self.unit, source, [Variable(v.type, v.origin) for v in values], False, self.stack)
            self.unit.device_names += 1
            name = f"f{self.unit.device_names}_{function.__name__}"
            try:
                inner.compile(name)
            except UnsupportedKernelError as error:
                if error.line is not None and source.filename != self.source.filename:
                    raise UnsupportedKernelError(
                        f"in the device function {function.__name__}: {error}", getattr(node, "own_line", node.lineno)
                    ) from None
                raise
            self.unit.device[key] = DeviceFunction(name, inner.result_type, inner.barriers)
        device = self.unit.device[key]
        self.calls = True
        codes = "".join(f", {v.code}" for v in values)
        call = f"{device.name}(w, {self.mask}, {self.path_code()}{codes})"
        if device.barriers:
            self.barriers = True
            call = f"(yield from {call})"
        result = self.fresh("t")
        self.emit(f"{result} = {call}")
        if device.result == NONE:
            return Value("None", NONE)
        return Value(result, device.result)

    def bound(self, node, function, parameters: list[str]) -> list[Value]:
        """The arguments of a call, one for each parameter: by position, by name or by default."""
        name = function.__name__
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            self.refuse(node, f"* cannot unpack in a kernel; write out the arguments of {name}")
        parts = dict(zip(parameters, node.args, strict=False))
        for keyword in node.keywords:
            if keyword.arg in parts or keyword.arg not in parameters:
                self.refuse(
                    node,
                    f"{name} takes {', '.join(parameters)}; {keyword.arg!r} is "
                    f"{'given twice' if keyword.arg in parts else 'none of them'}",
                )
            parts[keyword.arg] = keyword.value
        defaults = function.__defaults__ or ()
        values = dict(zip(parameters[len(parameters) - len(defaults) :], defaults, strict=True))
        missing = [p for p in parameters if p not in parts and p not in values]
        if missing or len(node.args) > len(parameters):
            self.refuse(
                node,
                f"{name} takes {len(parameters)} arguments ({', '.join(parameters)}), not "
                f"{len(node.args) + len(node.keywords)}",
            )
        values = {
            p: self.expr(parts[p]) if p in parts else self.wrap(values[p], node)
            for p in (*parts, *(p for p in parameters if p not in parts))
        }  # in the order in which they are written
        for parameter, value in values.items():
            if value.type in (COMPILE_TIME, CONFLICT):
                part = parts.get(parameter, node)
                self.refuse(
                    part,
                    f"{ast.unparse(part)} is {describe_type(value.type)}, and cannot be passed to a "
                    "device function; use it there by its own name",
                )
        return [values[p] for p in parameters]
