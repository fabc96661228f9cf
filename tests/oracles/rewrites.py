"""Harmless rewrites of a function's text: each does the same, and a student may well have written it so."""

import ast
import re

_SUFFIX = "_x"


def _names(node):
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _stored(node):
    """What a statement stores into: variables, and the names of arrays."""
    targets = [part for part in ast.walk(node) if isinstance(getattr(part, "ctx", None), ast.Store)]
    return {name for target in targets for name in _names(target)}


class _Rewriter(ast.NodeTransformer):
    """Changes a function; what it is made of afterwards is written anew by `ast.unparse`."""

    def __call__(self, text):
        module = ast.parse(text)
        self.tree = next(node for node in module.body if isinstance(node, ast.FunctionDef))
        self.tree.body = [part for node in self.tree.body for part in self._many(self.visit(node))]
        self.whole()
        return ast.unparse(ast.fix_missing_locations(module)) + "\n"

    def whole(self):
        """Change the function as a whole, once its statements are done."""

    @staticmethod
    def _many(nodes):
        return nodes if isinstance(nodes, list) else [nodes]


class _While(_Rewriter):
    """`while` for `for`: the counter begins before the loop, and goes on at its end."""

    def visit_For(self, node):
        self.generic_visit(node)
        if not isinstance(node.iter, ast.Call) or ast.unparse(node.iter.func) != "range":
            return node
        given = [ast.unparse(each) for each in node.iter.args]
        start, stop, step = [*(given if len(given) > 1 else ["0", *given]), "1"][:3]
        k = node.target.id
        begin, loop = ast.parse(f"{k} = {start}\nwhile {k} < {stop}: {k} += {step}").body
        loop.body = [*node.body, *loop.body]
        return [begin, loop]


class _SumWrittenOut(_Rewriter):
    """`acc = x + acc` for `acc += x`."""

    def visit_AugAssign(self, node):
        place, value = ast.unparse(node.target), ast.unparse(node.value)
        operator = ast.unparse(node).removeprefix(f"{place} ").partition("=")[0]
        right = f"({value}) + {place}" if operator == "+" else f"{place} {operator} ({value})"
        return ast.parse(f"{place} = {right}").body


class _OneByOne(_Rewriter):
    """Several variables of one statement get their values one by one."""

    def visit_Assign(self, node):
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=True))
            if not any(_names(place) & _names(value) for place in target.elts for value in node.value.elts):
                return [ast.Assign([place], value) for place, value in pairs]
        return node


class _Temporaries(_Rewriter):
    """Operands of a product, and what is stored, get names of their own first."""

    def visit_AugAssign(self, node):
        if not (isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Mult)):
            return node
        one, two = ast.unparse(node.value.left), ast.unparse(node.value.right)
        node.value = ast.parse("one * two", mode="eval").body
        return ast.parse(f"one = {one}\ntwo = {two}\n{ast.unparse(node)}").body

    def visit_Assign(self, node):
        place = node.targets[0]
        if len(node.targets) > 1 or not isinstance(place, ast.Subscript) or isinstance(node.value, ast.Constant):
            return node
        return ast.parse(f"stored = {ast.unparse(node.value)}\n{ast.unparse(place)} = stored").body


class _NestedGuards(_Rewriter):
    """`if a: if b:` for `if a and b:`."""

    def visit_If(self, node):
        self.generic_visit(node)
        if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And) and not node.orelse:
            body = node.body
            for part in reversed(node.test.values):
                body = [ast.If(part, body, [])]
            return body[0]
        return node


class _NamedGuards(_Rewriter):
    """`inside = …` and `if inside:` for `if …:`."""

    def visit_If(self, node):
        self.generic_visit(node)
        name = f"inside{node.lineno}"
        named = ast.parse(f"{name} = {ast.unparse(node.test)}").body
        node.test = ast.Name(name, ast.Load())
        return [*named, node]


class _EarlyReturn(_Rewriter):
    """A guard around all that is left becomes a return before it."""

    def whole(self):
        *before, last = self.tree.body
        if isinstance(last, ast.If) and not last.orelse:
            leave = ast.If(ast.UnaryOp(ast.Not(), last.test), [ast.Return()], [])
            self.tree.body = [*before, leave, *last.body]


class _OtherOrder(_Rewriter):
    """Neighbouring assignments of which neither needs the other change places."""

    def generic_visit(self, node):
        super().generic_visit(node)
        if isinstance(getattr(node, "body", None), list):
            node.body = self._reordered(node.body)
        return node

    def whole(self):
        self.tree.body = self._reordered(self.tree.body)

    def _reordered(self, body):
        done, left = [], list(body)
        while left:
            if len(left) > 1 and self._independent(*left[:2]):
                done += [left[1], left[0]]
                left = left[2:]
            else:
                done.append(left.pop(0))
        return done

    @staticmethod
    def _independent(one, other):
        if not (isinstance(one, ast.Assign) and isinstance(other, ast.Assign)):
            return False
        return not (_stored(one) & _names(other) or _stored(other) & _names(one))


class _Parentheses(_Rewriter):
    """More parentheses than are needed."""

    def visit_BinOp(self, node):
        self.generic_visit(node)
        return ast.Call(ast.Name("_P", ast.Load()), [node], [])

    visit_Compare = visit_BoolOp = visit_BinOp

    def __call__(self, text):
        return super().__call__(text).replace("_P(", "(")


class _Renamed(_Rewriter):
    """Other names: of the variables, or of the parameters."""

    def __init__(self, parameters):
        self.parameters = parameters

    def whole(self):
        arguments = {argument.arg for argument in self.tree.args.args}
        parts = [node for node in ast.walk(self.tree) if isinstance(node, ast.Name)]
        variables = {part.id for part in parts if isinstance(part.ctx, ast.Store)} - arguments
        chosen = arguments if self.parameters else variables
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and node.id in chosen:
                node.id += _SUFFIX
            if isinstance(node, ast.arg) and node.arg in chosen:
                node.arg += _SUFFIX


def _one_line(text):
    """Loops and guards with a body of simple statements stand on one line, these joined by semicolons."""
    lines = _as_unparsed(text).splitlines()
    done = []
    while lines:
        line = lines.pop(0)
        depth = len(line) - len(line.lstrip())
        body = []
        while lines and len(lines[0]) - len(lines[0].lstrip()) > depth:
            body.append(lines.pop(0))
        simple = all(re.match(rf" {{{depth + 4}}}(?!for |while |if |else)\S", inner) for inner in body)
        if body and simple and re.match(r" *(for|while|if|else)\b", line):
            done.append(f"{line} {'; '.join(inner.strip() for inner in body)}")
        else:
            done.append(line)
            lines = body + lines
    return "\n".join(done) + "\n"


def _as_unparsed(text):
    return ast.unparse(ast.parse(text)) + "\n"


def _commented(text):
    """Comments, blank lines and a docstring."""
    head, body = re.split(r"(?<=:)\n", _as_unparsed(text), maxsplit=1)
    body = re.sub(r"^( *)(?!else|elif)(\S.*)$", r"\n\1# the next line\n\1\2  # this line", body, flags=re.MULTILINE)
    return f'{head}\n    """What it does.\n\n    And how.\n    """\n{body}\n\n'


def _wide(text):
    """An indentation of two columns."""
    return re.sub(r"^( +)", lambda spaces: spaces[0][: len(spaces[0]) // 2], _as_unparsed(text), flags=re.MULTILINE)


#: What each rewrite is called, and the function that makes it.
REWRITES = {
    "loops on one line": _one_line,
    "while for for": _While(),
    "while on one line": lambda text: _one_line(_While()(text)),
    "other variables": _Renamed(parameters=False),
    "other parameters": _Renamed(parameters=True),
    "other order": _OtherOrder(),
    "parentheses": _Parentheses(),
    "sums written out": _SumWrittenOut(),
    "one by one": _OneByOne(),
    "comments": _commented,
    "temporaries": _Temporaries(),
    "early return": _EarlyReturn(),
    "nested guards": _NestedGuards(),
    "named guards": _NamedGuards(),
    "two columns": _wide,
}
