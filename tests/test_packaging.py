"""What is installed, and what the files for packagers, citers and continuous integration say."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import yaml
from packaging.specifiers import SpecifierSet
from traitlets.config import Config

import course_lib
from course_lib.__main__ import main
from course_lib.classroom import lab, lessons
from course_lib.exercises import LESSONS
from course_lib.trace.notebook_outputs import VIEW

REPOSITORY = Path(__file__).parents[1]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def page(*parts):
    return REPOSITORY.joinpath(*parts).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def uv():
    path = shutil.which("uv")
    if path is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("uv is not installed")

    def uv(*arguments):
        done = subprocess.run([path, *map(str, arguments)], cwd=REPOSITORY, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr

    return uv


@pytest.fixture(scope="module")
def wheel(uv, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    uv("build", "--wheel", "--quiet", "--out-dir", folder)
    (path,) = folder.glob("*.whl")
    return path


def test_wheel_holds_the_licence_the_types_and_files_of_our_own_name(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    outside = [n for n in names if "/data/" in n and not n.endswith("/")]

    assert "course_lib/py.typed" in names
    assert [n for n in names if n.endswith(".dist-info/licenses/LICENSE")]
    assert {f"course_lib/notebooks/{path.name}" for path in lessons.files()} == {n for n in names if "/notebooks/" in n}
    assert outside and all("tile-by-tile" in n.split("/data/")[1] for n in outside)
    numbered = [n for n in names if re.fullmatch(r"course_lib/notebooks/\d\d_\w+\.ipynb", n)]
    assert len(numbered) == len(LESSONS) == 18 and "course_lib/notebooks/express.ipynb" in names


@pytest.mark.nightly
def test_a_clean_install_of_the_wheel_opens_and_executes_a_lesson(uv, wheel, tmp_path):
    """In an environment of its own, far from the repository."""
    environment, folder = tmp_path / "environment", tmp_path / "lessons"
    uv("venv", "--quiet", environment)
    uv("pip", "install", "--quiet", "--python", environment, f"tile-by-tile[lab,teach] @ {wheel.as_uri()}")
    (programs,) = {
        path.parent for path in environment.rglob("tile-by-tile*") if path.is_file() and path.suffix in ("", ".exe")
    }

    def run(*command):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert f"{len([*lessons.files()])} files copied" in run(programs / "tile-by-tile", "open", folder, "--copy-only")
    lesson = folder / "03_shared_memory.ipynb"
    page = run(programs / "python", "-m", "course_lib", "export", lesson, "--output", tmp_path)
    assert "03_shared_memory.html" in page
    assert "tile-by-tile-state" in (tmp_path / "03_shared_memory.html").read_text(encoding="utf-8")

    (tmp_path / "submitted").mkdir()
    shutil.copy(lesson, tmp_path / "submitted" / "ada.ipynb")
    graded = run(programs / "python", "-m", "course_lib", "teach", "grade", tmp_path / "submitted", "--lesson", "03")
    assert f"1 file, {len(LESSONS['03_shared_memory'])} answers, " in graded and "not yet" in graded


@pytest.fixture
def installed(uv, wheel, tmp_path):
    """Return a function that makes an environment with the wheel, an extra and packages; it returns how to run one."""

    def installed(extra="", *packages):
        environment = tmp_path / "environment"
        uv("venv", "--quiet", environment)
        own = f"tile-by-tile{f'[{extra}]' if extra else ''} @ {wheel.as_uri()}"
        uv("pip", "install", "--quiet", "--python", environment, own, *packages)
        (folder,) = {path.parent for path in environment.glob("*/python*") if path.stem == "python"}

        def run(program, *words, **options):
            found = shutil.which(program, path=folder)
            return subprocess.run(
                [found, *map(str, words)], cwd=tmp_path, capture_output=True, text=True, timeout=300, **options
            )

        return run

    return installed


@pytest.mark.nightly
def test_the_course_needs_neither_jupyterlab_nor_nbconvert(installed):
    """The simulator, the exercises and the widgets run without them; a page says what it needs."""
    run = installed("course")
    code = """
import importlib.util, numpy as np
from course_lib import Stepper, check, simulate
from course_lib.kernels import rung
A = np.ones((4, 4), np.float32)
run = simulate(rung("tiled").make(2), trace=True)[(2, 2), (2, 2)](A, A, C := np.zeros_like(A))
print(C[0, 0], type(Stepper(run)).__name__, *map(importlib.util.find_spec, ("jupyterlab", "nbconvert")))
"""
    done = run("python", "-c", code)
    assert done.stdout == "4.0 Stepper None None\n", done.stderr
    for page, package in {"export": "nbconvert", "site": "nbconvert", "teach slides": "nbclient"}.items():
        told = run("tile-by-tile", *page.split())
        assert told.returncode == 2
        assert f"{page} needs {package}, of the extra teach: pip install " in told.stderr, told.stderr
        assert '"nbconvert<8,>=7.16"' in told.stderr and told.stderr.count("\n") == 1


#: How a program imports what decorates its kernels.
FRONT_ENDS = {
    "numba.cuda": "from numba import cuda, float32",
    "numba_cuda_mlir.cuda": "from numba_cuda_mlir import cuda\nfrom numba_cuda_mlir.types import float32",
}
PROGRAM = """
import sys
import numpy as np

if "without_gpu" in sys.argv:
    import course_lib
    assert course_lib.without_gpu()
{imports}

@cuda.jit("void(float32[:, :], float32[:, :], float32[:, :])")
def product(A, B, C):
    a, b = cuda.shared.array((8, 8), float32), cuda.shared.array((8, 8), dtype=float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for k in range(A.shape[1] // 8):
        a[ty, tx], b[ty, tx] = A[y, 8 * k + tx], B[8 * k + ty, x]
        {barrier}
        for j in range(8):
            total += a[ty, j] * b[j, tx]
        cuda.syncthreads()
    C[y, x] = total

if __name__ == "__main__":
    A, B = np.random.default_rng(0).random((2, 16, 16), np.float32)
    d_A, d_B, d_C = cuda.to_device(A), cuda.to_device(B), cuda.device_array((16, 16), np.float32)
    product[(2, 2), (8, 8), cuda.stream()](d_A, d_B, d_C)
    cuda.current_context().deallocations.clear()
    assert {barrier!r} == "pass" or np.allclose(d_C.copy_to_host(), A @ B)
"""


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("package", "module"),
    [("", ""), ("numba-cuda", "numba.cuda"), ("numba-cuda-mlir", "numba_cuda_mlir.cuda")],
    ids=["NumPy alone", "numba-cuda", "numba-cuda-mlir"],
)
def test_programs_of_every_package(installed, tmp_path, package, module):
    """Whichever is installed: kernels of each are simulated, a race is found; what needs an extra says which one."""
    run = installed("", *filter(None, [package]))
    for name, imports in FRONT_ENDS.items():
        for barrier, status, word in (("cuda.syncthreads()", 0, "RIGHT"), ("pass", 1, "WRONG  race")):
            (tmp_path / "program.py").write_text(PROGRAM.format(imports=imports, barrier=barrier), encoding="utf-8")
            for words in (["program.py"], ["program.py:product", *GIVEN]):
                done = run("tile-by-tile", "profile", *words)
                assert (done.returncode, done.stderr) == (status, ""), (name, done.stderr)
                assert re.search(rf"^product .*{word}", done.stdout, re.MULTILINE), done.stdout

            done = run("tile-by-tile", "run", "program.py")
            assert (done.returncode, " race (" in done.stderr) == (status, bool(status)), (name, done.stderr)
            done = run("python", "program.py", "without_gpu")
            assert (done.returncode, "KernelError: race" in done.stderr) == (status, bool(status)), (name, done.stderr)

    for code, says in NEEDS.items():
        error = run("python", "-c", code).stderr.splitlines()[-1]
        assert says in error and ", of the extra course: pip install " in error and "matplotlib" in error, error
    told = run("tile-by-tile", "profile", "program.py", "--html", "page.html")
    assert told.returncode == 2 and told.stderr.startswith("--html needs anywidget, of the extra course: ")
    if module:
        names = run("python", REPOSITORY / "tests" / "machine" / "programs" / "public_names.py", module)
        assert (names.returncode, names.stdout.strip()) == (0, ""), names


#: A launch of the program's kernel alone.
GIVEN = ["--grid", "2,2", "--block", "8,8", *(f"--array={name}=random:float32:16,16" for name in "ABC")]
#: What needs the course, without numba, and what is said.
NEEDS = {
    "from course_lib import Stepper": "course_lib.Stepper needs anywidget",
    "from course_lib import figures": "course_lib.figures needs matplotlib",
    "from course_lib import check": "course_lib.check needs ",
}


def test_installing_leaves_other_configuration_alone(uv, wheel, tmp_path):
    """Nor does uninstalling take it away."""
    environment = tmp_path / "environment"
    uv("venv", "--quiet", environment)
    somebodys = environment / "etc" / "jupyter" / "jupyter_server_config.py"
    somebodys.parent.mkdir(parents=True)
    somebodys.write_text("c.ServerApp.port = 9999\n", encoding="utf-8")
    own = somebodys.parent / "jupyter_server_config.d" / "tile-by-tile.json"

    uv("pip", "install", "--quiet", "--python", environment, "--no-deps", wheel)
    assert own.is_file()
    assert somebodys.read_text(encoding="utf-8") == "c.ServerApp.port = 9999\n"

    uv("pip", "uninstall", "--quiet", "--python", environment, "tile-by-tile")
    assert not own.exists()
    assert somebodys.read_text(encoding="utf-8") == "c.ServerApp.port = 9999\n"


class Server:
    """As much of a Jupyter server as the extension sees."""

    def __init__(self, **configured):
        self.config = Config(configured)
        self.contents_manager = SimpleNamespace(register_pre_save_hook=lambda hook: self.hooks.append(hook))
        self.hooks = []

    def update_config(self, config):
        self.config.merge(config)


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """The extension adds to it, and it is as it was after each test."""
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "")


def linked(**configured):
    server = Server(**configured)
    lab._link_jupyter_server_extension(server)
    lab._load_jupyter_server_extension(server)
    return server


def test_widgets_keep_their_pictures_in_every_folder(tmp_path, monkeypatch):
    """The server of a hub starts in the user's home: pictures do not depend on the folder, and the rest does."""
    monkeypatch.chdir(tmp_path)
    server = linked(TemplateExporter={"preprocessors": ["another.One"]})

    assert server.config == {"TemplateExporter": {"preprocessors": ["another.One", lab.FALLBACKS]}}
    assert server.hooks == [lab.without_views]
    assert os.environ["JUPYTER_CONFIG_PATH"] == ""


@pytest.mark.parametrize("inside", ["", "notebooks"])
def test_jupyter_opens_the_first_half_hour_where_the_lessons_are(tmp_path, monkeypatch, inside):
    """They are known by their metadata: a folder of notebooks with such names is not the course."""
    lessons.copy(tmp_path / inside)
    first = tmp_path / inside / "00_start_here.ipynb"
    monkeypatch.chdir(tmp_path)
    config = linked().config
    assert config.LabApp.default_url == "/lab/tree/" + first.with_name("express.ipynb").relative_to(tmp_path).as_posix()
    assert "ServerApp" not in config
    settings = Path(os.environ["JUPYTER_CONFIG_PATH"]) / "labconfig" / "default_setting_overrides.json"
    assert "lineNumbers" in settings.read_text(encoding="utf-8")
    first.with_name("express.ipynb").unlink()  # an edition may be without it
    assert linked().config.LabApp.default_url == "/lab/tree/" + first.relative_to(tmp_path).as_posix()

    notebook = json.loads(first.read_text(encoding="utf-8"))
    del notebook["metadata"][lessons.KEY]
    for text in (json.dumps(notebook), "not a notebook", "[]"):
        first.write_text(text, encoding="utf-8")
        assert not {"LabApp", "ServerApp"} & set(linked().config)


def test_every_notebook_says_which_lesson_it_is():
    for path in sorted((REPOSITORY / "notebooks").rglob("[0-9]*.ipynb")):
        mark = {"lesson": path.name[:2]} | ({"solutions": True} if path.parent.name == "solutions" else {})
        assert json.loads(path.read_text(encoding="utf-8"))["metadata"][lessons.KEY] == mark, path


def test_a_copy_never_overwrites_a_file(tmp_path, capsys):
    """It names those that differ from the course's. No lesson links to solutions, which are not copied."""
    yours = tmp_path / "04_tiling.ipynb"
    yours.write_text("mine", encoding="utf-8")

    assert main(["open", str(tmp_path), "--copy-only"]) == 0
    assert "differ from the course's: 04_tiling.ipynb" in capsys.readouterr().out
    assert yours.read_text(encoding="utf-8") == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in lessons.files()}
    assert not any("](solutions" in path.read_text(encoding="utf-8") for path in tmp_path.iterdir())

    assert main(["open", str(yours), "--copy-only"]) == 2
    assert str(yours) in capsys.readouterr().err


def test_the_command_says_what_there_is(capsys):
    assert main([]) == 0
    said = capsys.readouterr().out
    assert f"{len(LESSONS)} lessons" in said and "  4 · Tiling\n" in said


def test_a_notebook_is_saved_without_views_that_nothing_brings_to_life():
    """Those of the course are marked; others, and those whose states are saved, stay."""
    view, picture = {"data": {VIEW: {}}, "metadata": {lessons.KEY: "view"}}, {"data": {"text/html": "<img>"}}
    others = [{"data": {VIEW: {}, "text/plain": "IntSlider()"}, "metadata": {}}, {"data": {VIEW: {}}, "metadata": {}}]

    def saved(**metadata):
        cells = [{"cell_type": "code", "outputs": [picture, view, *others]}, {"cell_type": "markdown"}]
        model = {"type": "notebook", "content": {"cells": cells, "metadata": metadata}}
        lab.without_views(model, path="lesson.ipynb", contents_manager=None)
        return cells[0]["outputs"]

    assert saved() == [picture, *others]
    assert saved(widgets={}) == [picture, view, *others]
    lab.without_views({"type": "file", "content": "text"})


def test_what_the_user_configured_stays(monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "somewhere")
    server = linked(LabApp={"default_url": "/tree"})

    assert server.config.LabApp.default_url == "/tree"
    assert os.environ["JUPYTER_CONFIG_PATH"] == os.pathsep.join(["somewhere", str(lab.SETTINGS)])


def test_the_extension_needs_no_package_of_an_extra():
    """The wheel alone brings NumPy: beside JupyterLab, it must neither break a save nor an export."""
    absent = ["PIL", "anywidget", "ipywidgets", "matplotlib", "numba"]
    for module in (lab.__name__, lab.FALLBACKS.rpartition(".")[0]):
        code = f"import sys; sys.modules |= dict.fromkeys({absent}); import {module}"
        subprocess.run([sys.executable, "-c", code], check=True)


def test_one_version_and_one_licence():
    citation = yaml.safe_load(page("CITATION.cff"))
    latest = re.search(r"^## (\S+)", page("CHANGELOG.md"), re.MULTILINE)

    assert citation["version"] == latest[1] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"] == "BSD-3-Clause"
    assert page("LICENSE").startswith("BSD 3-Clause License\n")
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert "CC-BY-4.0" in page("notebooks", "LICENSE.md")


def workflow(name):
    return yaml.safe_load(page(".github", "workflows", f"{name}.yml"))


def commands(job):
    """What the steps of a job run, in order."""
    return [step["run"] for step in job["steps"] if "run" in step]


def test_every_supported_python_is_checked_on_every_system():
    """All of them at night; at each push everything on Linux, and a small part on each system."""
    check, nightly = workflow("check")["jobs"], workflow("nightly")["jobs"]["matrix"]
    matrix = nightly["strategy"]["matrix"]
    supported = SpecifierSet(PROJECT["requires-python"])
    versions = [f"3.{minor}" for minor in range(30) if f"3.{minor}" in supported]
    listed = [c.rsplit(" ", 1)[1] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]
    smoke = check["smoke"]["strategy"]["matrix"]["include"]

    assert matrix["python"] == versions == listed
    assert {name.split("-")[0] for name in matrix["system"]} == {"ubuntu", "macos", "windows"}
    assert {job["system"] for job in smoke} == set(matrix["system"])
    assert {job["python"] for job in smoke} | {check["check"]["env"]["UV_PYTHON"]} == set(versions)
    for job, script in ((nightly, ".ci/check"), (check["check"], ".ci/check"), (check["smoke"], ".ci/smoke")):
        assert script in commands(job)
    for target in re.findall(r"(?:tests|notebooks)/\S+", page(".ci", "smoke")):
        assert (REPOSITORY / target).is_file(), target


def test_every_test_runs_at_night():
    """The workflow has a time of day, and calls the command that CONTRIBUTING names."""
    nightly, command = workflow("nightly"), "uv run pytest --nightly"

    assert re.fullmatch(r"\d+ \d+ \* \* \*", nightly[True]["schedule"][0]["cron"])  # YAML reads `on` as true
    assert command in commands(nightly["jobs"]["nightly"])
    assert f"`{command}`" in page("CONTRIBUTING.md")


def test_a_release_is_tested_before_it_is_published():
    """The tag is the version, and what runs the clean installation is found by its name."""
    release = workflow("release")
    ran = commands(release["jobs"]["build"])
    version, test, build = (
        next(n for n, run in enumerate(ran) if what in run) for what in ("uv version", "pytest", "uv build")
    )

    assert release[True]["push"]["tags"] == ["v*"]
    assert max(version, test) < build
    assert "--nightly" in ran[test] and "tests/test_packaging.py" in ran[test]
    assert release["jobs"]["publish"]["needs"] == "build"


@pytest.mark.parametrize(
    "path", sorted((REPOSITORY / ".github" / "ISSUE_TEMPLATE").iterdir()), ids=lambda path: path.name
)
def test_an_issue_template_is_a_form(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= form.keys()
    identities = [field["id"] for field in form["body"]]
    assert len(set(identities)) == len(identities)
    assert any(field.get("validations", {}).get("required") for field in form["body"])


def test_hooks_run_what_is_checked():
    """Each hook is a command of .ci/check, but for the options that suit a hook; and none of its linters is missing."""
    hooks = [hook for repo in yaml.safe_load(page(".pre-commit-config.yaml"))["repos"] for hook in repo["hooks"]]
    checks = re.findall(r"^\S+ run (?!pytest)(.*)$", page(".ci", "check"), re.MULTILINE)

    hooked = [re.sub(r" --\S+", "", hook["entry"]).removeprefix("uv run ") for hook in hooks]
    assert hooked == [re.sub(r" --\S+", "", command) for command in checks] != []


@pytest.mark.nightly
def test_the_api_has_pages(tmp_path):
    """Every public name is on the front page with its docstring, or is a module with a page; pdoc warns of nothing."""
    tool = REPOSITORY / "tools" / "build_api.py"
    strict = [sys.executable, "-W", "error::UserWarning"]
    done = subprocess.run([*strict, tool, tmp_path], cwd=REPOSITORY, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    front = (tmp_path / "course_lib.html").read_text(encoding="utf-8")

    assert (tmp_path / "index.html").is_file()
    for name in course_lib.__all__:
        value = getattr(course_lib, name)
        if isinstance(value, ModuleType):
            assert (tmp_path / f"{value.__name__.replace('.', '/')}.html").is_file()
        else:
            assert f'id="{name}"' in front
    own = (tmp_path / "course_lib" / "trace" / "simulate.html").read_text(encoding="utf-8")
    assert "Prepare <code>kernel</code> for a launch" in front and "Prepare <code>kernel</code> for a launch" in own
