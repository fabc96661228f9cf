"""Executes a notebook's cells as its kernel does, in a Python that has IPython and no kernel.

`python guest.py NOTEBOOK` prints the outputs of its code cells as JSON, for each cell a list as a notebook stores it.
"""

import json
import os
import sys
from hashlib import sha256
from pathlib import Path

from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell


class Stream:
    """A text file whose text is an output of the cell that runs."""

    encoding, errors = "utf-8", "strict"

    def __init__(self, name, outputs):
        self.name, self.outputs = name, outputs

    def write(self, text):
        if text:
            self.outputs.append({"output_type": "stream", "name": self.name, "text": text})
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return False


class Compiler(CachingCompiler):
    """Names cells as ipykernel does: a warning shows its cell's name."""

    def get_code_name(self, raw_code, transformed_code, number):
        return f"/tmp/ipykernel_1/{int(sha256(raw_code.encode()).hexdigest()[:8], 16)}.py"


class Published(DisplayPublisher):
    """What a cell displays."""

    def publish(self, data, metadata=None, *, transient=None, update=False, **others):
        output = {"output_type": "display_data", "data": data, "metadata": metadata or {}}
        identity = (transient or {}).get("display_id")
        if not update:
            self.shell.outputs.append(output)
            self.shell.displays[identity] = output
        elif identity in self.shell.displays:
            self.shell.displays[identity].update(output)

    def clear_output(self, wait=False):
        self.shell.outputs.clear()


class Result(DisplayHook):
    """The value of a cell's last expression."""

    def write_output_prompt(self):
        pass

    def write_format_data(self, format_dict, md_dict=None):
        self.shell.outputs.append(
            {"output_type": "execute_result", "execution_count": 1, "data": format_dict, "metadata": md_dict or {}}
        )

    def finish_displayhook(self):
        self._is_active = False


class Shell(InteractiveShell):
    """A shell whose outputs are kept: `outputs` are those of the cell that runs."""

    compiler_class = Compiler

    def __init__(self, **options):
        self.outputs, self.displays = [], {}
        super().__init__(displayhook_class=Result, display_pub_class=Published, **options)

    def enable_gui(self, gui=None):
        pass

    def _showtraceback(self, etype, evalue, stb):
        self.outputs.append({
            "output_type": "error", "ename": etype.__name__, "evalue": str(evalue), "traceback": [*map(str, stb)]
        })  # fmt: skip


def executed(notebook):
    """Return the outputs of each code cell of a notebook, executed in its folder."""
    os.chdir(notebook.parent)
    shell = Shell.instance(user_ns={"__name__": "__main__"}, colors="nocolor")
    sys.modules["__main__"] = shell.user_module
    sys.stdout, sys.stderr = Stream("stdout", shell.outputs), Stream("stderr", shell.outputs)
    cells = []
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            shell.outputs.clear()
            shell.displays.clear()
            shell.run_cell("".join(cell["source"]), store_history=True)
            cells.append([*shell.outputs])
    return cells


if __name__ == "__main__":
    out = sys.stdout
    import freetype  # noqa: F401  # text in pictures

    import course_lib  # noqa: F401  # where numba is not installed, its names come with it

    done = executed(Path(sys.argv[1]))
    print(json.dumps(done, default=str), file=out)
