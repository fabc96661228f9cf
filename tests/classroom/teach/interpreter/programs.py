"""Random plain functions, as source text, of two numbers, a list, a dictionary and an array; each ends, or raises."""

import random

#: Of the parameters and of what a function defines first.
NUMBERS, LISTS, TABLES, ARRAYS, TEXTS = "a b n m".split(), "xs ys".split(), ["table"], "A B".split(), ["name"]
_START = "n, m, ys, B, name = 3, 0.5, [4, 1], A * 2, 'tile'"
#: By kind: forms whose parts in braces are drawn in turn.
FORMS = {
    "number": """{name_n}|{int}|{float}|({number} {op} {number})|-{number}|abs({number})|min({number}, {number})
        |max({list}, default={number})|len({list})|len({text})|sum({list})|round({number}, 2)|int({number})|float({number})
        |({number} if {truth} else {number})|{list}[{index}]|{name_t}.get({text}, {number})|divmod({number}, {number})[0]
        |{array}.sum()|float({array}.max())|{array}.size|{array}.ndim|np.mean({array})|np.dot({array}, {array})
        |(lambda p, q={number}: p {op} q)({number})|sum(x {op} {number} for x in {list})|f({number})|(k := {number})
        |{text}.count('t')|bool({truth})|int({array}.argmax())|{list}.count({number})|helper({number}, {number})
        |math.floor({number})|math.sqrt(abs({number}))|len({{x for x in {list}}})|pow({number}, 2)""",
    "truth": """{number} < {number}|{number} == {number}|0 <= {number} < 9|not {truth}|{truth} and {truth}
        |{truth} or {number}|{number} in {list}|{list} == {list}|all({list})|any(x > 1 for x in {list})|{list} is {list}
        |isinstance({number}, int)|bool(np.all({array} > {number}))|{text} < {text}|{text}.startswith('t')""",
    "list": """{name_l}|[{number}, {number}]|[*{list}, {number}]|{list} + {list}|{list}[{index}:]|{list}[::-1]|sorted({list})
        |[x {op} {number} for x in {list} if {truth}]|list(range({index}))|{list} * 2|list(map(abs, {list}))
        |[i * x for i, x in enumerate({list})]|[p + q for p, q in zip({list}, {list})]|{array}.tolist()
        |sorted({list}, key=lambda x: -x)|list({name_t}.values())|[y for x in {list} for y in (x, {number})]
        |list(filter(None, {list}))|{list}.copy()|[*dict(zip({list}, {list}))]|list(reversed({list}))""",
    "array": """{name_a}|{array} {aop} {array}|{array} * {number}|np.array([1.0, 2.0, 3.0])|np.abs({array})
        |np.where({array} > {number}, {array}, 0)|np.arange(3) + {number}|{array}[::-1]|np.clip({array}, 0, 2)
        |np.sort({array})|np.cumsum({array})|np.zeros(3)|{array}.astype(np.float32)|np.maximum({array}, {array})
        |{array}[{array} > -99]|{array}.reshape(3, 1)[:, 0]""",
    "text": """{name_s}|'rate'|f'{{{number}:.3f}}'|f'{{{number}!r}}'|{text} + {text}|{text}[{index}:]|{text}.upper()
        |str({number})|'-'.join(map(str, {list}))|'{{}} of {{:>6}}'.format({number}, {text})|'%s' % {number}""",
    "index": "0|1|2|-1|{index} + 1|len({list}) - 1|int({number}) % 3",
    "statement": """{name_n} = {number}|{name_l} = {list}|{name_a} = {array}|{name_s} = {text}|{name_n} {op}= {number}
        |{name_l}.append({number})|{name_l}[{index}] = {number}|{name_t}[{text}] = {number}|{name_a}[{index}] = {number}
        |{name_a} {aop}= {number}|{name_n}, {name_n} = {number}, {number}|{name_n}, *{name_l} = {list}
        |if {truth}:{block}|if {truth}:{block}else:{block}|for i in range(4):{block}|for x in {list}:{block}
        |for i, x in enumerate({list}):{loop}|while n < 9:{grow}|try:{block}except (ValueError, TypeError):{block}
        |try:{block}except ZeroDivisionError as e:{block}finally:{block}|assert {truth}, {text}|del {name_l}[{index}]
        |def f(p, q={number}):{returning}|{name_l}.sort()|{name_n}: float = {number}|{name_l} += {list}|return {number}
        |for x in {list}:{loop}else:{block}|raise ValueError({text})|print({number}, {text})|import math""",
}
_OPS = {
    "op": "+ - * / // % + - *".split(),
    "aop": "+ - *".split(),
    "int": "0 1 2 3 7 -4".split(),
    "float": "0.5 2.0 1e-3".split(),
}
_NAMES = {"name_n": NUMBERS, "name_l": LISTS, "name_t": TABLES, "name_a": ARRAYS, "name_s": TEXTS}
_PLAIN = {"number": "{name_n}|{int}|{float}", "truth": "{name_n} < {int}", "list": "{name_l}", "array": "{name_a}",
          "text": "{name_s}", "index": "0|1|-1", "statement": "{name_n} = {number}|{name_n} += {number}"}  # fmt: skip


class _Draw(dict):
    """What stands for the names in braces, drawn when it is asked for."""

    def __init__(self, random, depth, indent):
        self.random, self.depth, self.indent = random, depth, indent

    def __missing__(self, name):
        if name in _NAMES or name in _OPS:
            return self.random.choice((_NAMES | _OPS)[name])
        if name in ("block", "loop", "grow", "returning"):
            last = {
                "loop": ["if {truth}: continue", "if {truth}: break"],
                "grow": ["n = n + 1 if isinstance(n, int) else 9"],
            }
            last |= {"returning": ["return {number}"]}
            return _block(self.random, self.depth - 1, self.indent + 1, self.random.choice(last.get(name, ["pass"])))
        forms = (FORMS if self.depth > 0 else _PLAIN)[name].split("|")
        return _drawn(self.random, self.random.choice(forms).strip(), self.depth - 1, self.indent)


def _drawn(random, form, depth, indent):
    return form.format_map(_Draw(random, depth, indent))


def _block(random, depth, indent, last):
    lines = [_drawn(random, "{statement}", depth, indent) for _ in range(random.randint(1, 2))]
    lines = [*lines, _drawn(random, last, 1, indent)]
    return "".join(f"\n{'    ' * indent}{line}" for line in lines) + "\n" + "    " * (indent - 1)


def program(seed):
    """Return the text of a function ``main(a, b, xs, table, A)`` with a helper."""
    drawn = random.Random(seed)
    body = _block(drawn, 4, 1, "return [{number}, {list}, {text}, {array}.tolist(), {truth}]")
    more = _block(drawn, 4, 1, "pass")
    defined = "def helper(p, q=2):\n    return p - q if p > q else q\n\n\n"
    return f"{defined}def main(a, b, xs, table, A):\n    {_START}\n    f = lambda x: x + 1{more}{body}"
