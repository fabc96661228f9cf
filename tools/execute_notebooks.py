"""Run notebooks from top to bottom and store their outputs, so that a second run changes no byte.

    uv run python tools/execute_notebooks.py                          every lesson and solution
    uv run python tools/execute_notebooks.py notebooks/02_naive.ipynb

What differs from run to run is not stored: times, process ids, the ids of live widgets. What stands for a widget, a
picture or a text, a reader sees before running anything.
"""

import argparse
import re
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_output

from course_lib.trace.notebook_outputs import KEY, VIEW

REPOSITORY = Path(__file__).parents[1]
SANITIZE_FILE = REPOSITORY / "tests" / "nbval_sanitize.cfg"
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"},
}


def execute(path: Path, timeout: float = 120) -> None:
    """Run the notebook in its own folder and write it back. Raise CellExecutionError at the first error.

    `timeout` is in seconds, per cell.
    """
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name=METADATA["kernelspec"]["name"],
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
    )
    client.execute()
    mark = {key: value for key, value in notebook.metadata.items() if key == KEY}
    notebook.metadata = nbformat.from_dict(METADATA | mark)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = kept(cell.outputs)
    fold_predictions(notebook)
    fold_answers(notebook)
    nbformat.validate(notebook)
    # newline: the same bytes on every system
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8", newline="\n")


def fold_predictions(notebook) -> None:
    """Fold the source of the cells that predict: what computes the truth would give it away beside the question."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and re.search(r"^predict\(", cell.source, re.MULTILINE):
            cell.metadata.setdefault("jupyter", {})["source_hidden"] = True


def fold_answers(notebook) -> None:
    """Fold the stored outputs that show, further down in its section, what a prediction asks for.

    JupyterLab unfolds an output when its cell is run. Pages and slides show it. In the place of folded outputs
    JupyterLab shows a line of the first one, which may be the answer, so an output of nothing stands before them.
    """
    asked = False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            asked = asked and not re.search(r"^## ", cell.source, re.MULTILINE)
            continue
        jupyter = cell.metadata.pop("jupyter", {})
        jupyter.pop("outputs_hidden", None)
        if re.search(r"^predict\(", cell.source, re.MULTILINE):
            asked = True
        elif asked and cell.outputs and not re.search(r"^(check|explain|score)\(", cell.source, re.MULTILINE):
            jupyter["outputs_hidden"] = True
            cell.outputs = [new_output("display_data"), *kept(cell.outputs)]
        if jupyter:
            cell.metadata["jupyter"] = jupyter


def kept(outputs):
    """Return the outputs as they are stored; one that holds nothing, or only a widget's view, is none."""
    stored = [stable(output) for output in outputs]
    return [output for output in stored if output.get("data") != {}]


def stable(output):
    """Return the output without what only the run that made it could use."""
    if output.output_type == "stream":
        output.text = sanitize(output.text)
    elif "data" in output:
        output.data.pop(VIEW, None)
    return output


def sanitize(text: str) -> str:
    """Apply the replacements that nbval applies before it compares."""
    pairs = re.findall(r"^regex: (.*)\nreplace: (.*)$", SANITIZE_FILE.read_text(encoding="utf-8"), re.MULTILINE)
    for pattern, replacement in pairs:
        text = re.sub(pattern, replacement, text)
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description="Run notebooks in place and store stable outputs.")
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all below notebooks/")
    chosen = parser.parse_args().notebooks
    if not chosen:
        found = sorted((REPOSITORY / "notebooks").rglob("*.ipynb"))
        chosen = [path for path in found if ".ipynb_checkpoints" not in path.parts]
    for path in chosen:
        print(path, flush=True)
        execute(path)


if __name__ == "__main__":
    main()
