"""What a hub, a container and an editor are given: it names files that are there, and no host that is not."""

import json
import re
import tomllib
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


def test_the_image_names_only_commands_files_and_users_that_it_has():
    """The nightly workflow builds it; here each name is looked up."""
    edition = editions.students({"00"})
    project = tomllib.loads(edition["pyproject.toml"].decode())["project"]
    assert set(re.findall(r"--extra (\w+)", DOCKERFILE)) == {"lab", "compiler"} <= set(project["optional-dependencies"])
    assert re.findall(r"(?m)^RUN (\S+) (\w+)", DOCKERFILE)[-1] == ("tile-by-tile", "open")
    assert "tile-by-tile" in project["scripts"] and "open" in COMMANDS
    assert re.findall(r"compileall -q (\S+)", DOCKERFILE) == ["course_lib"] and "course_lib/__init__.py" in edition
    assert re.findall(r"(?m)^USER (.*)$", DOCKERFILE) == re.findall(r"--uid (\d+)", DOCKERFILE)
    nightly = yaml.safe_load((ROOT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8"))
    ran = " ".join(step.get("run", "") for step in nightly["jobs"]["image"]["steps"])
    executed = set(re.findall(r"(\S+\.ipynb)", ran)) - {"executed.ipynb"}
    assert "docker build -f deploy/Dockerfile" in ran and executed <= {path.name for path in lessons.files()}


def test_no_host_is_named_that_nobody_runs():
    text = (ROOT / "deploy" / "README.md").read_text(encoding="utf-8") + DOCKERFILE + json.dumps(DEVCONTAINER)
    named = {host for host in re.findall(r"(?:https?://|\"image\": \")([^/\s\"?]+)", text) if not host.isupper()}
    assert named <= HOSTS, named
    links = re.findall(r"\]\(([^)#]+)\)", text)
    assert links and all((ROOT / "deploy" / link).exists() for link in links)
