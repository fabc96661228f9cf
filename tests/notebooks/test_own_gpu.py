"""The lesson on speed tests where there is a GPU, or recordings of another one: simulated here, cell by cell."""

import copy
import json
import types
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from course_lib.machine import measurements

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
LESSON = nbformat.read(NOTEBOOKS / "12_speed_tests.ipynb", 4)
RECORDINGS = ("series", "mistake", "ceilings")


def slower(recording, without=()):
    """The recording as another GPU could have made it: a third of the speed, and without some of the rungs."""
    changed = copy.deepcopy(vars(recording))
    changed["provenance"] |= {"gpu": "Another GPU", "multiprocessors": 40}
    changed["results"] = [result for result in changed["results"] if result.get("rung") not in without]
    for result in changed["results"]:
        for key in [key for key in result if key.endswith("milliseconds")]:
            result[key] = [3 * repeat for repeat in result[key]]
        for key in ("gflops", "flop_per_second", "bytes_per_second"):
            if key in result:
                result[key] /= 3
    return changed


@pytest.mark.nightly
@pytest.mark.parametrize("without", [(), ("cublas",)], ids=["all", "no PyTorch, so no cuBLAS"])
def test_the_lesson_is_redrawn_from_recordings_of_ones_own(tmp_path, without):
    for what in RECORDINGS:
        text = json.dumps(slower(measurements.load(what), without))
        (tmp_path / f"{what}.json").write_text(text, encoding="utf-8")
    lesson = copy.deepcopy(LESSON)
    (imports,) = (cell for cell in lesson.cells if cell.id == "imports")
    assert 'GPU = "nvidia-h200"' in imports.source
    imports.source = imports.source.replace('"nvidia-h200"', repr(str(tmp_path)))
    NotebookClient(
        lesson, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(NOTEBOOKS)}}
    ).execute()

    said = {cell.id: json.dumps(cell.get("outputs", []), ensure_ascii=False) for cell in lesson.cells}
    assert "Time of one product on an Another GPU" in said["times-picture"]
    assert "the limit of an Another GPU, measured with multiply-adds alone: 21.1 TFLOP/s" in said["implied"]
    assert "on the GPU's 40 multiprocessors" in said["predict-small"]
    assert ("answer: none of them" if without else "answer: 2048") in said["predict-crossing"]
    assert "H200" not in "".join(text for name, text in said.items() if name not in ("predict-crossing", "provenance"))


def test_a_folder_of_ones_own_is_loaded_by_its_path(tmp_path):
    (tmp_path / "series.json").write_text(json.dumps(vars(measurements.load("series"))), encoding="utf-8")
    assert measurements.load("series", str(tmp_path)) == measurements.load("series")
    assert measurements.kinds(str(tmp_path)) == ("series",)
    with pytest.raises(FileNotFoundError, match="no recording of 'ladder' in .*it has series"):
        measurements.load("ladder", str(tmp_path))


class Queue:
    """As much of numba.cuda as the cell uses: a GPU whose kernels take 5 ms, and whose clock only the queue moves."""

    def __init__(self):
        self.now, self.done, self.product = 0.0, [], None

    def is_available(self):
        return True

    def to_device(self, array):
        return types.SimpleNamespace(array=array, copy_to_host=lambda: array)

    def event(self):
        event = types.SimpleNamespace(at=None)
        event.record = lambda: (self.done.append("event"), setattr(event, "at", self.now))
        event.synchronize = lambda: self.done.append("wait")
        return event

    def synchronize(self):
        self.done.append("wait")

    def event_elapsed_time(self, before, after):
        return after.at - before.at

    def __getitem__(self, configuration):
        def launch(A, B, C):
            self.done.append("launch")
            self.now += 5.0
            if self.product is None:  # the matrices are always the same
                self.product = A.array @ B.array
            C.array[:] = self.product

        return launch


def test_with_a_gpu_all_launches_wait_in_the_queue(capsys):
    """Two warm-ups, then nine launches with an event after each and no wait in between; the result is compared."""
    (source,) = (cell.source for cell in LESSON.cells if cell.id == "gpu-measure")
    gpu, median = Queue(), np.median
    naive = types.SimpleNamespace(make=lambda: gpu, launch=lambda M, N, K: ((64, 64), (32, 32)))
    names = {"cuda": gpu, "np": np, "median": median, "rung": lambda name: naive, "gpu_name": "-"}
    exec(compile(source, "gpu-measure", "exec"), names)
    assert capsys.readouterr().out == "naive, n = 2048: 5.000 ms, from 5.000 to 5.000\n"
    assert gpu.done == ["launch", "launch", "wait", "event", *["launch", "event"] * 9, "wait"]
