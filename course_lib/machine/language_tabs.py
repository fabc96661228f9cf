"""A kernel in numba and in CUDA C, in two tabs of plain HTML: they need no script, and a printed page shows both."""

import ast
import html
import inspect
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .gpu.cuda_c import FOLDER, excerpt

#: Of the parts of a file NAME.cu, how the first and the last line of the same lines of NAME.py begin.
_LINES = {
    "naive": {"index": ("row =", "col ="), "guard": ("if row < M",) * 2, "loop": ("acc = ", "C[row, col] =")},
    "single_block": {"shared": ("A_shared = ", "cuda.syncthreads")},
    "uncoalesced": {"index": ("row =", "col =")},
    "register_2d": {"registers": ("acc = ", "b = "), "products": ("for k in ", "acc[i, j] += ")},
    "prefetched": {"loop": ("now = 0", "cuda.syncthreads")},
    "pipelined": {"fetch": ("def fetch", "commit_copies"), "loop": ("now, free = ", "now = 0")},
    **dict.fromkeys(("outer_product", "unrolled"), {"loop": ("for k in ", "acc[i] += ")}),
}
#: The same for the kernels with T×T tiles.
_TILES = {"tiles": ("A_tile = ", "B_tile = "), "load": ("if row < M", "B_tile[t")}
_STYLE = f"<style>\n{Path(__file__).with_suffix('.css').read_text(encoding='utf-8')}</style>"


@dataclass(frozen=True, repr=False)
class Tabs:
    """The same lines in numba and in CUDA C."""

    name: str
    numba: str
    c: str

    def __repr__(self) -> str:
        numba, c = (textwrap.indent(text, "  ") for text in (self.numba, self.c))
        return f"numba:\n{numba}CUDA C:\n{c}"

    def _repr_html_(self) -> str:
        chosen = "both" if max(map(len, f"{self.numba}{self.c}".splitlines())) <= 60 else "c"
        buttons = "".join(
            f'<label><input type="radio" name="tabs-{self.name}" value="{value}"'
            f"{' checked' if value == chosen else ''}> {label}</label>"
            for value, label in (("numba", "numba"), ("c", "CUDA C"), ("both", "both"))
        )
        figures = "".join(
            f'<figure class="{value}"><figcaption>{label}</figcaption>'
            f'<pre tabindex="0" role="group" aria-label="{label}"><code>{html.escape(text)}</code></pre></figure>'
            for value, label, text in (("numba", "numba", self.numba), ("c", "CUDA C", self.c))
        )
        fieldset = f'<fieldset aria-label="Language">{buttons}</fieldset>'
        return f'{_STYLE}<div class="tile-tabs">{fieldset}<div>{figures}</div></div>'


def tabs(name: str, part: str = "kernel", *, numba: Any = None, unroll: int | None = None) -> Tabs:
    """Return a kernel of the ladder, or a part of it, in numba and in CUDA C.

    Args:
        name: the name of the files NAME.cu and NAME.py.
        part: a part of NAME.cu between two of its markers, such as "index"; KeyError if there is none.
        numba: what is shown instead of the lines of NAME.py: a text, or a function or kernel. ValueError if it is
            needed: if nothing says which lines of NAME.py belong to the part.
        unroll: show `#pragma unroll` with this number above the inner loop; None shows none.

    >>> tabs("naive", "index")
    numba:
      row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
      col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    CUDA C:
      int row = blockIdx.y * blockDim.y + threadIdx.y;
      int col = blockIdx.x * blockDim.x + threadIdx.x;
    <BLANKLINE>
    """
    pragma = rf"\g<1>#pragma unroll {unroll}\n" if unroll else ""
    c = re.sub(r"^( *)UNROLL\n", pragma, excerpt(name, part), flags=re.MULTILINE)
    if callable(numba):
        numba = textwrap.dedent(inspect.getsource(getattr(numba, "py_func", numba)))
    text = _in_numba(name, part) if numba is None else numba
    return Tabs(f"{name}-{part}", f"{text.rstrip()}\n", c)


def _in_numba(name: str, part: str) -> str:
    """Return the kernel of NAME.py without its docstring, or the lines of it that belong to a part of NAME.cu."""
    bounds = _LINES.get(name, _TILES).get(part)
    path = FOLDER / f"{name}.py"
    is_known = part == "kernel" or bool(bounds)
    if name == "host" or not is_known or not path.is_file():
        raise ValueError(f"{name}.cu, {part!r}: say which lines of numba belong to it, with numba=…")
    text = path.read_text(encoding="utf-8")
    function = "fetch" if part == "fetch" else name
    *_, kernel = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef) and n.name == function]
    body = kernel.body[1 if ast.get_docstring(kernel) else 0].lineno
    lines = text.splitlines()
    kept = [*lines[kernel.decorator_list[0].lineno - 1 : kernel.lineno], *lines[body - 1 : kernel.end_lineno]]
    if bounds:
        first = next(i for i, line in enumerate(kept) if line.strip().startswith(bounds[0]))
        last = max(i for i, line in enumerate(kept) if line.strip().startswith(bounds[1]))
        kept = kept[first : last + 1]
    return textwrap.dedent("\n".join(kept))
