"""The command line, as far as it goes without a GPU."""

from types import SimpleNamespace

import pytest
import recorded

from course_lib.kernels import LADDER, rung
from course_lib.machine import gpu, measurements
from course_lib.machine.gpu import measuring
from course_lib.machine.gpu.command import main, parser, show, size
from course_lib.machine.gpu.counters import parse_ncu
from course_lib.machine.gpu.experiments import EXPERIMENTS, Experiment, KernelCase, Wanted, measure
from course_lib.machine.gpu.record import added, command_of
from course_lib.machine.gpu.resident_blocks import filler
from course_lib.machine.gpu.verification import random_matrices
from tools.lab.__main__ import LAB
from tools.lab.__main__ import main as lab


@pytest.mark.skipif(gpu.available(), reason="there is a CUDA GPU")
def test_without_a_gpu_one_sentence_and_status_2(capsys):
    """Nothing is printed to standard output, one line to standard error."""
    assert main(["ladder"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("No CUDA GPU was found")


@pytest.mark.parametrize("command, experiments", [(main, EXPERIMENTS), (lab, (*EXPERIMENTS, *LAB))])
def test_help_explains_every_kind(command, experiments, capsys):
    """`--help` ends well and has a row for each measurement: its name, apart from what is said of it."""
    with pytest.raises(SystemExit) as ended:
        command(["--help"])
    assert ended.value.code == 0
    rows = [line.split(maxsplit=1) for line in capsys.readouterr().out.partition("\nwhat:\n")[2].splitlines()]
    rows = rows[: len(experiments)]
    assert [name for name, _ in rows] == [experiment.name for experiment in experiments]
    assert all(text.startswith(each.about) for (_, text), each in zip(rows, experiments, strict=True))


def test_a_command_of_its_own_is_not_combined(capsys):
    with pytest.raises(SystemExit):
        main(["ladder", "capstone"])
    assert "tile-by-tile gpu capstone" in capsys.readouterr().err


def test_an_experiment_measures_its_cases_in_order():
    """A case may give one result, several or none; the request's repeats reach it."""
    rows = {"one": {"rung": "a"}, "two": [{"rung": "b"}, {"rung": "c"}], "none": []}
    experiment = Experiment("made up", "", lambda case, ask: rows[case], lambda ask: rows)
    assert [row["rung"] for row in measure(experiment, Wanted())] == ["a", "b", "c"]


def test_the_cases_of_the_ladder_are_what_was_asked_for():
    """Those rungs and cuBLAS, on that size, blocks a warp wide; all rungs if none is named."""
    by_name = {experiment.name: experiment for experiment in EXPERIMENTS}
    cases = list(by_name["ladder"].cases(Wanted(["tiled"], (8, 8, 8))))
    assert cases == [KernelCase((8, 8, 8), rung("tiled"), {"tile_width": 32}), KernelCase((8, 8, 8), "cublas")]
    of_all = [getattr(case.of, "name", case.of) for case in by_name["ladder"].cases(Wanted())]
    assert of_all == [*(r.name for r in LADDER), "cublas"]
    assert recorded.rungs("ladder") <= {*of_all}
    series = [(r["rung"], r["M"]) for r in measurements.load("series").results]
    assert [(getattr(c.of, "name", c.of), c.size[0]) for c in by_name["series"].cases(Wanted())] == series
    tiles = [(r["rung"], r["params"]) for r in measurements.load("tiles").results]
    assert [
        (c.of.name, c.of.params | c.params) for c in by_name["tiles"].cases(Wanted([name for name, _ in tiles]))
    ] == tiles


def test_the_host_is_timed_and_skipped_where_it_would_take_minutes(monkeypatch):
    """The first row tells how long all would take; without a GPU the matrices are NumPy's."""
    A, B, _ = random_matrices(9, 7, 8)
    on_gpu = [SimpleNamespace(copy_to_host=lambda X=X: X) for X in (A, B)]
    made_up = SimpleNamespace(size=(9, 7, 8), A=on_gpu[0], B=on_gpu[1], reference=A.astype(float) @ B.astype(float))
    assert len(measuring.measure_host(made_up, 2)["milliseconds"]) == 2
    made_up.reference[8, 6] += 1
    assert "wrong" in measuring.measure_host(made_up, 2)
    monkeypatch.setattr(measuring, "HOST_SECONDS", 0)
    assert "skipped" in measuring.measure_host(made_up, 2)


def test_sizes():
    """One number is a square, three are M, N and K; anything else is refused."""
    assert size("64") == (64, 64, 64)
    assert size("1000x500x3000") == (1000, 500, 3000)
    for wrong in ("0", "3x4", "x"):
        with pytest.raises(Exception, match=r"."):
            size(wrong)


def test_the_recorded_command_repeats_the_measurement():
    """Options that change results are in it, the output folder is not."""
    options = parser().parse_args(["ladder", "--size", "64", "--rungs", "naive,tiled", "--output", "somewhere"])
    ladder = next(experiment for experiment in EXPERIMENTS if experiment.name == "ladder")
    command = command_of(ladder, Wanted(options.rungs, options.size, options.repeats))
    assert command == "python -m course_lib.gpu ladder --size 64x64x64 --rungs naive,tiled --repeats 20"


def test_results_are_added_to_a_recording():
    """The named ones replace their like and stand where the ladder has them; the others stay as they are."""
    old = {
        "what": "ladder",
        "command": "old",
        "provenance": {"date": "1"},
        "results": [
            {"rung": "naive", "M": 8, "gflops": 1},
            {"rung": "tiled", "M": 8, "gflops": 2},
            {"rung": "cublas", "M": 8},
        ],
    }
    new = {
        "what": "ladder",
        "command": "new",
        "provenance": {"date": "2"},
        "results": [{"rung": "tiled", "M": 8, "gflops": 3}, {"rung": "prefetched", "M": 8}, {"rung": "cublas", "M": 8}],
    }
    both = added(old, new, ["tiled", "prefetched"])
    assert [r["rung"] for r in both["results"]] == ["naive", "tiled", "prefetched", "cublas"]
    assert both["results"][1] == {"rung": "tiled", "M": 8, "gflops": 3, "command": "new", "provenance": {"date": "2"}}
    assert (both["command"], both["results"][0]) == ("old", old["results"][0])


def test_a_filler_leaves_room_for_so_many_blocks():
    """Of 228 KiB, with 1 KiB a block for the driver; None where the blocks' own memory already needs more."""
    total = 228 * 1024
    for static, blocks in ((512, 32), (2048, 4), (16384, 1), (32768, 6)):
        each = static + filler(static, blocks, total) + 1024
        assert total // each == blocks
    assert filler(65536, 4, total) is None


def test_a_wrong_kernel_is_shown_as_wrong(capsys):
    """A result without a speed never looks like one."""
    show("ladder", [{"rung": "tiled", "M": 4, "N": 4, "K": 4, "wrong": "relative error nan"}])
    assert "WRONG: relative error nan" in capsys.readouterr().out


def test_counters_are_read_from_ncu():
    """Units are turned into bytes, thousands separators dropped, kernels told apart by their number."""
    text = (
        '==PROF== Connected\n"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n'
        '"0","naive[abi:v1](Array)","lts__t_bytes.sum","Kbyte","1.5"\n'
        '"1","tiled[abi:v1](Array)","smsp__inst_executed.sum","inst","1,024"\n'
    )
    assert parse_ncu(text, (8, 8, 8)) == [
        {"rung": "naive", "M": 8, "N": 8, "K": 8, "l2_bytes": 1500},
        {"rung": "tiled", "M": 8, "N": 8, "K": 8, "instructions": 1024},
    ]
