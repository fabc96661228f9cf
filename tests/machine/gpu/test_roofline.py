"""The roofline of the recorded ladder; it needs no GPU."""

from dataclasses import replace

from course_lib.machine import measurements
from course_lib.machine.gpu.command import main
from course_lib.machine.gpu.ladder_roofline import roofline


def test_every_measured_rung_has_its_bound():
    """The naive kernel asks for 1/4 flop per byte, the tiled one for T/4; no kernel beats the arithmetic units."""
    ladder, ceilings = measurements.load("ladder"), measurements.load("ceilings")
    rows = {row["rung"]: row for row in roofline(ladder, ceilings)}

    assert list(rows) == [r["rung"] for r in ladder.results if "gflops" in r and r["rung"] != "cublas"]
    assert (rows["naive"]["flop_per_byte"], rows["naive"]["limit"]) == (1 / 4, "memory")
    assert rows["tiled"]["flop_per_byte"] == 32 / 4
    assert rows["best"]["limit"] == "arithmetic"
    assert rows["best"]["blocks"] == 1
    most = max(row["attainable_gflops"] for row in rows.values())
    assert all(row["measured_gflops"] < most for row in rows.values())


def test_every_counted_rung_has_the_reason_of_its_waits():
    """From the counters: 32-way conflicts wait for values, uncoalesced loads for a place in the queue."""
    recordings = (measurements.load(what) for what in ("ladder", "ceilings", "counters"))
    rows = {row["rung"]: row for row in roofline(*recordings)}
    assert rows["bank_conflicts"]["waits_for"] == "a value from shared memory"
    assert rows["uncoalesced"]["waits_for"] == "a place in the queue to global memory"
    assert rows["naive"]["waits_for"] == "a busy arithmetic unit"
    assert rows["best"]["issue_percent"] == max(row.get("issue_percent", 0) for row in rows.values())


def test_a_rung_that_was_not_counted_has_its_bound_alone():
    ladder, ceilings, counters = (measurements.load(what) for what in ("ladder", "ceilings", "counters"))
    counted = replace(counters, results=[r for r in counters.results if r["rung"] != "tiled"])
    rows = {row["rung"]: row for row in roofline(ladder, ceilings, counted)}
    (alone,) = (row for row in roofline(ladder, ceilings) if row["rung"] == "tiled")
    assert rows["tiled"] == alone and "waits_for" in rows["naive"]


def test_the_command_prints_it_without_a_gpu(capsys):
    """Status 0, one line per rung."""
    assert main(["roofline"]) == 0
    printed = capsys.readouterr().out
    assert "best" in printed
    assert "waits_for a value from shared memory" in printed
