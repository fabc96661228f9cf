"""The laboratory's tables beside the recordings that they made; its kernels compile where NVVM is installed."""

from dataclasses import replace
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
import recorded

from course_lib import simulate
from course_lib.machine import measurements
from course_lib.machine.gpu.experiments import Wanted
from course_lib.machine.model.multiprocessor import Multiprocessor
from tools.lab import answers, kernels, patterns, probes, tensor, wgmma
from tools.lab.__main__ import main


@pytest.fixture
def no_gpu(monkeypatch):
    """Arrays of NumPy in place of a GPU's: enough for the arguments of launches."""
    monkeypatch.setattr(probes, "require", lambda: SimpleNamespace(to_device=lambda array: array))


@pytest.mark.parametrize("gpu", recorded.gpus("latencies"))
def test_a_row_explains_the_recorded_value(gpu):
    """Each row of the probes' table was recorded once, and its value follows from its cycles by the row's `per`."""
    recorded = measurements.load("latencies", gpu).results
    for rows in probes.TABLE:
        for probe in rows():
            (result,) = (r for r in recorded if r["probe"] == probe.name and r.items() >= probe.about.items())
            cycles = np.median(result["cycles"])
            value = probe.per / cycles if probe.rate else cycles / probe.per
            assert (result["value"], result["unit"]) == (pytest.approx(value), probe.unit), (probe.name, probe.about)


@pytest.mark.parametrize("version", [v for v in answers.versions() if not v.empty], ids=str)
def test_what_an_answer_is_compared_with_is_right(version):
    shape = answers.sizes_verified(version)[0]
    inputs, want = answers._values(version.exercise, shape)
    got = np.full(want.shape, np.nan, np.float32)
    simulate(version.compiled())[version.launch(shape)](*inputs, got)
    assert np.array_equal(got, want)


def test_a_recorded_version_of_an_answer_is_one_of_the_table_in_the_launch_of_today():
    results = measurements.load("answers").results
    recorded = [{key: r[key] for key in ("exercise", "params")} for r in results]
    versions = [version for version in answers.versions() if version.about in recorded]
    assert [version.about for version in versions] == recorded
    for result, version in zip(results, versions, strict=True):
        assert (tuple(result["grid"]), tuple(result["block"])) == version.launch(version.shape), str(version)
        assert result["median"] == np.median(result["milliseconds"]), str(version)


def test_the_model_reads_only_what_is_measured():
    """From the table's probes, and from those of several launches that it needs, follows the same machine."""
    several = ("L1 latency", "L2 latency", "L2 latency by line", "L2 bandwidth", "shared reads and barriers")
    cold = ("DRAM latency", "DRAM latency of rows", "DRAM latency of runs", "DRAM neighbours", "DRAM bandwidth")
    names = {*several, *cold, *(probe.name for rows in probes.TABLE for probe in rows())}
    latencies = measurements.load("latencies")
    kept = replace(latencies, results=[r for r in latencies.results if r["probe"] in names])
    assert Multiprocessor.measured(kept) == Multiprocessor.measured(latencies)


def test_an_unknown_part_is_named():
    with pytest.raises(ValueError, match="'lattices' is no part of the latencies; there are arithmetic, requests"):
        probes.latencies("lattices", 3)


def test_the_command_says_that_there_is_no_gpu(monkeypatch, capsys):
    monkeypatch.setattr("course_lib.machine.gpu.device.available", lambda: False)
    assert main(["latencies", "residency"]) == 2
    assert capsys.readouterr().err.startswith("No CUDA GPU was found")


def test_the_loops_of_a_kernel_are_written_with_their_labels(monkeypatch):
    """From the target of a backward branch to that branch: cycles, counters and text of every instruction."""

    def line(place, text, upper):
        return f"        /*{place:04x}*/   {text} ;   /* 0x{0:016x} */\n      /* 0x{upper << 41:016x} */\n"

    plain = 1 | 7 << 5 | 7 << 8
    listing = line(0, "S2R R0, SR_TID.X", plain) + ".L_x_1:\n" + line(16, "FFMA R1, R2, R3, R1", plain + 3)
    listing += line(32, "LDG.E R4, [R6.64]", 4 | 1 << 5 | 0 << 8 | 0b100100 << 11)
    listing += line(48, "@P0 BRA `(.L_x_1)", plain + 4) + line(64, "EXIT", plain)
    monkeypatch.setattr(probes, "disassembled", lambda cubin: listing)
    library = SimpleNamespace(get_cubin=lambda: SimpleNamespace(code=b""))
    code = probes.with_code(SimpleNamespace(overloads={(): SimpleNamespace(_codelibrary=library)}))["code"]
    assert code[0] == ".L_x_1:" and code[1:] == [
        "4 - - -  FFMA R1, R2, R3, R1",
        "4 1 0 25  LDG.E R4, [R6.64]",
        "5 - - -  @P0 BRA `(.L_x_1)",
    ]


@pytest.mark.parametrize("gpu", recorded.gpus("tensor"))
def test_tensor_cores_are_measured_in_the_recorded_order(gpu):
    """The instructions bit by bit, their rates, then rungs and cuBLAS of each size."""
    recorded = measurements.load("tensor", gpu).results
    names = [r.get("instruction") or f"{'cuBLAS' if r['rung'] == 'cublas' else r['rung']} {r['M']}" for r in recorded]
    cases = [step.name.split(" {")[0] for step in tensor.cases(Wanted())]
    assert list(dict.fromkeys(names)) == list(dict.fromkeys(cases))


def test_what_inputs_change_is_recorded_for_each_distribution():
    recorded = [r["inputs"] for r in measurements.load("wgmma").results if "inputs" in r]
    assert list(dict.fromkeys(recorded)) == list(wgmma.DISTRIBUTIONS)


@pytest.mark.nightly
@pytest.mark.skipif(find_spec("numba_cuda") is None, reason="NVVM comes with the extras cu12 and cu13")
def test_every_probe_and_pattern_compiles(no_gpu, monkeypatch):
    """To PTX for compute capability 9.0, for the types of its launch; device functions ask the GPU which it is."""
    import numba
    from numba import cuda
    from numba.cuda import dispatcher

    monkeypatch.setattr(dispatcher, "get_current_device", lambda: SimpleNamespace(compute_capability=(9, 0)))
    floats, integers, words = (np.zeros(1024, dtype) for dtype in (np.float32, np.int64, np.uint32))
    clocks, start = np.zeros((2, 1, 32), np.int64), np.int64(1)
    launches = [
        (kernels.chase, (start, 8, 16, 2, integers, clocks)),
        (kernels.chase_by_step, (start, 16, np.zeros(16, np.int64))),
        (kernels.wait_for_rows(4), (5, 6, 7, words, clocks)),
        (kernels.wait_for_rows(4, kernels.load_words, 16, 128), (5, 6, 7, words, clocks)),
        (kernels.read_past_l1, (start, 2, 3, integers, clocks)),
        (kernels.read_rows, (np.ones((8, 4), np.float32), 1, floats, clocks)),
        (kernels.reads_and_barriers(2), (5, floats, clocks)),
        (kernels.compete, (np.float32(0.5), 5, floats, clocks)),
        (kernels.reads_and_barriers(0), (5, floats, clocks)),
    ]
    for rows in probes.TABLE:
        for probe in rows():
            arguments = probe.arguments() if callable(probe.arguments) else probe.arguments
            launches.append((probe.kernel, (*arguments, np.zeros(1024, probe.out), clocks)))
    by_kernel = {id(pattern.kernel): pattern for pattern in patterns.patterns()}
    launches += [(pattern.kernel, pattern.arguments()) for pattern in by_kernel.values()]
    for kernel, arguments in launches:
        text, _ = cuda.compile_ptx(kernel.py_func, tuple(map(numba.typeof, arguments)), cc=(9, 0))
        assert ".entry" in text
