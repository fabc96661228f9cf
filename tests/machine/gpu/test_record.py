"""The command that makes a folder of recordings: what it keeps, what it skips and why, whose folder it takes."""

import json
import sys

import pytest
import recorded

from course_lib.machine import measurements
from course_lib.machine.gpu import record
from course_lib.machine.gpu.experiments import EXPERIMENTS
from tools.lab.__main__ import LAB
from tools.report import main as print_tables

ROWS = {experiment.name: experiment for experiment in (*EXPERIMENTS, *LAB)}


def measured(folder, what, gpu="NVIDIA A1"):
    folder.mkdir(exist_ok=True)
    (folder / f"{what}.json").write_text(json.dumps({"what": what, "provenance": {"gpu": gpu}}))


@pytest.mark.parametrize("gpu", measurements.gpus())
def test_every_recording_has_the_row_that_makes_it_again(gpu):
    """Three are made by a tool or a command, and one was made by an experiment that went."""
    assert set(measurements.kinds(gpu)) - set(ROWS) <= {"attempts", "capstone", "instructions", "sanitizer"}
    assert {row.module for row in EXPERIMENTS} == {"course_lib.gpu"}
    assert {row.module for row in LAB} == {"tools.lab"}
    assert len(ROWS) == len(EXPERIMENTS) + len(LAB)


def test_what_is_there_is_kept_and_what_cannot_be_measured_is_skipped_with_its_reason(tmp_path, capsys):
    folder, asked = tmp_path / "nvidia-a1", []
    measured(folder, "ladder")

    def measure(what, folder, repeats):
        asked.append((what, repeats))
        if what == "counters":
            return 0, "a warning\nnothing was measured of counters: requests (needs ncu)\n"
        if what == "tensor":
            return 1, "Traceback\nCudaAPIError: out of memory\n"
        measured(folder, what)
        return int(what == "tiles"), ""

    assert record.record_all(folder, ("ladder", "counters", "tensor", "tiles", "series"), 7, measure) == 1
    assert asked == [("counters", 7), ("tensor", 7), ("tiles", 7), ("series", 7)]
    lines = [line.split(None, 2)[1:] for line in capsys.readouterr().out.splitlines()[:-1]]
    assert dict(lines) == {
        "ladder": "kept, as it was recorded already",
        "counters": "skipped: nothing was measured of counters: requests (needs ncu)",
        "tensor": "skipped: CudaAPIError: out of memory",
        "tiles": "recorded in 0 s, with a WRONG result",
        "series": "recorded in 0 s",
    }


def test_an_interrupted_command_goes_on(tmp_path):
    def stopped(what, folder, repeats):
        if what == "tiles":
            raise KeyboardInterrupt
        measured(folder, what)
        return 0, ""

    def anew(what, folder, repeats):
        assert what == "tiles"
        measured(folder, what)
        return 0, ""

    folder = tmp_path / "nvidia-a1"
    with pytest.raises(KeyboardInterrupt):
        record.record_all(folder, ("ladder", "tiles"), 1, stopped)
    assert record.record_all(folder, ("ladder", "tiles"), 1, anew) == 0


def test_the_folder_of_another_gpu_is_refused(tmp_path, monkeypatch, capsys):
    measured(tmp_path / "nvidia-a1", "ladder")
    monkeypatch.setattr(record, "describe", lambda: {"gpu": "NVIDIA B2"})
    assert record.main(["nvidia-a1", "--output", str(tmp_path)], ROWS, "tools.lab") == 2
    assert "has recordings of an NVIDIA A1, and this is an NVIDIA B2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [([], "required: name"), (["../x"], "no name of a folder"), (["a1", "laddder"], "'laddder' is not recorded")],
)
def test_wrong_input_is_refused_in_a_sentence(arguments, words, capsys):
    with pytest.raises(SystemExit, match="2"):
        record.main(arguments, ROWS, "tools.lab")
    assert words in capsys.readouterr().err


def test_a_measurement_is_a_process_that_writes_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "echo-is-no-python")
    with pytest.raises(FileNotFoundError):
        record.in_a_process("tools.lab", "ladder", tmp_path, 3)


@pytest.mark.parametrize("gpu", recorded.gpus("ladder"))
def test_tables_are_printed_for_every_gpu(gpu, capsys):
    assert print_tables([gpu]) == 0
    assert measurements.load("ladder", gpu).provenance["gpu"] in capsys.readouterr().out


def test_tables_of_a_folder_say_what_it_lacks(tmp_path, capsys):
    measured(tmp_path / "a1", "ladder")
    assert print_tables([str(tmp_path / "a1")]) == 0
    assert "No table of ladder: no recording of counters, ceilings in" in capsys.readouterr().out
    assert print_tables(["nowhere"]) == 2
    said = f"'nowhere' is no folder of recordings; there are {', '.join(measurements.gpus())}"
    assert said in capsys.readouterr().err
