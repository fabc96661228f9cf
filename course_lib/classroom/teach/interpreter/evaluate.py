"""Evaluation of a checked tree: what each kind of node does, a row each in `EXPRESSIONS` and `STATEMENTS`."""

import ast
import inspect
import string
import types
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from . import attributes
from .budget import DEEPEST, StepBudget
from .functions import FUNCTIONS, MODULES, TAKES_FUNCTION, imported
from .operators import BINARY, COMPARISONS, IN_PLACE, UNARY, pay_arrays, pay_binary, pay_format
from .scopes import Scope, assigned_in, names_in

_CONVERSIONS: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}
#: How a statement ends that is followed by the next one, or leaves a loop.
_BREAK, _CONTINUE = object(), object()


@dataclass(frozen=True)
class _Returned:
    value: Any


@dataclass(eq=False, repr=False)
class Closure:
    """A function or lambda of an answer: its tree, the scope in which it was defined, and its parameters."""

    name: str
    body: Sequence[ast.stmt] | ast.expr
    scope: Scope
    signature: inspect.Signature
    own: Set[str]

    def __repr__(self) -> str:
        return f"<function {self.name}>"


@dataclass(frozen=True, eq=False, repr=False)
class Method:
    """A method of a value, with what a call pays."""

    owner: Any
    name: str
    cost: Any

    def __repr__(self) -> str:
        return f"<method {self.name}>"


class _Format(string.Formatter):
    """``str.format`` without attributes and items of what is shown."""

    def __init__(self, evaluation: "Evaluation") -> None:
        self.evaluation = evaluation

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if "." in field_name or "[" in field_name:
            raise self.evaluation.budget.unlisted("a format with attributes")
        return super().get_field(field_name, args, kwargs)

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return self.evaluation.converted(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> str:
        return self.evaluation.formatted(value, format_spec)


class Evaluation:
    """One call of a program: its budget, and what each kind of node does in it."""

    def __init__(self) -> None:
        self.budget = StepBudget()
        self.depth = 0
        self.handled: list[Exception] = []
        self.scope = Scope(frozenset())

    # ---- expressions -----------------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression."""
        self.budget.line = node.lineno
        self.budget.pay(1)
        return EXPRESSIONS[type(node)](self, node)

    def constant(self, node: ast.Constant) -> Any:
        return node.value

    def name(self, node: ast.Name) -> Any:
        return self.scope.find(node.id)

    def list_(self, node: ast.List) -> Any:
        return self._items(node.elts)

    def tuple_(self, node: ast.Tuple) -> Any:
        return tuple(self._items(node.elts))

    def set_(self, node: ast.Set) -> Any:
        items = self._items(node.elts)
        self.budget.read(items)
        return set(items)

    def dict_(self, node: ast.Dict) -> Any:
        found: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                other = self.value(value)
                self.budget.read(other)
                found.update(other)
            else:
                self._store(found, self.value(key), self.value(value))
        return found

    def binary(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        return self._operated(node, BINARY[type(node.op)], left, right)

    def unary(self, node: ast.UnaryOp) -> Any:
        operand = self.value(node.operand)
        pay_arrays(self.budget, False, operand)
        return self.checked(UNARY[type(node.op)](operand))

    def both_or_either(self, node: ast.BoolOp) -> Any:
        for each in node.values[:-1]:
            value = self.value(each)
            if bool(value) is isinstance(node.op, ast.Or):
                return value
        return self.value(node.values[-1])

    def comparison(self, node: ast.Compare) -> Any:
        left = self.value(node.left)
        for operation, each in zip(node.ops[:-1], node.comparators[:-1], strict=True):
            right = self.value(each)
            if not (result := self._compared(operation, left, right)):
                return result
            left = right
        return self._compared(node.ops[-1], left, self.value(node.comparators[-1]))

    def conditional(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def attribute(self, node: ast.Attribute) -> Any:
        owner = self.value(node.value)
        self.budget.line = node.lineno
        if isinstance(owner, types.ModuleType):
            return MODULES[owner][node.attr] if node.attr in MODULES[owner] else self._no_attribute(owner, node.attr)
        known, cost = attributes.row(owner, node.attr)
        if not known:
            return self._no_attribute(owner, node.attr)
        if cost is attributes.VALUE:
            return self.checked(owner.ravel() if node.attr == "flat" else getattr(owner, node.attr))
        getattr(owner, node.attr)  # raises AttributeError where this NumPy has it no more
        return Method(owner, node.attr, cost)

    def item(self, node: ast.Subscript) -> Any:
        owner, index = self.value(node.value), self.value(node.slice)
        self.budget.line = node.lineno
        return self._item(owner, index)

    def _item(self, owner: Any, index: Any) -> Any:
        if isinstance(owner, np.ndarray | np.generic):
            self._pay_index(np.size(owner), index)
        elif isinstance(index, slice) and isinstance(owner, str | list | tuple):
            self.budget.room(len(range(len(owner))[index]))
        elif isinstance(owner, dict):
            self.budget.read(index)
        elif not isinstance(owner, str | list | tuple | range):  # such as list[int]
            raise TypeError(f"{type(owner).__name__!r} object is not subscriptable")
        return self.checked(owner[index])

    def slice_(self, node: ast.Slice) -> Any:
        return slice(*(None if part is None else self.value(part) for part in (node.lower, node.upper, node.step)))

    def assigned(self, node: ast.NamedExpr) -> Any:
        value = self.value(node.value)
        self._bind(node.target, value)
        return value

    def function(self, node: ast.Lambda | ast.FunctionDef) -> Closure:
        parameters = self._parameters(node.args)
        body = node.body if isinstance(node.body, list) else [node.body]
        own = {each.name for each in parameters} | assigned_in(body)
        return Closure(getattr(node, "name", "<lambda>"), node.body, self.scope, inspect.Signature(parameters), own)

    def _parameters(self, declared: ast.arguments) -> list[inspect.Parameter]:
        """Return the parameters of a function, whose default values are evaluated now, the positional ones first."""
        positional, missing = [*declared.posonlyargs, *declared.args], inspect.Parameter.empty
        values = [self.value(each) for each in declared.defaults]  # of the last ones
        defaults = [missing] * (len(positional) - len(values)) + values
        named_defaults = [missing if each is None else self.value(each) for each in declared.kw_defaults]
        found = [
            inspect.Parameter(each.arg, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)
            for each, default in zip(positional, defaults, strict=True)
        ]
        if declared.vararg:
            found.append(inspect.Parameter(declared.vararg.arg, inspect.Parameter.VAR_POSITIONAL))
        found += [
            inspect.Parameter(each.arg, inspect.Parameter.KEYWORD_ONLY, default=default)
            for each, default in zip(declared.kwonlyargs, named_defaults, strict=True)
        ]
        if declared.kwarg:
            found.append(inspect.Parameter(declared.kwarg.arg, inspect.Parameter.VAR_KEYWORD))
        return found

    def list_of(self, node: ast.ListComp) -> Any:
        return list(self._generated(node.generators, lambda: self.value(node.elt)))

    def set_of(self, node: ast.SetComp) -> Any:
        def item() -> Any:
            value = self.value(node.elt)
            self.budget.read(value)
            return value

        return set(self._generated(node.generators, item))

    def dict_of(self, node: ast.DictComp) -> Any:
        def pair() -> tuple[Any, Any]:
            key = self.value(node.key)
            self.budget.read(key)
            return key, self.value(node.value)

        return dict(self._generated(node.generators, pair))

    def generator(self, node: ast.GeneratorExp) -> Any:
        return self._generated(node.generators, lambda: self.value(node.elt))

    def text(self, node: ast.JoinedStr) -> Any:
        return "".join(str(self.value(part)) for part in node.values)

    def formatted_value(self, node: ast.FormattedValue) -> Any:
        value = self.converted(self.value(node.value), chr(node.conversion) if node.conversion > 0 else None)
        return self.formatted(value, "" if node.format_spec is None else self.value(node.format_spec))

    def call(self, node: ast.Call) -> Any:
        called = self.value(node.func)
        given = tuple(self._items(node.args))
        named: dict[str, Any] = {}
        for word in node.keywords:
            value = self.value(word.value)
            if word.arg is None:
                self.budget.read(value)
            named |= value if word.arg is None else {word.arg: value}
        self.budget.line = node.lineno
        return self.called(called, given, named)

    # ---- calls -----------------------------------------------------------------------------------------------------

    def called(self, function: Any, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """Return the result of a call; raise TypeError for what cannot be called."""
        if isinstance(function, Closure):
            return self._called_own(function, given, named)
        if isinstance(function, Method):
            return self._called_known(
                getattr(type(function.owner), function.name), function.cost, (function.owner, *given), named
            )
        try:
            cost = FUNCTIONS.get(function)
        except TypeError:  # a list, which has no hash
            cost = None
        if cost is not None:
            return self._called_known(function, cost, given, named)
        if callable(function):
            raise self.budget.unlisted(f"a call of {getattr(function, '__name__', 'this')}")
        raise TypeError(f"{type(function).__name__!r} object is not callable")

    def _called_own(self, function: Closure, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """Return the result of a call of a function of the answer, evaluated in a scope of its own."""
        bound = function.signature.bind(*given, **named)
        bound.apply_defaults()
        if self.depth >= DEEPEST:
            raise RecursionError("maximum recursion depth exceeded")
        outside, self.scope = self.scope, Scope(function.own, function.scope, dict(bound.arguments))
        self.depth += 1
        try:
            if isinstance(function.body, ast.expr):
                return self.value(function.body)
            signal = self.run(function.body)
            return signal.value if isinstance(signal, _Returned) else None
        finally:
            self.depth -= 1
            self.scope = outside

    def _called_known(self, function: Any, cost: Any, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if function in WRITTEN_OUT:
            return self.checked(WRITTEN_OUT[function](self, *given, **named))
        if function in TAKES_FUNCTION:
            given = tuple(map(self._callable, given))
            named = {name: self._callable(value) for name, value in named.items()}
        cost(self.budget, given, named)
        return self.checked(function(*given, **named))

    def _callable(self, value: Any) -> Any:
        """Return a function of the answer as one that Python calls."""
        is_function = isinstance(value, Closure | Method) or (callable(value) and value in FUNCTIONS)
        return partial(self._called_back, value) if is_function else value

    def _called_back(self, function: Any, *given: Any) -> Any:
        return self.called(function, given, {})

    def checked(self, value: Any) -> Any:
        """Return a result, an iterator so that it counts its items; raise Unlisted for a kind that no table has."""
        if isinstance(value, int):
            self.budget.bits(int(value).bit_length())
        elif isinstance(value, np.ndarray | np.generic):
            if value.dtype.kind not in "biufc":
                raise self.budget.unlisted("an array of anything but numbers")
        elif isinstance(value, Iterator) and not isinstance(value, Generator):
            return self.budget.counted(value)
        elif type(value) not in _VALUES and not isinstance(value, Exception):
            raise self.budget.unlisted(f"a {type(value).__name__}")
        return value

    def each(self, items: Any) -> Iterator[Any]:
        """Yield the items of a value, each for a step; raise TypeError as Python does if it has none."""
        return self.budget.counted(iter(items))

    def converted(self, value: Any, conversion: str | None) -> Any:
        """Return a value after the ``!r`` of a format."""
        self.budget.read(value)
        return value if conversion is None else _CONVERSIONS[conversion](value)

    def formatted(self, value: Any, specification: str) -> str:
        """Return a value's text in a format."""
        pay_format(self.budget, specification)
        self.budget.read(value)
        return format(value, specification)

    # ---- statements ------------------------------------------------------------------------------------------------

    def run(self, body: Sequence[ast.stmt]) -> Any:
        """Execute statements; return None after the last, or how one of them leaves the others."""
        for statement in body:
            self.budget.line = statement.lineno
            self.budget.pay(1)
            if (signal := STATEMENTS[type(statement)](self, statement)) is not None:
                return signal
        return None

    def expression(self, node: ast.Expr) -> None:
        self.value(node.value)

    def nothing(self, node: ast.stmt) -> None:
        pass

    def definition(self, node: ast.FunctionDef) -> None:
        self.scope.holder(node.name).values[node.name] = self.function(node)

    def importing(self, node: ast.Import | ast.ImportFrom) -> None:
        for name, thing in imported(node):
            self.scope.holder(name).values[name] = thing

    def returning(self, node: ast.Return) -> Any:
        return _Returned(None if node.value is None else self.value(node.value))

    def assignment(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self._bind(target, value)

    def annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._bind(node.target, self.value(node.value))

    def augmented(self, node: ast.AugAssign) -> None:
        operation = IN_PLACE[type(node.op)]
        if isinstance(node.target, ast.Subscript):
            owner, index = self.value(node.target.value), self.value(node.target.slice)
            before = self._item(owner, index)
            self._store(owner, index, self._operated(node, operation, before, self.value(node.value)))
        else:
            assert isinstance(node.target, ast.Name)
            before = self.scope.find(node.target.id)
            self._bind(node.target, self._operated(node, operation, before, self.value(node.value)))

    def deletion(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                owner, index = self.value(target.value), self.value(target.slice)
                if isinstance(owner, np.ndarray):
                    raise ValueError("cannot delete array elements")
                if not isinstance(owner, list | dict):
                    raise TypeError(f"{type(owner).__name__!r} object does not support item deletion")
                self.budget.read(owner, index)
                del owner[index]
            else:
                assert isinstance(target, ast.Name)
                self.scope.find(target.id)
                self.scope.holder(target.id).values.pop(target.id, None)

    def branch(self, node: ast.If) -> Any:
        return self.run(node.body if self.value(node.test) else node.orelse)

    def loop(self, node: ast.For) -> Any:
        for item in self.each(self.value(node.iter)):
            self._bind(node.target, item)
            signal = self.run(node.body)
            if signal is _BREAK:
                return None
            if isinstance(signal, _Returned):
                return signal
            self.budget.line = node.lineno
        return self.run(node.orelse)

    def repetition(self, node: ast.While) -> Any:
        while self.value(node.test):
            signal = self.run(node.body)
            if signal is _BREAK:
                return None
            if isinstance(signal, _Returned):
                return signal
        return self.run(node.orelse)

    def break_(self, node: ast.Break) -> Any:
        return _BREAK

    def continue_(self, node: ast.Continue) -> Any:
        return _CONTINUE

    def assertion(self, node: ast.Assert) -> None:
        if not self.value(node.test):
            raise AssertionError(*([] if node.msg is None else [self.value(node.msg)]))

    def raising(self, node: ast.Raise) -> None:
        if node.exc is None:
            raise self.handled[-1] if self.handled else RuntimeError("No active exception to reraise")
        error = self.value(node.exc)
        if isinstance(error, type) and issubclass(error, Exception):
            error = error()
        raise error if isinstance(error, Exception) else TypeError("exceptions must derive from BaseException")

    def attempt(self, node: ast.Try) -> Any:
        """``try``: Endless and Unlisted are no Exception, and pass all its parts."""
        signal, raised = self._guarded(partial(self.run, node.body))
        if raised is not None:
            signal, raised = self._guarded(partial(self._handled, node.handlers, raised))
        elif signal is None:
            signal, raised = self._guarded(partial(self.run, node.orelse))
        if (last := self.run(node.finalbody)) is not None:
            return last
        if raised is not None:
            raise raised
        return signal

    def _guarded(self, do: Callable[[], Any]) -> tuple[Any, Exception | None]:
        """Return how statements end, and what they raise; Python would chain what is raised in an ``except`` to it."""
        try:
            return do(), None
        except Exception as error:
            return None, error.with_traceback(None)

    def _handled(self, handlers: Sequence[ast.ExceptHandler], error: Exception) -> Any:
        """Execute the first ``except`` that takes an error, which is raised again if none does."""
        for handler in handlers:
            if isinstance(error, Exception if handler.type is None else self.value(handler.type)):
                break
        else:
            raise error
        holder = self.scope.holder(handler.name or "")
        if handler.name:
            holder.values[handler.name] = error
        self.handled.append(error)
        try:
            return self.run(handler.body)
        finally:
            self.handled.pop()
            holder.values.pop(handler.name or "", None)

    # ---- parts -----------------------------------------------------------------------------------------------------

    def _items(self, nodes: Iterable[ast.expr]) -> list[Any]:
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found += self.each(self.value(node.value))
            else:
                found.append(self.value(node))
        return found

    def _generated(self, parts: Sequence[ast.comprehension], item: Callable[[], Any]) -> Iterator[Any]:
        """Yield the items of a comprehension, in a scope of its own; its first iterable is evaluated at once."""
        first = self.each(self.value(parts[0].iter))
        inner = Scope({name for part in parts for name in names_in(part.target)}, self.scope)
        return self._loops(inner, parts, first, item)

    def _loops(
        self, inner: Scope, parts: Sequence[ast.comprehension], items: Iterator[Any], item: Callable[[], Any]
    ) -> Iterator[Any]:
        """Yield the items of the loops of a comprehension, the first of which goes through ``items``."""
        part, *rest = parts
        for each in items:
            outside, self.scope = self.scope, inner
            try:
                self._bind(part.target, each)
                if not all([self.value(test) for test in part.ifs]):
                    continue
                value = self.each(self.value(rest[0].iter)) if rest else item()
            finally:
                self.scope = outside
            if rest:
                yield from self._loops(inner, rest, value, item)
            else:
                yield value

    def _bind(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.scope.holder(target.id).values[target.id] = value
        elif isinstance(target, ast.Subscript):
            self._store(self.value(target.value), self.value(target.slice), value)
        elif isinstance(target, ast.Starred):
            self._bind(target.value, list(value))
        else:
            assert isinstance(target, ast.Tuple | ast.List)
            self._unpack(target.elts, value)

    def _unpack(self, targets: Sequence[ast.expr], value: Any) -> None:
        items = list(self.each(value))
        starred = [n for n, target in enumerate(targets) if isinstance(target, ast.Starred)]
        if starred:
            before, after = starred[0], len(targets) - starred[0] - 1
            if len(items) < before + after:
                raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(items)})")
            items[before : len(items) - after] = [items[before : len(items) - after]]
        if len(items) != len(targets):
            few = "too many" if len(items) > len(targets) else "not enough"
            raise ValueError(f"{few} values to unpack (expected {len(targets)}, got {len(items)})")
        for target, item in zip(targets, items, strict=True):
            self._bind(target, item)

    def _store(self, owner: Any, index: Any, value: Any) -> None:
        if isinstance(owner, np.ndarray):
            self._pay_index(owner.size, index)
            self.budget.read(value, owner if isinstance(index, slice) else ())
        elif isinstance(owner, list):
            self.budget.read(*((owner, value) if isinstance(index, slice) else ()))
        elif isinstance(owner, dict):
            self.budget.read(index)
        else:
            raise TypeError(f"{type(owner).__name__!r} object does not support item assignment")
        owner[index] = value

    def _pay_index(self, size: int, index: Any) -> None:
        """Pay for what an array's index selects: nothing for a view; an array of indices may repeat elements."""
        parts = index if isinstance(index, tuple) else (index,)
        for part in parts:
            if isinstance(part, list | np.ndarray):
                self.budget.read(part)
                is_mask = np.asarray(part).dtype == bool
                self.budget.room(size if is_mask else size * max(1, np.size(part)))

    def _operated(
        self, node: ast.BinOp | ast.AugAssign, operation: Callable[[Any, Any], Any], left: Any, right: Any
    ) -> Any:
        self.budget.line = node.lineno
        pay_binary(self.budget, type(node.op), left, right)
        return self.checked(operation(left, right))

    def _compared(self, operation: ast.cmpop, left: Any, right: Any) -> Any:
        if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
            pay_arrays(self.budget, False, left, right)
        else:
            self.budget.read(left, right)
        return self.checked(COMPARISONS[type(operation)](left, right))

    def _no_attribute(self, owner: Any, name: str) -> Any:
        """Raise AttributeError where Python has no such attribute, too; else refuse it."""
        kind = owner if isinstance(owner, types.ModuleType) else type(owner)
        if isinstance(owner, Closure | Method | type) or hasattr(kind, name):
            raise self.budget.unlisted(f"`.{name}`")
        raise AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}")

    # ---- Python's own functions that would read uncounted, or more than the tables list -----------------------------

    def print_(self, *values: Any, **named: Any) -> None:
        self.budget.read(*values)

    def iterator(self, items: Any, *sentinel: Any) -> Iterator[Any]:
        if sentinel:
            raise self.budget.unlisted("`iter` with two arguments")
        return self.each(items)

    def type_(self, value: Any, *members: Any) -> type:
        if members:
            raise self.budget.unlisted("`type` with three arguments")
        return type(value)

    def sum_(self, items: Any, start: Any = 0) -> Any:
        """``sum``; what is no number is added one by one, since lists grow with each addition."""
        found = list(self.each(items))
        if all(isinstance(each, int | float | complex | np.generic) for each in (start, *found)):
            return sum(found, start)
        for each in found:
            pay_binary(self.budget, ast.Add, start, each)
            start = start + each
        return start

    def join(self, between: str, texts: Any) -> str:
        found = list(self.each(texts))
        self.budget.read(found)
        self.budget.room(len(between) * len(found))
        return between.join(found)

    def format_(self, text: str, *given: Any, **named: Any) -> str:
        self.budget.read(text)
        return _Format(self).vformat(text, given, named)


WRITTEN_OUT: dict[Any, Callable[..., Any]] = {
    print: Evaluation.print_,
    iter: Evaluation.iterator,
    type: Evaluation.type_,
    sum: Evaluation.sum_,
    format: Evaluation.formatted,
    str.join: Evaluation.join,
    str.format: Evaluation.format_,
}
#: The kinds of expressions, and what each does.
EXPRESSIONS: dict[type[ast.AST], Callable[[Evaluation, Any], Any]] = {
    ast.Constant: Evaluation.constant,
    ast.Name: Evaluation.name,
    ast.List: Evaluation.list_,
    ast.Tuple: Evaluation.tuple_,
    ast.Set: Evaluation.set_,
    ast.Dict: Evaluation.dict_,
    ast.BinOp: Evaluation.binary,
    ast.UnaryOp: Evaluation.unary,
    ast.BoolOp: Evaluation.both_or_either,
    ast.Compare: Evaluation.comparison,
    ast.IfExp: Evaluation.conditional,
    ast.Attribute: Evaluation.attribute,
    ast.Subscript: Evaluation.item,
    ast.Slice: Evaluation.slice_,
    ast.NamedExpr: Evaluation.assigned,
    ast.Lambda: Evaluation.function,
    ast.ListComp: Evaluation.list_of,
    ast.SetComp: Evaluation.set_of,
    ast.DictComp: Evaluation.dict_of,
    ast.GeneratorExp: Evaluation.generator,
    ast.JoinedStr: Evaluation.text,
    ast.FormattedValue: Evaluation.formatted_value,
    ast.Call: Evaluation.call,
}
#: The kinds of statements, and what each does.
STATEMENTS: dict[type[ast.AST], Callable[[Evaluation, Any], Any]] = {
    ast.Expr: Evaluation.expression,
    ast.Pass: Evaluation.nothing,
    ast.Nonlocal: Evaluation.nothing,  # `assigned_in` has left out its names
    ast.FunctionDef: Evaluation.definition,
    ast.Import: Evaluation.importing,
    ast.ImportFrom: Evaluation.importing,
    ast.Return: Evaluation.returning,
    ast.Assign: Evaluation.assignment,
    ast.AnnAssign: Evaluation.annotated,
    ast.AugAssign: Evaluation.augmented,
    ast.Delete: Evaluation.deletion,
    ast.If: Evaluation.branch,
    ast.For: Evaluation.loop,
    ast.While: Evaluation.repetition,
    ast.Break: Evaluation.break_,
    ast.Continue: Evaluation.continue_,
    ast.Assert: Evaluation.assertion,
    ast.Raise: Evaluation.raising,
    ast.Try: Evaluation.attempt,
}
#: The types of what a value may be, beside arrays and numbers of NumPy and exceptions.
_VALUES = {
    *(bool, int, float, complex, str, list, tuple, dict, set, frozenset, range, slice, type, np.finfo, np.iinfo),
    *(type(None), type(...), type(NotImplemented), type({}.keys()), type({}.values()), type({}.items())),
    *(types.GeneratorType, types.UnionType, types.ModuleType, Closure, Method, *map(type, FUNCTIONS)),
}
