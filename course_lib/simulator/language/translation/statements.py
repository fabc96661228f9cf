"""Translate a kernel's syntax tree to its typed program.

Each version of a variable has its own type; versions are unified where control flow merges, as in numba. A loop is
translated again until the types at the begin and the end of an iteration agree; a device function is translated once
for each combination of what its arguments are: their types, the reasons for these, and what is known of their values.
"""

import ast
from dataclasses import replace
from functools import reduce

import numpy as np

from ...findings import UnsupportedKernelError
from ...launch_shape import LaunchShape
from ..program.builders import compile_time, reusable, store, temporary
from ..program.nodes import CompileTimeObject, Const, Expr, MakeTuple, Nothing, Temporary
from ..program.statement_nodes import (
    Assign,
    Body,
    Evaluate,
    Function,
    If,
    Mark,
    Return,
    Stmt,
)
from ..source.errors import SmallerItems, UnknownShape, refuse
from ..source.function import Inner, Source
from ..source.names import Symbol
from ..source.tree import names_in
from ..tables import package_gaps
from ..types import typing_rules
from ..types.float64_reasons import Reason, TypedOperand, Why, reason_of_merge, reason_of_operands
from ..types.unification import unify_types
from ..types.value_types import (
    COMPILE_TIME,
    CONFLICT,
    NONE,
    SCALARS,
    ArrayType,
    OptionalType,
    RecordsType,
    TupleType,
    Type,
    TypingError,
    describe_type,
    is_int,
)
from ..types.variables import LiteralNumbers, Variable, Variables, merge_all
from . import allocations, arithmetic, builtin_functions, conditions, records, tuples
from .calls import CUDA, call
from .loops import Loops
from .refusals import refuse_construct
from .translated_expression import Translated
from .translation import ProgramFacts


def literal_values(value: Expr) -> np.generic | LiteralNumbers | None:
    """The literal integer or bool that ``value`` is, or those of a tuple; else None."""
    if isinstance(value, Const):
        is_literal_integer = value.literal and (value.type == "bool" or is_int(str(value.type)))
        return value.value if is_literal_integer else None
    if isinstance(value, MakeTuple):
        items = [literal_values(part) for part in value.items]
        numbers = tuple(item for item in items if isinstance(item, np.generic))
        return LiteralNumbers(numbers) if len(numbers) == len(items) else None
    return None


def object_key(obj: object) -> object:
    """A key for objects that exist only while a kernel is compiled."""
    return tuple(map(object_key, obj)) if isinstance(obj, tuple) else id(obj)


def refuse_mixed(name: str, value: Expr) -> None:
    """Refuse a tuple that mixes values with objects that exist only while the kernel is compiled."""
    if isinstance(value.type, TupleType) and COMPILE_TIME in value.type.items:
        raise TypingError(f"{name} holds a function, a module or a type beside values; give each a name of its own")


def _argument(value: Expr, by_value: bool) -> Variable:
    """Describe an argument of a device function; ``by_value``: include the values of literals."""
    obj = compile_time(value)
    if obj is not None:
        return Variable(COMPILE_TIME, None, obj)
    refuse_mixed("an argument", value)
    return Variable(value.type, value.why, literal_values(value) if by_value else None)


class Statements(Loops):
    """Translates the statements of one function; ``env`` holds its variables at the current statement."""

    def __init__(
        self,
        facts: ProgramFacts,
        source: Source,
        arguments: Variables,
        stack: tuple[object, ...],
        *,
        kernel: bool = False,
        declared: Type | None = None,
    ):
        super().__init__(facts, source, arguments, (*stack, source.key), kernel)
        self.declared = declared

    def translate(self) -> Function:
        function = self.function
        if function.kernel and self.source.rest:
            refuse(self.source.tree, f"the simulator runs no kernel with *{self.source.rest}; name each argument")
        function.body = self.translate_body(self.source.tree.body)
        if not function.kernel:
            function.result, function.result_why, function.partial = self._result(function.body.ends)
        function.constants.store()
        return function

    def device(self, node: ast.Call, source: Source, values: list[Expr], result: Type | None) -> Function:
        """The typed program of the device function called in ``node``, with its declared ``result``.

        As in numba, it is compiled for the values of literal integers if the shapes of its arrays depend on them.
        """
        try:
            return self._device(node, source, values, result, False)
        except UnknownShape:
            if all(literal_values(value) is None for value in values):
                raise
            return self._device(node, source, values, result, True)

    def _device(
        self, node: ast.Call, source: Source, values: list[Expr], result: Type | None, by_value: bool
    ) -> Function:
        """:meth:`device`, for the types of the arguments, or if ``by_value`` for the values of literals, too."""
        facts = self.facts
        variables = [_argument(value, by_value) for value in values]
        types = [(variable.type, variable.why) for variable in variables]
        constants = [
            object_key(variable.const) if isinstance(variable.const, tuple) else variable.const
            for variable in variables
        ]
        key = (source.key, *types, *constants)
        if key not in facts.functions:
            arguments = dict(zip(source.parameters, variables, strict=True))
            in_file_of_kernel = source.filename == facts.sources[0].filename
            if in_file_of_kernel and source.lines and source not in facts.sources:
                facts.sources.append(source)
            try:
                inner = Statements(facts, source, arguments, self.stack, declared=result)
                facts.functions[key] = inner.translate()
            except UnsupportedKernelError as error:
                if error.line is not None and source.filename != self.source.filename:
                    kind = UnknownShape if isinstance(error, UnknownShape) else UnsupportedKernelError
                    raise kind(f"in the device function {source.name}: {error}", node.lineno) from None
                raise
        return facts.functions[key]

    def _result(self, ends: bool) -> tuple[Type, Why, bool]:
        """The type that a device function returns, why it is float64, and whether some paths return nothing."""
        found = [part for part in self.results if part.type != NONE]
        partial = not ends or len(found) < len(self.results)
        or_none = not ends or TypedOperand(NONE, None) in self.results
        if not found:
            return NONE, None, False
        if self.declared is not None:
            return self._declared(found, self.declared), None, partial
        kind = reduce(unify_types, (part.type for part in found))
        if kind in (CONFLICT, COMPILE_TIME):
            returned = " on one path and ".join(map(describe_type, dict.fromkeys(each.type for each in found)))
            refuse(
                self.source.tree,
                f"this device function returns {returned} on another; return one kind of value on every path",
            )
        if or_none and (kind in SCALARS or isinstance(kind, OptionalType)):
            kind, partial = unify_types(kind, NONE), False
        if partial and kind not in SCALARS:
            refuse(
                self.source.tree,
                f"this device function returns {describe_type(kind)} on some paths only; end it with a return",
            )
        merged = reason_of_merge(found[0].type, found[-1].type)
        return kind, reason_of_operands(kind, found, merged), partial

    def _declared(self, found: list[TypedOperand], want: Type) -> Type:
        """The result type ``want`` of the function's signature; refused unless what it returns converts to it."""
        if want == NONE:
            return want
        for part in found:
            if part.type == want:
                continue
            scalar = part.type in SCALARS and want in SCALARS
            if not (scalar and typing_rules.conversion(str(part.type), str(want))):
                refuse(
                    self.source.tree,
                    f"this device function returns {describe_type(part.type)}, and its signature says "
                    f"{describe_type(want)}; correct the signature",
                )
        return want

    def translate_body(self, body: list[ast.stmt]) -> Body:
        """Translate ``body``, up to a statement after which no lane continues."""
        outer, self.out = self.out, []
        ends = any(self.statement(statement) for statement in body)
        translated = Body(id(body), self.out, ends)
        self.out = outer
        return translated

    def statement(self, node: ast.stmt) -> bool:
        """Translate a statement by the method of its kind; return True if no lane reaches its end."""
        self.line = node.lineno
        if not isinstance(node, (ast.Pass, ast.While, ast.For)) and not docstring(node):
            self.out.append(Mark(node.lineno))
        form = getattr(self, f"visit_{type(node).__name__}", None)
        if form is None:
            refuse_construct(node)
        try:
            return bool(form(node))
        except TypingError as error:
            if not self.skips_refused:
                refuse(node, str(error))
        except UnsupportedKernelError:
            if not self.skips_refused:
                raise
        return False

    def visit_Pass(self, node: ast.Pass) -> None:
        pass

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.assign_name(node.name, self.defined(node))

    def visit_Raise(self, node: ast.Raise) -> bool:
        if node.exc is None:
            refuse(node, "a kernel cannot raise again what it did not catch; name the exception")
        self.out += self._end(node)
        return True

    def visit_Expr(self, node: ast.Expr) -> None:
        if docstring(node):
            return
        if isinstance(node.value, (ast.Yield, ast.YieldFrom, ast.Await)):
            self.expr(node.value)  # refused
        if not any(isinstance(part, ast.Call) for part in ast.walk(node)):
            obj = self.constant_object(node.value)
            if callable(obj) or (isinstance(obj, Symbol) and ".".join(obj.path) in CUDA):
                text = ast.unparse(node.value)
                refuse(node, f"{text} is not called; write {text}()")
            refuse(node, "this expression has no effect; assign it to a variable or an array element")
        try:
            if isinstance(node.value, ast.Call):
                value = call(self, node.value, used=False)
            else:
                value = self.expr(node.value)
        except TypingError as error:
            refuse(node, f"{error} (in {ast.unparse(node)})")
        if value.must_be_ordered:
            self.out.append(Evaluate(value))

    def visit_Return(self, node: ast.Return) -> bool:
        value: Expr = Nothing()
        if self.function.kernel:
            returns_none = isinstance(node.value, ast.Constant) and node.value.value is None
            if node.value is not None and not returns_none:
                refuse(node, "a kernel cannot return a value; write it to an array")
        elif node.value is not None:
            value = self.expr(node.value)
            refuse_mixed("the result", value)
            self._check_returned_array(node, node.value, value)
        self.results.append(TypedOperand(value.type, value.why))
        self.out.append(Return(value, node.lineno))
        return True

    def _check_returned_array(self, node: ast.Return, returned: ast.expr, value: Expr) -> None:
        """Refuse an array, unless it is an argument, or the function is written out where it is called."""
        if not isinstance(value.type, ArrayType) or not value.type.ndim:
            return
        in_place = isinstance(self.source, Inner) or self.source.inlined
        is_argument = isinstance(returned, ast.Name) and returned.id in self.source.parameters
        if not in_place and not is_argument:
            refuse(node, "numba returns only an array that is an argument, under its name; take the result as one")

    def visit_Assert(self, node: ast.Assert) -> None:
        test = conditions.negated(conditions.condition(self, node.test), node.lineno)
        failing = Body(id(node), self._end(node), True)
        self.out.append(If(test, failing, Body(id(node.test), []), node.lineno))

    def _end(self, node: ast.Assert | ast.Raise) -> list[Stmt]:
        """End the thread and report it; a device function returns nothing to its caller then."""
        self.results.append(TypedOperand(NONE, Reason("the thread ends")))
        return [Evaluate(builtin_functions.failure(self, node)), Return(Nothing(), node.lineno)]

    def visit_Assign(self, node: ast.Assign) -> None:
        """An assignment to one or more targets; shared and local arrays are made here alone."""
        if (parts := self._allocations(node)) is not None:
            for part in parts:
                self.visit_Assign(part)
            return
        given = self._with_allocation(node)
        value = self.expr(given)
        outcome = conditions.decided(self, given) if _is_one_operator(given) else None
        joined = isinstance(value.type, TupleType)  # which the kernel makes at run time
        if isinstance(given, ast.Name):
            joined = given.id in self.env and self.env[given.id].joined
        if len(node.targets) > 1:
            value = self.snapshot(value)
        for target in node.targets:
            self.assign(target, value, node)
            if isinstance(target, ast.Name):
                self.env[target.id] = replace(self.env[target.id], outcome=outcome, joined=joined)
            elif isinstance(target, (ast.Tuple, ast.List)) and _is_one_tuple(given):
                for name in names_in(target):
                    if name in self.env:
                        self.env[name] = replace(self.env[name], joined=True)

    def _allocations(self, node: ast.Assign) -> list[ast.Assign] | None:
        """``a, b = cuda.shared.array(...), x`` as an assignment for each name; None for all others."""
        target, given = node.targets[0], node.value
        if len(node.targets) > 1 or not isinstance(target, ast.Tuple) or not isinstance(given, ast.Tuple):
            return None
        if not any(allocations.space_of(self, part) for part in ast.walk(given)):
            return None
        if len(target.elts) != len(given.elts) or {*names_in(target)} & {*names_in(given)}:
            return None
        pairs = zip(target.elts, given.elts, strict=True)
        return [ast.copy_location(ast.Assign([name], part), node) for name, part in pairs]

    def _with_allocation(self, node: ast.Assign) -> ast.expr:
        """The value of an assignment, with the array in the place of a call that makes one.

        The call may be followed by a subscript, as in ``cuda.shared.array(0, int32)[1:]``.
        """
        given = node.value
        call = given.value if isinstance(given, ast.Subscript) else given
        array = allocations.allocation(self, node, call)
        if array is None:
            return given
        whole = Translated(array, call)
        if isinstance(given, ast.Subscript):
            return ast.copy_location(ast.Subscript(whole, given.slice, ast.Load()), given)
        return ast.copy_location(whole, given)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))

    def snapshot(self, value: Expr, name: str = "value") -> Expr:
        """Keep the current value of ``value``, even if its variables are assigned before it is used.

        ``name`` is that of the temporary variable in the generated code.
        """
        if isinstance(value, (Const, Nothing, CompileTimeObject)):
            return value
        evaluated = value if isinstance(value, Temporary) else temporary(value, name)
        self.out.append(Evaluate(evaluated))
        return evaluated

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            left = self.expr(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
            self.assign_name(node.target.id, self._augmented(node, left))
            return
        if isinstance(node.target, ast.Subscript):
            array, index = self.element(node.target)
        else:
            array, index = self._field(node.target), ()
        array, index = reusable(array), tuple(map(reusable, index))
        left = self.load(node.target, array, index)
        self.store(node.target, array, index, self._augmented(node, left))

    def _augmented(self, node: ast.AugAssign, left: Expr) -> Expr:
        right = self.expr(node.value)
        if isinstance(node.op, ast.Div):
            package_gaps.check("/=", (str(left.type), str(right.type)))
        return arithmetic.binary(self, node, type(node.op).__name__, (left, node.target), (right, node.value))

    def _field(self, target: ast.expr) -> Expr:
        """The field of a record that is assigned in ``record.field = ...``; refuses other targets."""
        if isinstance(target, ast.Attribute) and self.constant_object(target) is None:
            owner = self.expr(target.value)
            if isinstance(owner.type, RecordsType) and not owner.type.ndim:
                array = records.field(target, owner, target.attr)
                if isinstance(array.type, ArrayType) and array.type.ndim:
                    text = ast.unparse(target)
                    refuse(target, f"{text} is an array; store to its elements, as in {text}[:] = ...")
                return array
        refuse(
            target, f"{ast.unparse(target)} cannot be assigned in a kernel; assign to a variable or to an array element"
        )

    def assign(self, target: ast.expr, value: Expr, node: ast.Assign | ast.For) -> None:
        """Assign ``value`` to one target of ``node``: a name, an element or a part of an array, a tuple, or a field."""
        if isinstance(target, ast.Name):
            self.assign_name(target.id, value)
        elif isinstance(target, ast.Subscript):
            self._assign_subscript(target, value, node)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._assign_items(target, value, node)
        else:
            self.store(target, self._field(target), (), value)

    def _assign_items(self, target: ast.Tuple | ast.List, value: Expr, node: ast.Assign | ast.For) -> None:
        """Assign each item of a tuple; all items are evaluated before."""
        if any(isinstance(each, ast.Starred) for each in target.elts):
            refuse(node, "* cannot collect items in a kernel; name each item")
        if not isinstance(value.type, TupleType) or len(value.type.items) != len(target.elts):
            refuse(
                node,
                f"{ast.unparse(target)} takes {len(target.elts)} values and is given "
                f"{describe_type(value.type)}; write one name for each item of a tuple",
            )
        names = (f"new_{each.id}" if isinstance(each, ast.Name) else "value" for each in target.elts)
        items = [self.snapshot(item, name) for item, name in zip(tuples.items(value), names, strict=True)]
        for element, item in zip(target.elts, items, strict=True):
            self.assign(element, item, node)

    def store(self, node: ast.expr, array: Expr, index: tuple[Expr, ...], value: Expr) -> None:
        self.out.append(Evaluate(store(array, index, self.value_to_store(node, array, value), node.lineno)))

    def _assign_subscript(self, target: ast.Subscript, value: Expr, node: ast.Assign | ast.For) -> None:
        """Store to an element, to all elements of a part of an array, or to the fields of a record."""
        if isinstance(node, ast.Assign):
            value = self.unwrap_optional(node.value, value)
        if not value.is_scalar:
            copies = records.copies(self, target, value)
            if not copies and isinstance(node, ast.Assign) and target in node.targets:
                self.refuse_in_array(target, node.value, value)
            self.out += map(Evaluate, copies)
            if copies:
                return
        array, index = self.target(target)
        if len(index) == array.array_type.ndim:
            self.store(target, array, index, value)
        else:
            if index and not self.function.in_other_file:
                self.facts.filled_parts[target.lineno] = ast.unparse(target)
            self.out.append(Evaluate(self.filled(target, self.view_of(target, array, [*index]), value)))

    def assign_name(self, name: str, value: Expr) -> None:
        obj = compile_time(value)
        if obj is not None:  # another name for cuda.threadIdx, a device function, a type, or a tuple of them
            self.env[name] = Variable(COMPILE_TIME, None, obj)
            return
        refuse_mixed(name, value)
        self.out.append(Assign(name, value, self.line, self.source.regions.get(name)))
        const = value.value if isinstance(value, Const) and value.literal else literal_values(value)
        self.env[name] = Variable(value.type, value.why, const)

    def visit_If(self, node: ast.If) -> bool:
        test, outcome = self.test(node.test)
        if outcome is not None:
            return self.append_taken(test, self.translate_body(node.body if outcome else node.orelse))
        before = dict(self.env)
        branches: list[tuple[Body, Variables]] = []  # each with the variables at its end
        for body in (node.body, node.orelse):
            self.env = dict(before)
            branches.append((self.translate_body(body), self.env))
        live = [(branch, variables) for branch, variables in branches if not branch.ends]
        self.env = reduce(merge_all, (variables for _, variables in live)) if live else before
        for branch, variables in live:
            branch.statements += self.converts(variables, self.env)
        (yes, _), (no, _) = branches
        self.out.append(If(test, yes, no, node.lineno))
        return not live


def _is_one_operator(value: ast.expr) -> bool:
    """Whether numba knows the outcome of a condition on a variable with this value: a name, or one operator."""
    if isinstance(value, ast.Compare):
        return len(value.ops) == 1
    return isinstance(value, (ast.Name, ast.BinOp))


def _is_one_tuple(value: ast.expr) -> bool:
    """Whether Python makes a tuple of the values that are assigned to several names, instead of swapping them."""
    return not isinstance(value, ast.Tuple) or len(value.elts) > 3 or not names_in(value)


def docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def translate_kernel(
    launch: LaunchShape, source: Source, arguments: dict[str, Variable], dynamic: str | None = None
) -> tuple[ProgramFacts, Function]:
    """Translate a kernel and its device functions; return the facts about the program, and the typed program.

    ``dynamic`` is the type of the smallest elements of dynamic shared memory, if it is known.

    Raises UnsupportedKernelError if numba or the simulator does not support something in it.
    """
    facts = ProgramFacts(launch, source)
    facts.dynamic = dynamic
    try:
        program = Statements(facts, source, arguments, (), kernel=True).translate()
        return facts, program
    except SmallerItems as smaller:
        return translate_kernel(launch, source, arguments, smaller.dtype)
    except UnknownShape as error:  # only the caller of a device function can handle it
        raise UnsupportedKernelError(error.text, error.line) from None
