"""How `nbgrader zip_collect` reads the names of files, by the pattern of the configuration."""

import re

import pytest

from course_lib.classroom.teach.command import main


@pytest.fixture(scope="module")
def pattern(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    assert main(["assignment", "04", "--for", "nbgrader", "--out", str(folder)]) == 0
    text = (folder / "nbgrader_config.py").read_text(encoding="utf-8")
    return re.search(r'named_regexp = r"""(.*?)"""', text, re.DOTALL)[1]


NAMES = {
    # Canvas: a name without spaces, LATE, the user's number, the attachment's, the file
    "limaana_12345_998877_04_tiling.ipynb": ("12345", "04_tiling.ipynb"),
    "limaana_LATE_12345_998877_04_tiling-1.ipynb": ("12345", "04_tiling-1.ipynb"),
    "lima_ana_LATE_12345_998877_04_tiling.ipynb": ("12345", "04_tiling.ipynb"),
    "submissions/limaana_12345_998877_04_tiling.ipynb": ("12345", "04_tiling.ipynb"),
    "limaana_12345_998877_work/a/04_tiling.ipynb": ("12345", "04_tiling.ipynb"),
    "anon_x7Fq_998877_04_tiling.ipynb": ("anon_x7Fq", "04_tiling.ipynb"),
    "anon_x7Fq_LATE_998877_04_tiling.ipynb": ("anon_x7Fq", "04_tiling.ipynb"),
    # Moodle: a folder or a file of name, participant, plug-in
    "Ana Lima_12345_assignsubmission_file_/04_tiling.ipynb": ("Ana Lima", "04_tiling.ipynb"),
    "CS101-Lesson 4-5678/Ana Lima_12345_assignsubmission_file_/04_tiling.ipynb": ("Ana Lima", "04_tiling.ipynb"),
    "Ana Lima_12345_assignsubmission_file_04_tiling.ipynb": ("Ana Lima", "04_tiling.ipynb"),
    "Ana Lima_12345_assignsubmission_file_/work/04_tiling.ipynb": ("Ana Lima", "04_tiling.ipynb"),
    "Zoë O'Neil, Jr._5_assignsubmission_file_/my work.ipynb": ("Zoë O'Neil, Jr.", "my work.ipynb"),
    # a folder or a file of each student
    "analima/04_tiling.ipynb": ("analima", "04_tiling.ipynb"),
    "analima/04_tiling/04_tiling.ipynb": ("analima", "04_tiling.ipynb"),
    "Ana Lima.ipynb": ("Ana Lima", "Ana Lima.ipynb"),
    # no submissions
    "analima/.ipynb_checkpoints/04_tiling-checkpoint.ipynb": None,
    "__MACOSX/analima/._04_tiling.ipynb": None,
    "analima/__MACOSX/04_tiling.ipynb": None,
    "analima/notes.txt": None,
}


@pytest.mark.parametrize("name", NAMES)
def test_the_student_and_the_file_are_found(name, pattern):
    found = re.match(pattern, f"/a/course/downloaded/04_tiling/extracted/{name}")
    assert (found and (found["student_id"], found["file_id"])) == NAMES[name]


def test_a_configuration_that_is_there_stays(tmp_path):
    for _ in range(2):
        assert main(["assignment", "04", "--for", "nbgrader", "--out", str(tmp_path)]) == 0
        path = tmp_path / "nbgrader_config.py"
        path.write_text(f"{path.read_text(encoding='utf-8')}# mine\n", encoding="utf-8")
    assert path.read_text(encoding="utf-8").count("c = get_config()") == 1
    assert path.read_text(encoding="utf-8").count("# mine") == 2
