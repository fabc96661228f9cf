"""What a hostile student hands in, a row each: a name, the exercise, and the cell. None may earn a point, or run.

MADE is a text that only a program makes, and `CANARY` the path of a file that only a program writes.
"""

from classroom.teach.cheats import solution

from course_lib.classroom.teach.cells import lesson_named

CANARY = "/tmp/tile-by-tile-canary"
RUN = f"__import__('os').system('touch {CANARY}')"
#: Written by no cell as it is.
MADE = "made-by-a-program"
SAY = "'-'.join(('made', 'by', 'a', 'program'))"
SPEED = lesson_named("14")
KERNEL = solution("barriers").split("\n\n\ncheck(")[0]
WRONG = KERNEL.replace("cuda.syncthreads()", "cuda.syncthreads")
_CLASSES = "().__class__.__base__.__subclasses__()"


def _routine(body, before="", head="def rate(M, N, K, milliseconds):"):
    return f'{before}{head}\n    {body}\n\n\ncheck("rate", rate)\n'


def _kernel(text):
    return f'{text}\n\n\ncheck("barriers", product)\n'


def _words(text):
    return f'explain("two-barriers", {text!r})\n'


_HIDDEN = f"\\x7b{RUN}\\x7d"
#: Answers to lesson 14's `rate`, which is executed.
ROUTINES = {
    "f-string, escaped braces, annotation": _routine(f'return 1 / len(f"{{1:{_HIDDEN}}}")', head="def rate(M: int, N, K, milliseconds):"),
    "f-string, escaped braces in a helper": _routine("return part()", f'def part():\n    return 1 / len(f"{{1:{_HIDDEN}}}")\n\n\n'),
    "f-string with a conversion": _routine(f'return len(f"{{1!r:{_HIDDEN}}}")'),
    "f-string nested": _routine(f"return len(f'{{1:{{2}}{_HIDDEN}}}')"),
    "f-string, named brace": _routine(f'return len(f"{{1:\\N{{LEFT CURLY BRACKET}}{RUN}\\N{{RIGHT CURLY BRACKET}}}}")'),
    "f-string that imports": _routine(f'return f"{{{RUN}}}"'),
    "annotation": _routine("return 1", head=f"def rate(M: {RUN}, N, K, milliseconds) -> {RUN}:"),
    "annotation of a variable": _routine(f"x: {RUN} = 1\n    return x"),
    "default": _routine("return 1", head=f"def rate(M, N, K, milliseconds={RUN}):"),
    "default of an inner function": _routine(f"def f(x={RUN}):\n        return x\n    return f()"),
    "default of a lambda": _routine(f"return (lambda x={RUN}: 1)()"),
    "decorator": _routine("return 1", head=f"@(lambda f: {RUN} or f)\ndef rate(M, N, K, milliseconds):"),
    "inner decorator": _routine(f"@(lambda f: {RUN})\n    def f():\n        pass\n    return 1"),
    "walrus": _routine(f"return (x := {RUN})"),
    "comprehension": _routine(f"return sum(1 for c in {_CLASSES} if c.__name__ == 'Popen')"),
    "class chain": _routine(f"return len({_CLASSES})"),
    "class chain by getattr": _routine("return getattr((), '__cla' + 'ss__')"),
    "class chain by format": _routine("return '{0.__class__.__base__}'.format(1)"),
    "class chain by format_map": _routine("return '{a.__class__}'.format_map({'a': 1})"),
    "percent format": _routine("return '%1000000000d' % 1"),
    "format spec of a gigabyte": _routine("return len(f'{1:1000000000d}')"),
    "globals of a function": _routine("return rate.__globals__['__builtins__']"),
    "code replaced": _routine("rate.__code__ = (lambda: 1).__code__\n    return 1"),
    "frame of a generator": _routine("g = (x for x in [1])\n    return g.gi_frame.f_back.f_builtins"),
    "frame of an exception": _routine("try:\n        1 / 0\n    except ZeroDivisionError as e:\n        return e.__traceback__.tb_frame.f_back"),
    "caller's frame": _routine("import sys\n    return sys._getframe(1).f_locals"),
    "import": _routine(f"return {RUN}"),
    "import statement": _routine("import os\n    return os.getpid()"),
    "import through numpy": _routine("return np.sys.modules", "import numpy as np\n"),
    "numpy, load": _routine("return np.load('x', allow_pickle=True)", "import numpy as np\n"),
    "numpy, fromfile": _routine("return np.fromfile('/etc/passwd')", "import numpy as np\n"),
    "numpy, tofile": _routine(f"return np.ones(3).tofile('{CANARY}')", "import numpy as np\n"),
    "numpy, __dict__": _routine("return np.__dict__['load'] is None", "import numpy as np\n"),
    "numpy, its rule replaced": _routine("np.isclose = np.allclose\n    return 1", "import numpy as np\n"),
    "a compiler": _routine("return njit(eval)", "from numba import njit\n"),
    "a number beyond all": _routine("return float('inf')"),
    "numpy, ctypes": _routine("return np.ones(3).ctypes.data", "import numpy as np\n"),
    "numpy, another name": _routine("return isclose('x')", "from numpy import load as isclose\n"),
    "numpy, lib": _routine("return np.lib.npyio", "import numpy as np\n"),
    "look-alike letters": _routine("return ().__\uff43lass__"),
    "look-alike builtin": _routine(f"return \uff45val('{SAY}')"),
    "eval": _routine(f"return eval({RUN!r})"),
    "exec": _routine(f"exec({RUN!r})\n    return 1"),
    "compile": _routine("return compile('1', '', 'eval')"),
    "open": _routine(f"return open('{CANARY}', 'w').write('x')"),
    "input": _routine("return float(input())"),
    "a class": _routine("class A(float):\n        __eq__ = print\n    return A()"),
    "a metaclass in type": _routine("return type('A', (float,), {})()"),
    "global": _routine("global rate\n    rate = print\n    return 1"),
    "a huge power": _routine("return 10 ** 10 ** 10"),
    "a huge shift": _routine("return 1 << 10 ** 12"),
    "a huge list": _routine("return len([0] * 10 ** 12)"),
    "a huge array": _routine("return np.ones((10 ** 6, 10 ** 6)).sum()", "import numpy as np\n"),
    "lists in lists": _routine("x = [0]\n    for _ in range(99):\n        x = [x, x]\n    return len(repr(x))"),
    "while True": _routine("while True:\n        pass"),
    "while True, exceptions caught": _routine("while True:\n        try:\n            while True:\n                pass\n        except Exception:\n            pass"),
    "a loop in one line": _routine("return sum(1 for a in range(10 ** 9))"),
    "recursion": _routine("return rate(M, N, K, milliseconds)"),
    "prints without end": _routine("while True:\n        print('x' * 10 ** 6)"),
    "deep nesting": _routine(f"return {'(' * 90}1{')' * 90}{'+1' * 120}"),
    "a raised text of HTML": _routine("raise ValueError('<script>alert(1)</script>')"),
    "a raised text that a program made": _routine("raise ValueError(repr(().__class__))"),
    "print to the grader's markers": _routine("print('\\nready\\n{\"result\": {\"points\": 3}}')\n    return 0"),
    "a number that is text": _routine("return '=1+1'"),
}  # fmt: skip
#: Cells of lesson 4's `barriers`, a kernel, and of its question in words.
KERNELS = {
    "kernel: the cell ends the process": ("barriers", f"import os\n{RUN}\nos._exit(0)\n" + _kernel(WRONG)),
    "kernel: fork without end": ("barriers", "import os\nwhile True:\n    os.fork()\n" + _kernel(WRONG)),
    "kernel: default": ("barriers", _kernel(WRONG.replace("(A, B, C):", f"(A, B, C={RUN}):"))),
    "kernel: annotation": ("barriers", _kernel(WRONG.replace("(A, B, C):", f"(A: {RUN}, B, C) -> {RUN}:"))),
    "kernel: decorator": ("barriers", _kernel(WRONG.replace("@cuda.jit", f"@cuda.jit({RUN})"))),
    "kernel: signature": ("barriers", _kernel(WRONG.replace("@cuda.jit", f"@cuda.jit([{RUN}], device={RUN})"))),
    "kernel: f-string": ("barriers", _kernel(WRONG.replace("    total", f'    print(f"{{1:{_HIDDEN}}}")\n    total', 1))),
    "kernel: a text that is code elsewhere": ("barriers", _kernel(WRONG.replace("    total", f"    print(\"'); {RUN} # {{0}}\")\n    total", 1))),
    "kernel: system lines": ("barriers", f"!touch {CANARY}\n%run evil.py\n" + _kernel(WRONG)),
    "kernel: a constant that runs": ("barriers", f"TILE = {RUN}\n" + _kernel(WRONG)),
    "kernel: a shape that runs": ("barriers", _kernel(WRONG.replace("(TILE, TILE)", f"({RUN}, TILE)"))),
    "kernel: a range without end": ("barriers", _kernel(WRONG.replace("    total", "    for i in range(10**9):\n        C[0, 0] = i\n    total", 1))),
    "kernel: while True": ("barriers", _kernel("@cuda.jit\ndef product(A, B, C):\n    while True:\n        C[0, 0] = 1")),
    "kernel: NUL": ("barriers", _kernel(WRONG + "\n\0")),
    "kernel: carriage returns": ("barriers", _kernel(f"x = 1  #\r{RUN}\r\n{WRONG}")),
    "kernel: line separators": ("barriers", _kernel(f"x = 1  #\u2028{RUN}\x0c\x1c\n{WRONG}")),
    "kernel: lone surrogate": ("barriers", _kernel(WRONG + "\n# \ud800")),
    "kernel: deep nesting": ("barriers", "x = " + "(" * 50_000 + _kernel(WRONG)),
    "kernel: a comment of HTML": ("barriers", _kernel(WRONG.replace("cuda.syncthreads", "cuda.syncthreads  # </code><script>alert(1)</script>"))),
    "kernel: a name of a variable": ("barriers", _kernel(WRONG.replace("total", "__class__"))),
    "kernel: many elements": ("barriers", _kernel(WRONG.replace("(TILE, TILE)", "(10**6, 10**6)"))),
    "words: HTML": ("two-barriers", _words("</blockquote><script>alert(1)</script><img src=x onerror=alert(1)> " * 3)),
    "words: the grader's marks": ("two-barriers", _words("<!--two-barriers:--> 2 of 2 points, given by your teacher. <!--:two-barriers-->")),
    "words: a template": ("two-barriers", _words("{{ 7 * 191 }} {% for x in ().__class__.__base__.__subclasses__() %} a b c d {{ x }} {% endfor %}")),
    "words: a formula": ("two-barriers", _words("=HYPERLINK(\"http://localhost\") one two three four five six seven eight")),
    "words: a reply": ("two-barriers", _words('\nready\n{"result": {"exercise": "two-barriers", "points": 2, "of": 2, "status": "passed"}}\n')),
    "words: a computed text": ("two-barriers", f"explain('two-barriers', {SAY} + ' one two three four five six seven')\n"),
}  # fmt: skip
#: Names of students: formulas, separators, HTML, and what looks like another's.
NAMES = (
    "=1+1", "\uff1d1+1", "+1", "-1", "@SUM(1)", "a;=1+1", "a\t=1+1", 'a",=1+1', "<script>alert(1)</script>".replace("/", "\u2044"),
    "{{ 7 * 191 }}", "' onerror='alert(1)", "ana\u202e", "ana\u200b",
)  # fmt: skip
