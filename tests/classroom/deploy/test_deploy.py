"""What a hub, a container and an editor are given: it names files that are there, and no host that is not."""

import json
import re
import shlex
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import yaml

from course_lib.__main__ import COMMANDS
from course_lib.classroom import lessons
from course_lib.classroom.teach import editions

ROOT = Path(__file__).parents[3]
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
DEVCONTAINER = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
#: Hosts of images.
HOSTS = {"mcr.microsoft.com", "127.0.0.1"}


def test_an_image_is_built_from_the_students_edition():
    """Its context has what the installation reads, and neither tests nor their packages."""
    edition = editions.students({"00"})
    assert {"pyproject.toml", "README.md", "LICENSE", "course_lib/__init__.py"} <= set(edition)
    assert b"lab = [" in edition["pyproject.toml"] and b"pytest" not in edition["environment.yml"]
    assert not any(name.startswith("tests/") for name in edition)
    for command in (DOCKERFILE, DEVCONTAINER["postCreateCommand"]):
        assert "uv sync --no-dev --extra lab" in command


def test_the_image_and_the_editor_have_the_python_of_the_environment():
    (wanted,) = re.findall(r"- python=(\S+)", (ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert f"FROM python:{wanted}-slim" in DOCKERFILE and f":1-{wanted}-" in DEVCONTAINER["image"]


def instructions():
    """(instruction, words) of the Dockerfile, of each command in a RUN; without comments and variables."""
    text = re.sub(r"(?m)^#.*\n", "", DOCKERFILE).replace("\\\n", " ")
    for kind, rest in re.findall(r"(?m)^([A-Z]+) (.*)$", text):
        for part in rest.split(" && ") if kind == "RUN" else [rest]:
            yield kind, json.loads(part) if part[0] == "[" else shlex.split(re.sub(r"^ *[A-Z_]+=\S+ (?=\S)", "", part))


def test_the_image_names_only_commands_files_and_users_that_it_has():
    """Each command is of the base image, of a package that is installed before, or of the course."""
    edition = editions.students({"00"})
    project = tomllib.loads(edition["pyproject.toml"].decode())["project"]
    known, users, files, here = {"pip", "useradd"}, set(), {}, ""
    for kind, words in instructions():
        assert kind not in ("RUN", "CMD") or words[0] in known, words
        match (kind, *words):
            case "WORKDIR", here:
                assert here in ["/opt/course", *files]
            case "COPY", source, target:
                assert (source, target) == (".", ".")  # the whole edition
                files[here] = {*edition, *(name.split("/")[0] for name in edition)}
            case "USER", name:
                assert name in users
            case "ENV", path:
                assert path == "PATH=/opt/course/.venv/bin:$PATH" and "/opt/course" in files
                known |= {*project["scripts"], *(script.name for script in entry_points(group="console_scripts"))}
            case "RUN", "useradd", *options, name:
                users.add(options[options.index("--uid") + 1])  # Kubernetes asks for a number
                files[options[options.index("--home-dir") + 1]] = set()
            case "RUN", "pip", "install", _, package:
                known.add(package)
            case "RUN", "uv", "sync", *options:
                assert options[options.index("--extra") + 1] in project["optional-dependencies"]
                known.add(".venv/bin/python")
            case "RUN", ".venv/bin/python", "-m", "compileall", _, folder:
                assert folder in files[here]
            case "RUN", "tile-by-tile", command, folder, "--copy-only":
                assert command in COMMANDS
                files[f"{here}/{folder}"] = {path.name for path in lessons.files()}
            case _:
                assert kind in ("FROM", "ARG", "EXPOSE", "CMD") or words[:3] == ["uv", "pip", "install"], words
    steps = yaml.safe_load((ROOT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8"))["jobs"][
        "image"
    ]
    for run in (shlex.split(step["run"]) for step in steps["steps"] if "docker run" in step.get("run", "")):
        assert run[run.index("tile-by-tile") + 1] in known
        assert {word for word in run if word.endswith(".ipynb")} - {"executed.ipynb"} <= files[here]


def test_no_host_is_named_that_nobody_runs():
    text = (ROOT / "deploy" / "README.md").read_text(encoding="utf-8") + DOCKERFILE + json.dumps(DEVCONTAINER)
    named = {host for host in re.findall(r"(?:https?://|\"image\": \")([^/\s\"?]+)", text) if not host.isupper()}
    assert named <= HOSTS, named
    links = re.findall(r"\]\(([^)#]+)\)", text)
    assert links and all((ROOT / "deploy" / link).exists() for link in links)
