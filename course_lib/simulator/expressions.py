"""Expressions: each becomes Python code over lane vectors, with its numba type.

Whatever has an effect (a load, a call, an atomic) is emitted as a statement of its own, in order and under the
mask of the lanes that evaluate it; what is left as an expression is pure arithmetic.
"""

from __future__ import annotations

import ast
import operator
from dataclasses import replace
from types import ModuleType

import numpy as np

from . import typing_rules
from .conditions import Conditions
from .frontend import cuda_name, dtype_name, is_cuda_module
from .intrinsics import Intrinsics
from .machine import runtime
from .tuples import Tuples
from .values import (
    COMPILE_TIME,
    CONFLICT,
    COORDINATES,
    MISSING,
    NONE,
    ArrayType,
    Promotion,
    Symbol,
    TupleType,
    Value,
    describe_type,
    plural,
    unify_types,
    version_name,
)

OPERATORS = {
    "Add": "+",
    "Sub": "-",
    "Mult": "*",
    "Div": "/",
    "FloorDiv": "//",
    "Mod": "%",
    "BitAnd": "&",
    "BitOr": "|",
    "BitXor": "^",
    "LShift": "<<",
    "RShift": ">>",
}
#: What the code of an operator between constants may call.
FOLDS = ("cast", "complex_power", "power", "product", "quotient", "raised", "np")
NUMBERS = (bool, int, float, complex)
#: Types of less than double precision.
SINGLE = ("float16", "float32", "complex64")
#: The operators that Python works out between literals.
PYTHON = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}


class Expressions(Conditions, Tuples, Intrinsics):
    """The part of :class:`compiler.Function` that compiles expressions; its bases do so for some kinds of them.

    ``on_<node>`` compiles a node of Python's syntax tree. What cannot be compiled is refused: ``refuse`` says what it
    is, where it is and what to write instead.
    """

    def expr(self, node: ast.AST) -> Value:
        """The value of any expression."""
        handler = getattr(self, f"on_{type(node).__name__}", None)
        if handler is None:
            self.refuse(node, f"a kernel cannot hold {describe(node)}")
        try:
            return handler(node)
        except typing_rules.TypingError as error:
            self.refuse(node, f"{error} (in {ast.unparse(node)})")

    def scalar(self, node: ast.AST) -> Value:
        """The value of an expression that must be a number."""
        value = self.expr(node)
        if not value.is_scalar:
            self.refuse_as_number(node, value)
        return value

    def refuse_as_number(self, node: ast.AST, value: Value):
        text = ast.unparse(node)
        self.refuse(
            node, f"{text} is {describe_type(value.type)}, where a number is needed{way_to_number(text, value)}"
        )

    def check_index(self, node: ast.AST, part: ast.AST, index: Value):
        """Refuse the index that ``part`` of ``node`` gives unless it is an integer."""
        if not (index.is_scalar and typing_rules.is_int(index.type)):
            text = ast.unparse(part)
            advice = f": convert it with int({text})" if index.is_scalar else way_to_number(text, index)
            self.refuse(node, f"the index {text} is {describe_type(index.type)}; an index must be an integer{advice}")

    # --- constants and names -------------------------------------------------------------------------------

    def number(self, value, literal: bool = True, origin: str | None = None) -> Value:
        """A constant of the type that numba gives it; ``literal``: numba, too, knows it when it types the kernel."""
        kind = typing_rules.of_value(value)
        if kind is None:
            raise typing_rules.TypingError(f"{value!r} does not fit in 64 bits; write it as a float")
        value = typing_rules.DTYPE[kind].type(value)
        return Value(self.unit.constant(value), kind, value, literal, origin)

    def on_Constant(self, node):
        if node.value is None:
            return Value("None", NONE)
        if not isinstance(node.value, NUMBERS):
            self.refuse(
                node,
                f"{ast.unparse(node)} is a {type(node.value).__name__}; the simulator runs integers, "
                "floats, complex numbers and bools",
            )
        origin = f"the literal {ast.unparse(node)}" if isinstance(node.value, (float, complex)) else None
        return self.number(node.value, origin=origin)

    def on_Name(self, node):
        name = node.id
        if name in self.locals:
            variable = self.env.get(name)
            if variable is None:
                self.refuse(node, f"the variable {name!r} has no value yet; assign it first")
            if variable.type == COMPILE_TIME:
                return self.wrap(self.constant_object(node), node)
            if variable.type == CONFLICT:
                self.refuse(
                    node,
                    f"{name!r} has different kinds of values on different paths, which no type holds; use two names",
                )
            code = self.mangle(name, variable.type)
            if variable.maybe:
                self.tracked.add(name)
                self.emit(f"w.check_assigned(h_{name}, {self.mask}, {name!r}, {node.lineno})")
                if not isinstance(variable.type, str):
                    self.refuse(node, f"{name!r} is not assigned on every path; assign it before the if or the loop")
                poison = self.unit.constant(typing_rules.DTYPE[variable.type].type(0))
                self.emit(f"if {code} is None: {code} = {poison}")
            if isinstance(variable.const, np.generic):
                return Value(self.unit.constant(variable.const), variable.type, variable.const, True, variable.origin)
            return Value(code, variable.type, origin=variable.origin)
        return self.wrap(self.constant_object(node), node)

    def constant_object(self, node):
        """The compile-time object that an expression of names and attributes stands for, or None."""
        if isinstance(node, ast.Name):
            if node.id in self.locals:
                variable = self.env.get(node.id)
                if variable is None or variable.type != COMPILE_TIME:
                    return None
                if variable.maybe or variable.const is MISSING:
                    self.refuse(node, f"{node.id!r} does not mean one thing on every path; use its value directly")
                return variable.const
            try:
                thing = self.source.lookup(node.id)
            except KeyError:
                self.refuse(node, f"the name {node.id!r} is not defined; define it, or pass it as an argument")
            except ValueError:
                self.refuse(
                    node,
                    f"the name {node.id!r} has no value yet in the enclosing function; assign it before the launch",
                )
            if is_cuda_module(thing):
                return Symbol("cuda", (), thing)
            known = cuda_name(thing) if not isinstance(thing, NUMBERS) else None
            return part_of_cuda((known,), thing) if known else thing
        if isinstance(node, ast.Attribute):
            owner = self.constant_object(node.value)
            if owner is None:
                return None
            if isinstance(owner, Symbol):
                return part_of_cuda((*owner.path, node.attr), getattr(owner.thing, node.attr, None))
            if isinstance(owner, ModuleType):
                if not hasattr(owner, node.attr):
                    self.refuse(node, f"{ast.unparse(node.value)} has no {node.attr!r}; look up how it is spelled")
                thing = getattr(owner, node.attr)
                return Symbol("cuda", (), thing) if is_cuda_module(thing) else thing
            return getattr(owner, node.attr, None)
        return None

    def wrap(self, thing, node) -> Value:
        """A compile-time object as a value: numbers become constants, the rest stays at compile time."""
        if isinstance(thing, (*NUMBERS, np.generic)) and typing_rules.of_value(thing):
            kind = type(thing)
            origin = f"{ast.unparse(node)}, a Python {kind.__name__}" if kind in (float, complex) else None
            return self.number(thing, literal=True, origin=origin)
        if isinstance(thing, tuple):
            return self.tuple_of(tuple(self.wrap(t, node) for t in thing))
        if isinstance(thing, Symbol):
            value = self.cuda_value(thing)
            if value is not None:
                return value
        if thing is None:
            return Value("None", NONE)
        if isinstance(thing, np.ndarray):
            self.refuse(node, f"{ast.unparse(node)} is an array from outside the kernel; pass it as an argument")
        return Value("", COMPILE_TIME, thing)

    def on_Attribute(self, node):
        thing = self.constant_object(node)
        if thing is not None:
            return self.wrap(thing, node)
        owner = self.expr(node.value)
        if isinstance(owner.type, ArrayType):
            if node.attr == "shape":
                items = tuple(Value(f"dim({owner.code}, {d})", "int64") for d in range(owner.type.ndim))
                return self.tuple_of(items)
            if node.attr == "size":
                return Value(f"np.int64({owner.code}.size)", "int64")
            if node.attr == "ndim":
                return self.number(owner.type.ndim)
            if node.attr == "dtype":
                return Value("", COMPILE_TIME, typing_rules.DTYPE[owner.type.dtype])
            self.refuse(
                node,
                f"the simulator does not run .{node.attr} of an array in a kernel; "
                "it knows shape, size, ndim and dtype, and elements such as A[i, j]",
            )
        if owner.type == COMPILE_TIME and isinstance(owner.const, np.dtype) and node.attr == "type":
            return owner
        if owner.is_scalar and owner.type != "bool" and node.attr in ("real", "imag"):
            part = f"{owner.code}.{node.attr}"
            return self.folded(part, typing_rules.PART.get(owner.type, owner.type), (owner,), owner.origin)
        self.refuse(
            node,
            f"{ast.unparse(node.value)} is {describe_type(owner.type)}, of which the simulator runs no "
            f".{node.attr}; write it out with arithmetic and the functions of math",
        )

    # --- conversions -----------------------------------------------------------------------------------------

    def saved(self, value: Value, force: bool = False) -> Value:
        """``value`` under a name of its own, so that later statements do not evaluate it again."""
        if value.is_const or value.type in (NONE, COMPILE_TIME):
            return value
        if not force and value.pure_name and value.code[0] in "tk":
            return value
        name = self.fresh("t")
        self.emit(f"{name} = {value.code}")
        return replace(value, code=name, items=())

    def converted(self, value: Value, kind) -> str:
        """Code of ``value`` as ``kind``."""
        if value.type == kind:
            return value.code
        if isinstance(kind, TupleType):
            return "(" + "".join(self.converted(self.item(value, i), k) + ", " for i, k in enumerate(kind.items)) + ")"
        if typing_rules.is_complex(value.type) and not typing_rules.is_complex(kind):
            raise typing_rules.TypingError(f"{value.type} does not convert to {kind}; take .real, .imag or abs() of it")
        if value.is_const:
            with np.errstate(all="ignore"):
                return self.unit.constant(typing_rules.cast(value.const, typing_rules.DTYPE[kind]))
        return f"cast({value.code}, {self.unit.dtype(kind)})"

    def folded(self, code: str, kind: str, operands, origin=None) -> Value:
        """``code``, worked out now if all operands are constants."""
        if all(o.is_const for o in operands):
            scope = {name: getattr(runtime, name) for name in FOLDS} | self.unit.constants
            with np.errstate(all="ignore"):
                value = typing_rules.DTYPE[kind].type(eval(code, scope))
            return Value(self.unit.constant(value), kind, value, all(o.literal for o in operands), origin)
        return Value(code, kind, origin=origin)

    # --- operators -------------------------------------------------------------------------------------------

    def on_BinOp(self, node):
        folded = python_constant(node)
        if folded is not None:
            asked = any(isinstance(n, ast.Constant) and isinstance(n.value, (float, complex)) for n in ast.walk(node))
            origin = f"the literal {ast.unparse(node)}" if asked else f"{ast.unparse(node)}, a quotient of integers"
            return self.number(folded, origin=origin if isinstance(folded, (float, complex)) else None)
        left, right = self.expr(node.left), self.expr(node.right)
        if not (left.is_scalar and right.is_scalar) and any(isinstance(v.type, TupleType) for v in (left, right)):
            return self.combined(node, type(node.op).__name__, left, right)
        return self.binary(node, type(node.op).__name__, left, right, node.left, node.right)

    def binary(self, node, op: str, left: Value, right: Value, left_node, right_node) -> Value:
        for value, part in ((left, left_node), (right, right_node)):
            if not value.is_scalar:
                self.refuse_as_number(part, value)
        if op == "Pow" and right.literal and typing_rules.is_int(right.type) and not typing_rules.is_complex(left.type):
            result = left.type if typing_rules.is_float(left.type) else "int64"
            a = b = result = "float32" if result == "float16" else result
        else:
            result, a, b = typing_rules.binary(op, left.type, right.type)
        origin = self.promotion(node, result, left, right, left_node, right_node)
        if (
            op == "Pow"
            and typing_rules.is_float(result)
            and right.literal
            and abs(int(right.const)) <= 0x10000
            and (typing_rules.is_int(right.type))
        ):
            return self.folded(f"raised({self.converted(left, a)}, {int(right.const)})", result, (left, right), origin)
        if typing_rules.is_complex(result) and op in ("Mult", "Div", "Pow"):
            x, y = self.converted(left, a), self.converted(right, b)
            if op == "Div":
                code = f"complex_quotient({x}, {y}, w.full, {self.mask}, {node.lineno})"
                return replace(self.effect(code, result), origin=origin)
            return self.folded(
                f"{'product' if op == 'Mult' else 'complex_power'}({x}, {y})", result, (left, right), origin
            )
        if op == "Pow":
            x, y = self.converted(left, a), self.converted(right, b)
            if typing_rules.is_float(a) and b != a:
                y = f"cast({y}, {self.unit.dtype(a)})"
            return self.folded(f"power({x}, {y})", result, (left, right), origin)
        promoted = np.promote_types(left.type, right.type).name if op not in ("LShift", "RShift") else ""
        if promoted == result and (op != "Div" or typing_rules.is_float(promoted)):
            x, y = left.code, right.code
        else:
            x, y = self.converted(left, a), self.converted(right, b)
        if op == "FloorDiv" and not typing_rules.is_float(result) and not (right.is_const and right.const != -1):
            return self.folded(f"quotient({x}, {y})", result, (left, right), origin)
        return self.folded(f"({x} {OPERATORS[op]} {y})", result, (left, right), origin)

    def promotion(self, node, result, left, right, left_node, right_node) -> str | None:
        """Record float64 arithmetic that nobody asked for; return why the result is float64, if so."""
        if result not in typing_rules.DOUBLE:
            return None
        kinds = (left.type, right.type)
        narrow = next((t for t in kinds if t in SINGLE), None)
        if narrow:
            other, part = (right, right_node) if left.type == narrow else (left, left_node)
            wide = other.type in typing_rules.DOUBLE
            if wide and other.origin is None:
                return None
            text = ast.unparse(part)
            if wide:
                reason = other.origin if other.origin.endswith(text) else f"{text} is {other.type}: {other.origin}"
                operand = reason if " is " in reason else f"{reason} is {other.type}"
            else:
                reason = operand = f"{text} is {other.type}, and {narrow} with {other.type} gives {result}"
            self.unit.promotions.setdefault(
                (node.lineno, text), Promotion(node.lineno, operand, ast.unparse(node), narrow, result)
            )
            return reason
        if any(t in typing_rules.DOUBLE for t in kinds):
            asked = [v for v in (left, right) if v.type in typing_rules.DOUBLE]
            if not all(v.origin for v in asked):
                return None
            known = self.unit.suspected.get((node.lineno, ast.unparse(node)))
            if known is not None:
                self.unit.promotions.setdefault((known.line, known.operand), known)
            return asked[0].origin
        return f"{ast.unparse(node)}, a quotient of integers"

    def on_UnaryOp(self, node):
        op = type(node.op).__name__
        if op == "Not":
            return self.condition(node)
        folded = python_constant(node)
        if folded is not None and not isinstance(folded, (float, complex)):
            return self.number(folded)
        value = self.scalar(node.operand)
        result, working = typing_rules.unary(op, value.type)
        code = self.converted(value, working)
        code = {"USub": f"(-{code})", "UAdd": code, "Invert": f"(~{code})"}[op]
        if working != result:
            code = f"cast({code}, {self.unit.dtype(result)})"
        return self.folded(code, result, (value,), value.origin)

    def on_IfExp(self, node):
        condition = self.saved(self.condition(node.test))
        if condition.is_const and condition.literal:
            return self.expr(node.body if condition.const else node.orelse)
        before, yes, no = self.mask, self.fresh("m"), self.fresh("m")
        parts = []
        for mask, part in ((yes, node.body), (no, node.orelse)):
            with self.under(mask) as lines:
                parts.append((self.expr(part), lines))
        (a, a_lines), (b, b_lines) = parts
        kind = unify_types(a.type, b.type)
        if kind == CONFLICT or kind == COMPILE_TIME:
            self.refuse(
                node,
                f"the two sides of {ast.unparse(node)} are {describe_type(a.type)} and "
                f"{describe_type(b.type)}; give both sides the same kind of value",
            )
        origin = None
        if kind in typing_rules.DOUBLE:
            asked = [v for v in (a, b) if v.type in typing_rules.DOUBLE]
            if all(v.origin for v in asked):
                origin = asked[0].origin if asked else f"an {a.type} and a {b.type} that meet"
        if not (a_lines or b_lines) and a.is_scalar:
            return Value(
                f"pick({condition.code}, {self.converted(a, kind)}, {self.converted(b, kind)})", kind, origin=origin
            )
        result = self.fresh("t")
        self.emit(f"{result} = None")
        self.emit(f"{yes}, {no} = split({before}, {condition.code})")
        for mask, value, lines in ((yes, a, a_lines), (no, b, b_lines)):
            self.emit(f"if {mask} is not False:")
            self.lines += lines
            self.emit(f"    {result} = {self.blended(mask, self.converted(value, kind), result, kind, node.lineno)}")
        return Value(result, kind, origin=origin)

    # --- elements --------------------------------------------------------------------------------------------

    def element(self, node: ast.Subscript):
        """(array, indices) of a subscript; ``A[i][j]`` counts as ``A[i, j]``."""
        owner, chain = self.owner(node)
        if not chain:
            self.refuse(node, f"{ast.unparse(node)} is an item of a tuple, and cannot be assigned; write a new tuple")
        return self.indexed(node, owner, chain)

    def owner(self, node: ast.Subscript) -> tuple[Value, list[ast.Subscript]]:
        """What is subscripted: the first value of a chain of subscripts that is no tuple, and the rest of the chain."""
        chain, base = [], node
        while isinstance(base, ast.Subscript):
            chain.insert(0, base)
            base = base.value
        owner = self.expr(base)
        while chain and isinstance(owner.type, TupleType):
            owner = self.tuple_item(chain[0], owner, chain[0].slice)
            del chain[0]
        return owner, chain

    def indexed(self, node, array: Value, chain: list[ast.Subscript]):
        """(array, indices) of a chain of subscripts of ``array``, one checked integer for each dimension."""
        base = chain[0].value
        if not isinstance(array.type, ArrayType):
            self.refuse(
                node,
                f"{ast.unparse(base)} is {describe_type(array.type)}, and has no elements; pass an "
                "array as an argument",
            )
        parts = [p for link in chain for p in (link.slice.elts if isinstance(link.slice, ast.Tuple) else [link.slice])]
        if any(
            isinstance(p, (ast.Slice, ast.Starred)) or isinstance(p, ast.Constant) and p.value is Ellipsis
            for p in parts
        ):
            self.refuse(node, "the simulator does not run slices; write a loop over single elements")
        if len(parts) == 1:
            value = self.expr(parts[0])
            if isinstance(value.type, TupleType):
                value = self.saved(value) if not value.items else value
                indices = self.items(value)
            else:
                indices = (value,)
        else:
            indices = tuple(self.expr(p) for p in parts)
        if len(indices) != array.type.ndim:
            self.refuse(
                node,
                f"{ast.unparse(base)} has {plural(array.type.ndim, 'dimension')} and is given "
                f"{len(indices)} indices; give one index for each dimension",
            )
        for index, part in zip(indices, parts if len(parts) == len(indices) else [node] * len(indices), strict=True):
            self.check_index(node, part, index)
        return array, indices

    def on_Subscript(self, node):
        owner, chain = self.owner(node)
        if not chain:
            return owner
        array, indices = self.indexed(node, owner, chain)
        return self.load(node, array, indices)

    def index_code(self, indices) -> str:
        return f"({''.join(f'{i.code}, ' for i in indices)})"

    def load(self, node, array: Value, indices) -> Value:
        site = self.unit.site(node.lineno, "load")
        result = self.fresh("t")
        self.emit(f"{result} = {site}.load({array.code}, {self.index_code(indices)}, {self.mask})")
        return Value(result, array.type.dtype)

    def store(self, node, array: Value, indices, value: Value):
        if not value.is_scalar:
            self.refuse(
                node,
                f"{ast.unparse(node)} holds one number, and cannot take {describe_type(value.type)}; "
                "store one number at a time",
            )
        if typing_rules.is_complex(value.type):
            self.converted(value, array.type.dtype)  # refused if the array holds real numbers
        self.note_write(array)
        site = self.unit.site(node.lineno, "store")
        self.emit(f"{site}.store({array.code}, {self.index_code(indices)}, {value.code}, {self.mask})")

    def note_write(self, array: Value):
        """Remember which arguments are written: races are looked for only there."""
        self.unit.written.update(p for p in self.parameters if array.code == version_name(p, array.type))
        plain = array.code.startswith("v_") and array.code.isidentifier()
        if not (self.kernel and plain):  # an item of a tuple, one of two arrays
            self.unit.writes_unknown = True

    def on_Call(self, node):
        return self.call(node)


def part_of_cuda(path: tuple[str, ...], thing):
    """What ``cuda.<path>`` stands for: a type, if ``thing`` is one that the package shows there, else a symbol."""
    return thing if dtype_name(thing) else Symbol("cuda", path, thing)


def python_constant(node: ast.AST):
    """The value that Python itself gives an operator between literals before numba sees it; None for the rest.

    It follows Python's rules, not numba's: ``2 ** -1`` is 0.5 and ``~True`` is -2.
    """
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) in NUMBERS else None
    if not isinstance(node, (ast.BinOp, ast.UnaryOp)) or type(node.op) not in PYTHON:
        return None
    operands = [python_constant(n) for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
    if None in operands or left_to_run_time(node.op, operands):
        return None
    try:
        value = PYTHON[type(node.op)](*operands)
    except (ArithmeticError, TypeError, ValueError):
        return None
    return value if type(value) in NUMBERS else None


def left_to_run_time(op: ast.operator, operands: list) -> bool:
    """Does Python leave this power or shift of integers alone, as its result might have more than 128 bits?"""
    if not isinstance(op, (ast.Pow, ast.LShift)) or not all(isinstance(o, int) for o in operands):
        return False
    base, count = operands
    return count > 0 and base.bit_length() * count > 128 if isinstance(op, ast.Pow) else base.bit_length() + count > 128


def way_to_number(text: str, value: Value) -> str:
    """How to write a number instead of ``text``, which stands for ``value``: the end of a message."""
    if isinstance(value.type, ArrayType) and value.type.ndim:
        return f"; write an element, {text}[{', '.join('ijklmnop'[: value.type.ndim])}]"
    if isinstance(value.type, TupleType) and value.type.items:
        return f"; write an item, such as {text}[0]"
    if isinstance(value.const, Symbol) and value.const.path[:1] in [(name,) for name in COORDINATES]:
        return f"; write cuda.{value.const.path[0]}.x, .y or .z"
    return ""


#: What a kernel cannot hold, by the name of its syntax: what it is called, and what to write instead.
NOT_IN_A_KERNEL = {
    "Lambda": "a lambda; define a function outside with @cuda.jit(device=True)",
    "List": "a list; use a tuple, or cuda.local.array",
    "Set": "a set; use a tuple",
    "Dict": "a dictionary; use variables, tuples and arrays",
    "ListComp": "a list comprehension; write a loop",
    "SetComp": "a set comprehension; write a loop",
    "DictComp": "a dictionary comprehension; write a loop",
    "GeneratorExp": "a generator expression; write a loop",
    "JoinedStr": "a string; compute with numbers",
    "NamedExpr": "the := operator; assign in a statement of its own",
    "Starred": "a * before a value; write the items out",
    "Slice": "a slice; loop over single elements",
    "Await": "await; leave it out",
    "Yield": "yield; write the values to an array",
    "YieldFrom": "yield from; write the values to an array",
}


def describe(node: ast.AST) -> str:
    name = type(node).__name__
    return NOT_IN_A_KERNEL.get(name, f"{name}; write arithmetic, comparisons and calls")
