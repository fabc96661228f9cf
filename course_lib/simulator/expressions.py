"""Expressions: each becomes Python code over lane vectors, with its numba type.

Whatever has an effect (a load, a call, an atomic) is emitted as a statement of its own, in order and under the
mask of the lanes that evaluate it; what is left as an expression is pure arithmetic.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from types import ModuleType

import numpy as np

from . import runtime, typing_rules
from .frontend import cuda_name, is_cuda_module
from .intrinsics import Intrinsics
from .values import COMPILE_TIME, CONFLICT, NONE, ArrayType, Promotion, Symbol, TupleType, Value, unify_types

OPERATORS = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%",
             "BitAnd": "&", "BitOr": "|", "BitXor": "^", "LShift": "<<", "RShift": ">>"}
COMPARISONS = {"Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Eq": "==", "NotEq": "!="}


class Expressions(Intrinsics):
    """The expression half of :class:`compiler.Function`."""

    def expr(self, node: ast.AST) -> Value:
        handler = getattr(self, f"on_{type(node).__name__}", None)
        if handler is None:
            self.refuse(node, f"the simulator does not run {describe(node)} in a kernel")
        try:
            return handler(node)
        except typing_rules.TypingError as error:
            self.refuse(node, f"{error} (in {ast.unparse(node)})")

    def scalar(self, node: ast.AST) -> Value:
        value = self.expr(node)
        if not value.is_scalar:
            self.refuse(node, f"{ast.unparse(node)} is {describe_type(value.type)}, where a number is needed")
        return value

    # --- constants and names -------------------------------------------------------------------------------

    def number(self, value, literal: bool = True, origin: str | None = None) -> Value:
        kind = typing_rules.of_value(value)
        if kind is None:
            raise typing_rules.TypingError(f"{value!r} does not fit in 64 bits")
        value = typing_rules.DTYPE[kind].type(value)
        return Value(self.unit.constant(value), kind, value, literal, origin)

    def on_Constant(self, node):
        if node.value is None:
            return Value("None", NONE)
        if isinstance(node.value, (str, bytes)) or node.value is Ellipsis or isinstance(node.value, complex):
            self.refuse(node, f"{node.value!r} is not a number; the simulator runs integers, floats and bools")
        origin = f"the literal {ast.unparse(node)}" if isinstance(node.value, float) else None
        return self.number(node.value, origin=origin)

    def on_Name(self, node):
        name = node.id
        if name in self.locals:
            variable = self.env.get(name)
            if variable is None:
                self.refuse(node, f"the variable {name!r} has no value yet; assign it first")
            if variable.type == CONFLICT:
                self.refuse(node, f"{name!r} has values of types that do not unify; use two names")
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
                return None
            try:
                thing = self.source.lookup(node.id)
            except KeyError:
                self.refuse(node, f"the name {node.id!r} is not defined")
            except ValueError:
                self.refuse(node, f"the name {node.id!r} has no value yet in the enclosing function")
            if is_cuda_module(thing):
                return Symbol("cuda")
            known = cuda_name(thing) if not isinstance(thing, (ModuleType, int, float)) else None
            return Symbol("cuda", (known,)) if known else thing
        if isinstance(node, ast.Attribute):
            owner = self.constant_object(node.value)
            if owner is None:
                return None
            if isinstance(owner, Symbol):
                return Symbol(owner.root, (*owner.path, node.attr))
            if isinstance(owner, ModuleType):
                if not hasattr(owner, node.attr):
                    self.refuse(node, f"{ast.unparse(node.value)} has no {node.attr!r}")
                thing = getattr(owner, node.attr)
                return Symbol("cuda") if is_cuda_module(thing) else thing
            return getattr(owner, node.attr, None)
        return None

    def wrap(self, thing, node) -> Value:
        """A compile-time object as a value: numbers become constants, the rest stays at compile time."""
        if isinstance(thing, (bool, int, float, np.generic)) and typing_rules.of_value(thing):
            origin = f"{ast.unparse(node)}, a Python float" if type(thing) is float else None
            return self.number(thing, literal=True, origin=origin)
        if isinstance(thing, tuple) and thing and all(typing_rules.of_value(t) for t in thing):
            items = tuple(self.number(t) for t in thing)
            return self.tuple_of(items)
        if isinstance(thing, Symbol):
            value = self.cuda_value(thing)
            if value is not None:
                return value
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
            self.refuse(node, f"the simulator does not run .{node.attr} of an array in a kernel; "
                              "it knows shape, size, ndim and dtype, and elements such as A[i, j]")
        if owner.type == COMPILE_TIME and isinstance(owner.const, np.dtype) and node.attr == "type":
            return owner
        self.refuse(node, f"{ast.unparse(node.value)} has no {node.attr!r} in a kernel")

    # --- tuples ----------------------------------------------------------------------------------------------

    def tuple_of(self, items: tuple[Value, ...]) -> Value:
        code = f"({', '.join(i.code for i in items)},)"
        return Value(code, TupleType(tuple(i.type for i in items)), items=items)

    def on_Tuple(self, node):
        if any(isinstance(e, ast.Starred) for e in node.elts):
            self.refuse(node, "* cannot unpack in a kernel; write the items out")
        return self.tuple_of(tuple(self.expr(e) for e in node.elts))

    def item(self, value: Value, i: int) -> Value:
        if value.items:
            return value.items[i]
        return Value(f"{value.code}[{i}]", value.type.items[i])

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
            return "(" + "".join(self.converted(self.item(value, i), k) + ", "
                                 for i, k in enumerate(kind.items)) + ")"
        if value.is_const:
            with np.errstate(all="ignore"):
                return self.unit.constant(value.const.astype(kind))
        return f"cast({value.code}, {self.unit.dtype(kind)})"

    def truth(self, value: Value) -> Value:
        if value.type == "bool":
            return value
        if not value.is_scalar:
            raise typing_rules.TypingError(f"{describe_type(value.type)} is not a condition")
        if value.is_const:
            return replace(self.number(bool(value.const)), literal=value.literal)
        zero = self.unit.constant(typing_rules.DTYPE[value.type].type(0))
        return Value(f"({value.code} != {zero})", "bool")

    def folded(self, code: str, kind: str, operands, origin=None) -> Value:
        """``code``, worked out now if all operands are constants."""
        if all(o.is_const for o in operands):
            scope = {name: getattr(runtime, name) for name in ("cast", "power", "np")} | self.unit.constants
            with np.errstate(all="ignore"):
                value = typing_rules.DTYPE[kind].type(eval(code, scope))
            return Value(self.unit.constant(value), kind, value, all(o.literal for o in operands), origin)
        return Value(code, kind, origin=origin)

    # --- operators -------------------------------------------------------------------------------------------

    def on_BinOp(self, node):
        left, right = self.scalar(node.left), self.scalar(node.right)
        return self.binary(node, type(node.op).__name__, left, right, node.left, node.right)

    def binary(self, node, op: str, left: Value, right: Value, left_node, right_node) -> Value:
        for value, part in ((left, left_node), (right, right_node)):
            if not value.is_scalar:
                self.refuse(node, f"{ast.unparse(part)} is {describe_type(value.type)}, not a number")
        if op == "Pow" and right.literal and typing_rules.is_int(right.type):
            result = left.type if typing_rules.is_float(left.type) else "int64"
            a = b = result
        else:
            result, a, b = typing_rules.binary(op, left.type, right.type)
        origin = self.promotion(node, result, left, right, left_node, right_node)
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
        return self.folded(f"({x} {OPERATORS[op]} {y})", result, (left, right), origin)

    def promotion(self, node, result, left, right, left_node, right_node) -> str | None:
        """Record float64 arithmetic that nobody asked for; return why the result is float64, if so."""
        if result != "float64":
            return None
        kinds = (left.type, right.type)
        if "float32" in kinds:
            other, part = (right, right_node) if left.type == "float32" else (left, left_node)
            if other.type == "float64" and other.origin is None:
                return None
            text = ast.unparse(part)
            if other.type == "float64":
                reason = other.origin if other.origin.endswith(text) else f"{text} is float64: {other.origin}"
            else:
                reason = f"{text} is {other.type}, and float32 with {other.type} gives float64"
            expression = ast.unparse(node)
            self.unit.promotions.setdefault((node.lineno, text), Promotion(node.lineno, reason, expression))
            return reason
        if "float64" in kinds:
            asked = [v for v in (left, right) if v.type == "float64"]
            if not all(v.origin for v in asked):
                return None
            known = self.unit.suspected.get((node.lineno, ast.unparse(node)))
            if known is not None:
                self.unit.promotions.setdefault((known.line, known.operand), known)
            return asked[0].origin
        return f"{ast.unparse(node)}, a quotient of integers"

    def on_UnaryOp(self, node):
        value = self.scalar(node.operand)
        op = type(node.op).__name__
        if op == "Not":
            value = self.truth(value)
            return self.folded(f"(~{value.code})", "bool", (value,))
        result, working = typing_rules.unary(op, value.type)
        code = self.converted(value, working)
        code = {"USub": f"(-{code})", "UAdd": code, "Invert": f"(~{code})"}[op]
        if working != result:
            code = f"cast({code}, {self.unit.dtype(result)})"
        return self.folded(code, result, (value,), value.origin)

    def on_Compare(self, node):
        left = self.scalar(node.left)
        result = None
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            name = type(op).__name__
            if name not in COMPARISONS:
                self.refuse(node, f"the simulator does not run {describe(op)}; compare numbers with < <= > >= == !=")
            if len(node.ops) > 1:
                left = self.saved(left)
            right = self.scalar(right_node)
            if len(node.ops) > 1:
                right = self.saved(right)
            kind = typing_rules.comparison(left.type, right.type)
            x, y = left, right
            if "uint64" in (left.type, right.type) and kind == "float64":
                x, y = (Value(self.converted(v, kind), kind) for v in (left, right))
            part = self.folded(f"({x.code} {COMPARISONS[name]} {y.code})", "bool", (left, right))
            result = part if result is None else Value(f"both({result.code}, {part.code})", "bool")
            left = right
        return result

    def on_BoolOp(self, node):
        conjunction = isinstance(node.op, ast.And)
        combine = "both" if conjunction else "either"
        left = self.scalar(node.values[0])
        for right_node in node.values[1:]:
            if left.type != "bool":
                self.refuse(node, f"{ast.unparse(node)} mixes numbers and conditions; compare them, as in x != 0")
            outer, before = self.lines, self.mask
            self.lines, self.mask = [], self.fresh("m")
            self.indent += 1
            right = self.scalar(right_node)
            if right.type != "bool":
                self.refuse(right_node, f"{ast.unparse(right_node)} is a number, not a condition; compare it, "
                                        "as in x != 0")
            lines, mask = self.lines, self.mask
            self.lines, self.mask = outer, before
            self.indent -= 1
            if not lines:
                if left.is_const and right.is_const:
                    yes = left.const and right.const if conjunction else left.const or right.const
                    left = replace(self.number(bool(yes)), literal=left.literal and right.literal)
                else:
                    left = Value(f"{combine}({left.code}, {right.code})", "bool")
                continue
            result = self.fresh("t")
            self.emit(f"{result} = {left.code}")
            self.emit(f"{mask}, {mask}_ = split({before}, {result})" if conjunction else
                      f"{mask}_, {mask} = split({before}, {result})")
            self.emit(f"if {mask} is not False:")
            self.lines += lines
            self.emit(f"    {result} = {combine}({result}, {right.code})")
            left = Value(result, "bool")
        return left

    def on_IfExp(self, node):
        condition = self.saved(self.truth(self.scalar(node.test)))
        before, yes, no = self.mask, self.fresh("m"), self.fresh("m")
        parts = []
        for mask, part in ((yes, node.body), (no, node.orelse)):
            outer, self.lines = self.lines, []
            self.mask = mask
            self.indent += 1
            parts.append((self.expr(part), self.lines))
            self.indent -= 1
            self.lines = outer
        self.mask = before
        (a, a_lines), (b, b_lines) = parts
        kind = unify_types(a.type, b.type)
        if kind == CONFLICT or kind == COMPILE_TIME:
            self.refuse(node, f"the two sides are {describe_type(a.type)} and {describe_type(b.type)}")
        origin = None
        if kind == "float64":
            asked = [v for v in (a, b) if v.type == "float64"]
            if all(v.origin for v in asked):
                origin = asked[0].origin if asked else f"an {a.type} and a {b.type} that meet"
        if not (a_lines or b_lines) and a.is_scalar:
            return Value(f"pick({condition.code}, {self.converted(a, kind)}, {self.converted(b, kind)})", kind,
                         origin=origin)
        result = self.fresh("t")
        self.emit(f"{result} = None")
        self.emit(f"{yes}, {no} = split({before}, {condition.code})")
        for mask, value, lines in ((yes, a, a_lines), (no, b, b_lines)):
            self.emit(f"if {mask} is not False:")
            self.lines += lines
            choose, line = ("blend", "") if value.is_scalar else ("choose", f", {node.lineno}")
            self.indent += 1
            self.emit(f"{result} = {choose}({mask}, {self.converted(value, kind)}, {result}{line})")
            self.indent -= 1
        return Value(result, kind, origin=origin)

    # --- elements --------------------------------------------------------------------------------------------

    def element(self, node: ast.Subscript):
        """(array, indices) of a subscript; ``A[i][j]`` counts as ``A[i, j]``."""
        chain, base = [], node
        while isinstance(base, ast.Subscript):
            parts = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
            chain.insert(0, parts)
            base = base.value
        array = self.expr(base)
        if not isinstance(array.type, ArrayType):
            self.refuse(node, f"{ast.unparse(base)} is {describe_type(array.type)}, which has no elements to assign")
        parts = [p for part in chain for p in part]
        if any(isinstance(p, (ast.Slice, ast.Starred)) or isinstance(p, ast.Constant) and p.value is Ellipsis
               for p in parts):
            self.refuse(node, "the simulator does not run slices; write a loop over single elements")
        if len(parts) == 1:
            value = self.expr(parts[0])
            if isinstance(value.type, TupleType):
                value = self.saved(value) if not value.items else value
                indices = tuple(self.item(value, i) for i in range(len(value.type.items)))
            else:
                indices = (value,)
        else:
            indices = tuple(self.expr(p) for p in parts)
        if len(indices) != array.type.ndim:
            self.refuse(node, f"{ast.unparse(base)} has {array.type.ndim} dimensions and is indexed with "
                              f"{len(indices)}; give one index for each dimension")
        for index, part in zip(indices, parts if len(parts) == len(indices) else [node] * len(indices), strict=True):
            if not (index.is_scalar and typing_rules.is_int(index.type)):
                self.refuse(node, f"the index {ast.unparse(part)} is {describe_type(index.type)}; "
                                  "an index must be an integer")
        return array, indices

    def on_Subscript(self, node):
        base = node.value
        if not isinstance(base, ast.Subscript) or self.is_tuple(base):
            owner = self.expr(base) if self.is_tuple(base) else None
            if owner is not None:
                index = self.expr(node.slice)
                if not index.is_const or not typing_rules.is_int(index.type):
                    self.refuse(node, "a tuple is indexed with a literal number")
                count, i = len(owner.type.items), int(index.const)
                if not -count <= i < count:
                    self.refuse(node, f"{ast.unparse(base)} has {count} items")
                return self.item(owner, i % count)
        array, indices = self.element(node)
        return self.load(node, array, indices)

    def is_tuple(self, node) -> bool:
        """Is this expression a tuple? Looks without generating code."""
        if isinstance(node, ast.Attribute) and node.attr == "shape":
            return True
        if isinstance(node, ast.Tuple):
            return True
        if isinstance(node, ast.Call):
            return True
        if isinstance(node, ast.Name):
            if node.id in self.locals:
                variable = self.env.get(node.id)
                return variable is not None and isinstance(variable.type, TupleType)
            return isinstance(self.constant_object(node), tuple)
        return isinstance(node, ast.Attribute) and isinstance(self.constant_object(node), tuple)

    def index_code(self, indices) -> str:
        return f"({', '.join(i.code for i in indices)},)"

    def load(self, node, array: Value, indices) -> Value:
        site = self.unit.site(node.lineno, "load")
        result = self.fresh("t")
        self.emit(f"{result} = {site}.load({array.code}, {self.index_code(indices)}, {self.mask})")
        return Value(result, array.type.dtype)

    def store(self, node, array: Value, indices, value: Value):
        if not value.is_scalar:
            self.refuse(node, f"{describe_type(value.type)} cannot be stored in an array element")
        self.note_write(array)
        site = self.unit.site(node.lineno, "store")
        self.emit(f"{site}.store({array.code}, {self.index_code(indices)}, {value.code}, {self.mask})")

    def note_write(self, array: Value):
        """Remember which arguments are written: races are looked for only there."""
        names = [p for p in self.parameters if array.code == self.mangle(p, array.type)]
        self.unit.written.update(names)
        if not self.kernel:
            self.unit.writes_unknown = True

    def on_Call(self, node):
        return self.call(node)


def describe(node: ast.AST) -> str:
    names = {"Lambda": "lambda", "ListComp": "list comprehensions", "Dict": "dictionaries", "List": "lists",
             "Set": "sets", "JoinedStr": "f-strings", "NamedExpr": "the := operator", "Starred": "*",
             "GeneratorExp": "generator expressions", "DictComp": "dictionary comprehensions", "In": "in",
             "NotIn": "not in", "Is": "is", "IsNot": "is not", "Slice": "slices", "Await": "await", "Yield": "yield",
             "SetComp": "set comprehensions", "YieldFrom": "yield from"}
    return names.get(type(node).__name__, type(node).__name__)


def describe_type(kind) -> str:
    if kind == COMPILE_TIME:
        return "not a value of the kernel"
    if kind == NONE:
        return "None"
    return str(kind)
