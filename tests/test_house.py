"""The house rules: who imports whom, what tests may wait for, and what may lie in the repository."""

import ast
import importlib
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import nbformat
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

REPOSITORY = Path(__file__).parents[1]
PACKAGE = REPOSITORY / "course_lib"
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))

# Arrows point one way: a room of course_lib may import the rooms named here, itself, and `lazy`.
MAY_IMPORT = {
    "kernels": set(),
    "simulator": set(),
    "trace": {"kernels", "simulator"},
    "machine": {"kernels", "simulator", "trace"},
    "exercises": {"kernels", "simulator", "trace", "machine"},
    "classroom": {"kernels", "simulator", "trace", "machine", "exercises"},
    # The files beside the rooms; one of them is a command of the command line.
    "root": {"kernels", "simulator", "trace", "machine", "exercises", "classroom", "__main__"},
}
# The same inside the simulator: a part of it, a folder, may import the parts named here, itself, and the files beside
# them. Tables know no translation, and the nodes of the typed program no table.
PARTS = {
    "language.source": set(),
    "language.types": {"language.source"},
    "language.tables": {"language.source", "language.types"},
    "language.program": {"language.source", "language.types", "runtime"},
    "language.translation": {"language.source", "language.types", "language.tables", "language.program", "runtime"},
    "runtime": set(),
    "compile": {"language.source", "language.types", "language.program", "language.translation", "runtime"},
    "launch": {"language.source", "language.types", "language.tables", "language.program", "compile", "runtime"},
    "counters": {"runtime"},
    "checks": {"language.source", "language.types", "compile", "launch", "runtime"},
    "repairs": set(),
}
# The same inside of machine, also of the files beside its folders: `gpu` reads machine code, and nothing below it asks
# a GPU.
MACHINE_PARTS = {
    "measurements": set(),
    "model": set(),
    "patched_attributes": set(),
    "simulated_launch": set(),
    "figures": {"measurements", "model"},
    "machine_code": {"measurements", "patched_attributes", "simulated_launch"},
    "sliders": {"figures", "model"},
    "programs": {"machine_code", "measurements", "patched_attributes", "simulated_launch"},
    "gpu": {"machine_code", "measurements", "model"},
    "record_machine_code": {"gpu", "machine_code", "measurements", "patched_attributes"},
    "language_tabs": {"gpu"},
    "timing_model": {"figures", "gpu", "machine_code", "measurements", "model"},
    "profile": {
        "machine_code",
        "measurements",
        "patched_attributes",
        "programs",
        "simulated_launch",
        "timing_model",
    },
}
# Parts that must start fast, or be readable without a framework, import these packages and no others.
THIRD_PARTY = {
    "simulator": {"numpy"},
    "trace": {"numpy"},
    "trace.png": {"numpy", "PIL"},
    "trace.figures": None,
    "trace.viewer": None,
    "machine.model": {"numpy"},
    "machine.measurements": {"numpy", "matplotlib"},
    "machine.programs": {"numpy", "numba"},  # numba where a program has it
    "machine.programs.startup": {"sitecustomize"},  # the user's own
    "machine.programs.start": set(),  # each process of a program starts with it
    "kernels": {"numpy", "numba"},
    "kernels.llvm": {"numba", "llvmlite"},  # llvmlite: numba's own layer, for instructions that Python cannot say
    "classroom.lab": set(),  # a Jupyter server starts with it
    "classroom.lessons": set(),
    "root": {"course_lib"},
}


def room_of(path, package):
    """Return the room in which a module is."""
    room = path.relative_to(package).parts[0]
    return room if room in MAY_IMPORT else "root"


def row_of(table, path, package):
    """Return the row of the closest part that a table names, of a module; None if it names none."""
    parts = path.relative_to(package).with_suffix("").parts
    names = [".".join(parts[:n]) for n in range(len(parts), 0, -1)] + [room_of(path, package)]
    return next((table[name] for name in names if name in table), None)


@cache
def syntax_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports_of(path, package):
    """Return the absolute names that a module imports, at any depth; `package` is the folder of course_lib.

    A module whose name is a text in a call of `import_module` is one of them.
    """
    parents = ("course_lib", *path.relative_to(package).parts[:-1])
    names = set()
    for node in ast.walk(syntax_of(path)):
        match node:
            case ast.Call(ast.Name("import_module"), [ast.Constant(str(name)), *_]) if not name.startswith("."):
                names.add(name)
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = parents[: len(parents) - node.level + 1] if node.level else ()
            module = ".".join([*start, *filter(None, [node.module])])
            names |= {f"{module}.{alias.name}" for alias in node.names}
    return names


def wrong_imports(package):
    """Return one line for each import that points against the arrows, or takes a name that another module keeps."""
    wrong = []
    for path in sorted(package.rglob("*.py")):
        room, known = room_of(path, package), row_of(THIRD_PARTY, path, package)
        may = MAY_IMPORT[room] | {room, "lazy"}
        for name in sorted(imports_of(path, package)):
            top, *rest = name.split(".")
            if top == "course_lib":
                public = not rest or not rest[-1].startswith("_") or rest[-1].endswith("__")
                allowed = public and (rest[0] in may if rest else room == "root")
            else:
                allowed = known is None or top in known or top in sys.stdlib_module_names
            if not allowed:
                wrong.append(f"{path.relative_to(package).as_posix()}: {name}")
    return wrong


def test_imports_follow_the_arrows():
    """Six rooms; a folder beside them has no row, and may import nothing."""
    rooms = {path.parent.name for path in PACKAGE.glob("*/*.py")}
    loose = {path.name for path in PACKAGE.glob("*.py")}

    assert rooms == set(MAY_IMPORT) - {"root"}
    assert loose == {"__init__.py", "__main__.py", "gpu.py", "lazy.py"}
    assert wrong_imports(PACKAGE) == []


def part_of(name, parts=PARTS):
    """Return the row of `parts` for a module of a room, whose name begins with that of its part."""
    return next((part for part in parts if f"{name}.".startswith(f"{part}.")), None)


def wrong_parts(room, parts=PARTS):
    """Return one line for each import of a part of a room that points against the arrows between the parts."""
    wrong = []
    for path in sorted(room.rglob("*.py")):
        part = part_of(".".join(path.relative_to(room).with_suffix("").parts), parts)
        for name in sorted(imports_of(path, room.parent)) if part else ():
            inside = name.removeprefix(f"course_lib.{room.name}.")
            other = part_of(inside, parts) if inside != name else None
            if other not in {None, part, *parts[part]}:
                wrong.append(f"{path.relative_to(room).as_posix()}: {other}")
    return wrong


def test_parts_of_the_simulator_follow_the_arrows(tmp_path):
    """Every folder of it with modules has a row, or only folders that have one."""
    simulator = PACKAGE / "simulator"
    modules = [path.relative_to(simulator).with_suffix("").parts for path in simulator.glob("*/**/*.py")]
    rooms = {part_of(".".join(parts)) for parts in modules if parts != ("language", "__init__")}

    assert rooms == set(PARTS)
    assert wrong_parts(simulator) == []

    nodes = tmp_path / "simulator" / "language" / "program" / "nodes.py"
    nodes.parent.mkdir(parents=True)
    nodes.write_text(
        "from ..tables.operators import BINARY_OPERATORS\n"
        "from ..types import typing_rules\n"
        "from ...launch import engine\n"
    )
    assert wrong_parts(tmp_path / "simulator") == [
        "language/program/nodes.py: language.tables",
        "language/program/nodes.py: launch",
    ]


def test_parts_of_machine_follow_the_arrows(tmp_path):
    """Each of its folders and files has a row, and no rows form a circle."""
    machine = PACKAGE / "machine"
    parts = {path.relative_to(machine).with_suffix("").parts[0] for path in machine.rglob("*.py")}

    assert parts - {"__init__"} == set(MACHINE_PARTS)
    assert wrong_parts(machine, MACHINE_PARTS) == []
    TopologicalSorter(MACHINE_PARTS).prepare()  # raises where rows form a circle

    command = tmp_path / "machine" / "machine_code" / "command.py"
    command.parent.mkdir(parents=True)
    command.write_text("from ..gpu.capstone import recorded\nfrom .. import measurements\n")
    assert wrong_parts(tmp_path / "machine", MACHINE_PARTS) == ["machine_code/command.py: gpu"]


def test_every_module_is_there():
    """mypy passes over packages that are not installed, and so over a module of ours that is not there."""
    missing = [
        f"{path.relative_to(PACKAGE).as_posix()}: {name}"
        for path in PACKAGE.rglob("*.py")
        for name in imports_of(path, PACKAGE)
        if name.startswith("course_lib.")
        and not any(
            (file / "__init__.py").exists() or file.with_suffix(".py").exists()
            for file in (REPOSITORY.joinpath(*name.split(".")), REPOSITORY.joinpath(*name.split(".")[:-1]))
        )
    ]

    assert missing == []


def test_lessons_import_by_few_doors():
    """A reader of the lessons learns three names, not the folders behind them."""
    doors = {"course_lib", "course_lib.kernels", "course_lib.machine.timing_model"}
    found = set()
    for path in LESSONS:
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code":
                found |= set(re.findall(r"^\s*(?:from|import) (course_lib[\w.]*)", cell.source, flags=re.MULTILINE))

    assert found and found <= doors


@pytest.mark.parametrize(
    "package", ["course_lib", "course_lib.machine.gpu", "course_lib.machine.timing_model", "course_lib.trace.viewer"]
)
def test_late_names_are_there(package):
    """Each name that a package offers, and imports when it is asked for, is the one that type checkers see."""
    module = importlib.import_module(package)
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    seen = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module != "typing" and node.module != "lazy"
        for alias in node.names
    }

    assert seen == set(module.__all__)
    assert all(getattr(module, name) is not None for name in module.__all__)
    with pytest.raises(AttributeError, match="no attribute 'anything'"):
        _ = module.anything


def circle(package):
    """Return modules that import each other in a circle, in a function or for types too; None where there are none."""
    names = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package).with_suffix("").parts
        names[".".join(["course_lib", *parts]).removesuffix(".__init__")] = path
    stands_on = {}
    for name, path in names.items():
        stands_on[name] = {
            known
            for wanted in imports_of(path, package)
            if (known := wanted if wanted in names else wanted.rpartition(".")[0]) in names and known != name
        }
    order = TopologicalSorter(stands_on)
    try:
        order.prepare()
    except CycleError as error:
        return " -> ".join(error.args[1])
    return None


def test_no_modules_import_each_other(tmp_path):
    """A reader can begin with a module that stands on nothing, and go on in order."""
    (tmp_path / "rooms").mkdir()
    (tmp_path / "rooms" / "one.py").write_text("if TYPE_CHECKING:\n    from .two import Two\n", encoding="utf-8")
    (tmp_path / "rooms" / "two.py").write_text("from . import one\n", encoding="utf-8")

    assert set(circle(tmp_path).split(" -> ")) == {"course_lib.rooms.one", "course_lib.rooms.two"}
    late = 'from importlib import import_module\nimport_module("course_lib.rooms.one")\n'
    (tmp_path / "rooms" / "three.py").write_text(late, encoding="utf-8")
    (tmp_path / "rooms" / "one.py").write_text("from . import three\n", encoding="utf-8")
    imports_of.cache_clear()
    syntax_of.cache_clear()
    assert set(circle(tmp_path).split(" -> ")) == {"course_lib.rooms.one", "course_lib.rooms.three"}
    assert circle(PACKAGE) is None


def test_import_scan_sees_every_form(tmp_path):
    """Absolute, relative and late imports, a package hidden in a function and a private name are all found."""
    simulator = tmp_path / "simulator"
    simulator.mkdir()
    (simulator / "memory.py").write_text(
        "import numpy as np, json\n"
        "from . import geometry\n"
        "from .geometry import Grid\n"
        "from ..kernels import tiled\n"
        "from .. import trace\n"
        "import course_lib.machine.figures\n"
        "from .geometry import _keep\n"
        "def late():\n"
        "    from numba import cuda\n",
        encoding="utf-8",
    )

    assert wrong_imports(tmp_path) == [
        "simulator/memory.py: course_lib.kernels.tiled",
        "simulator/memory.py: course_lib.machine.figures",
        "simulator/memory.py: course_lib.simulator.geometry._keep",
        "simulator/memory.py: course_lib.trace",
        "simulator/memory.py: numba.cuda",
    ]


def test_classes_do_not_share_names():
    """Who searches for a class finds one: no two modules give the same name to different things."""
    homes = {}
    for path in PACKAGE.rglob("*.py"):
        for node in syntax_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(path.relative_to(PACKAGE).as_posix())

    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_no_text_that_was_written_from_a_tree_is_read_as_code():
    """`ast.unparse` may write another program than the tree: the text of an f-string can become an expression."""
    readers = {"parse", "compile", "exec", "eval", "literal_eval"}

    def name_of(call):
        return getattr(call.func, "attr", getattr(call.func, "id", ""))

    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        calls = [node for node in ast.walk(syntax_of(path)) if isinstance(node, ast.Call)]
        assigned = [node for node in ast.walk(syntax_of(path)) if isinstance(node, ast.Assign)]
        written = {node for node in calls if name_of(node) == "unparse"}
        names = {t.id for n in assigned if written & {*ast.walk(n.value)} for t in n.targets if isinstance(t, ast.Name)}
        for call in calls:
            given = {part for argument in call.args for part in ast.walk(argument)}
            text = any(isinstance(part, ast.Name) and part.id in names for part in given)
            if name_of(call) in readers and (written & given or text):
                found.append(f"{path.relative_to(PACKAGE)}:{call.lineno}")
    assert found == []


def test_slow_packages_are_not_imported():
    """numba costs most of a second; only the kernels and the GPU need it, and only pictures need matplotlib."""
    parts = ", ".join(f"course_lib.{name}" for name in ("machine.model", "machine.measurements", "classroom.lab"))
    slow = "{'numba', 'matplotlib', 'IPython'}"
    code = f"import {parts}, sys; print({slow} & sys.modules.keys())"
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    assert subprocess.check_output([sys.executable, "-c", code], env=alone, text=True, timeout=120) == "set()\n"


#: Clocks and fixed waits. A fixture may poll, and may set a deadline.
CLOCK = r"perf_counter|process_time|performance\.now|wait_for_timeout"
TIMED = {"test_*.py": rf"{CLOCK}|setTimeout|\bsleep\(|\btime\.time\b", "conftest.py": CLOCK}


def test_no_test_measures_time():
    """Nor does a test wait a fixed time; benchmarks do both."""
    found = [
        f"{path.relative_to(REPOSITORY).as_posix()}: {match}"
        for name, pattern in TIMED.items()
        for path in sorted((REPOSITORY / "tests").rglob(name))
        if path != Path(__file__)
        for match in re.findall(pattern, path.read_text(encoding="utf-8"))
    ]

    assert found == []


@pytest.mark.parametrize("path", sorted((REPOSITORY / "tests" / "benchmarks").glob("bench_*.py")), ids=lambda p: p.stem)
def test_benchmarks_find_what_they_import(path):
    """Nothing else in CI loads them."""
    importlib.import_module(f"benchmarks.{path.stem}")


def test_environments_agree():
    """conda gets the packages and the ranges that uv gets, and a Python that the project supports."""
    project, (own, *tools) = PROJECT["project"], PROJECT["dependency-groups"]["dev"]
    assert own == "tile-by-tile[lab,teach]"
    extras = [package for extra in ("course", "lab", "teach") for package in project["optional-dependencies"][extra]]
    expected = [package for package in extras if not package.startswith(project["name"])] + tools
    environment = yaml.safe_load((REPOSITORY / "environment.yml").read_text(encoding="utf-8"))
    plain = [entry for entry in environment["dependencies"] if isinstance(entry, str)]
    (from_pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    (python_pin,) = [entry for entry in plain if entry.startswith("python=")]

    assert "-e ." in from_pip
    assert "pip" in plain
    listed = [entry for entry in plain + from_pip if entry not in (python_pin, "pip", "-e .")]
    forms = [{(one.name.lower(), str(one.specifier)) for one in map(Requirement, rows)} for rows in (expected, listed)]
    assert forms[0] == forms[1]
    supported = SpecifierSet(PROJECT["project"]["requires-python"])
    assert Version(python_pin.removeprefix("python=")) in supported
    binder = yaml.safe_load((REPOSITORY / "binder" / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    own_tools = {Requirement(tool).name for tool in tools}
    needed = {entry for entry in plain if Requirement(entry.split("=")[0].rstrip("<>")).name not in own_tools}
    assert binder[:2] == [python_pin, "pip"] and set(binder) == needed, "binder/ has what the tests do not need"


@pytest.fixture(scope="module")
def tracked():
    """The files that git tracks."""
    command = ["git", "-c", f"safe.directory={REPOSITORY.as_posix()}", "ls-files", "-z"]
    try:
        listing = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        refuse = pytest.fail if os.environ.get("CI") else pytest.skip
        refuse("this copy of the course is not a git checkout")
    return [REPOSITORY / name for name in listing.split("\0") if name and (REPOSITORY / name).is_file()]


def test_no_lock_files(tracked):
    """Lock files list the hosts of package registries, which differ from place to place."""
    lock = re.compile(r"(.*\.lock|pylock.*\.toml|.*-lock\.(json|ya?ml)|Pipfile\.lock)")

    assert [path.name for path in tracked if lock.fullmatch(path.name)] == []


MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|root|Users|work|workspace)/\w|[A-Z]:\\{1,2}Users\\|site-packages[/]")


def test_no_machine_paths(tracked):
    """A path of one person's machine means that something was not written for everyone."""
    found = []
    for path in tracked:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:  # a picture
            continue
        found += [f"{path.name}: {match}" for match in MACHINE_PATH.findall(text)]

    assert found == []


PAGES = sorted([*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")])
PAGES.remove(REPOSITORY / "docs" / "teach" / "students.md")  # becomes README.md of an edition


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    """Every relative link and picture of the page is a file of the repository."""
    prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)#]+)", prose)
    relative = [link for link in links if "://" not in link]

    assert [link for link in relative if not (page.parent / link).exists()] == []


LESSONS = sorted(path for path in (REPOSITORY / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)


def faults_of(notebook):
    """Return what would make a notebook pass its comparison by not being compared, or differ on every machine."""
    faults = []
    runs = 0
    for number, cell in enumerate(notebook.cells):
        tags = cell.metadata.get("tags", [])
        if "execution" in cell.metadata:
            faults.append(f"cell {number} stores times")
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        runs += 1
        if cell.execution_count != runs:  # nbval compares nothing where this is null
            faults.append(f"cell {number} was not run in order")
        if "nbval-skip" in tags or "NBVAL_SKIP" in cell.source:
            faults.append(f"cell {number} is skipped")
        ignored = "nbval-ignore-output" in tags or "NBVAL_IGNORE_OUTPUT" in cell.source
        if ignored and "gpu" not in tags:
            faults.append(f"cell {number} hides its output, and no tag says that it depends on a GPU")
        expected_error = "raises-exception" in tags
        for output in cell.outputs:
            if output.output_type == "error" and not expected_error:
                faults.append(f"cell {number} shows an error")
            if MACHINE_PATH.search(str(output)):
                faults.append(f"cell {number} shows a path of one machine")
    if "widgets" in notebook.metadata:
        faults.append("widget state is stored")
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        faults.append("the kernel is not python3")
    return faults


def test_lessons_are_found():
    """Without this, an empty folder would pass every test of the notebooks."""
    assert {"02_naive.ipynb", "04_tiling.ipynb"} <= {path.name for path in LESSONS}


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_notebook_is_faultless(path):
    """A lesson is stored executed, from top to bottom, as tools/execute_notebooks.py leaves it."""
    notebook = nbformat.read(path, as_version=4)

    nbformat.validate(notebook)
    assert faults_of(notebook) == []


def code_cell(run, *, tags=(), outputs=(), **metadata):
    return nbformat.v4.new_code_cell(
        "1 / 2", execution_count=run, metadata={"tags": list(tags), **metadata}, outputs=list(outputs)
    )


def test_faults_are_seen():
    """Each of them, and nothing in the cells that are right."""
    new_output = nbformat.v4.new_output
    error = new_output("error", ename="ValueError", evalue="no", traceback=[])
    folder = "/" + "home/ann/course"
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell("# Title"),
            code_cell(1),
            code_cell(2, tags=["raises-exception"], outputs=[error]),
            code_cell(3, tags=["gpu", "nbval-ignore-output"]),
            code_cell(None),
            code_cell(5, tags=["nbval-skip"]),
            code_cell(6, tags=["nbval-ignore-output"]),
            code_cell(7, outputs=[error]),
            code_cell(8, outputs=[new_output("stream", text=folder)]),
            code_cell(9, execution={"iopub.status.busy": "2026-01-01T00:00:00Z"}),
        ],
        metadata={"widgets": {}},
    )

    assert faults_of(notebook) == [
        "cell 4 was not run in order",
        "cell 5 is skipped",
        "cell 6 hides its output, and no tag says that it depends on a GPU",
        "cell 7 shows an error",
        "cell 8 shows a path of one machine",
        "cell 9 stores times",
        "widget state is stored",
        "the kernel is not python3",
    ]
