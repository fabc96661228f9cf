"""Comparison of a run of the simulator with the reference's record of the same launch."""

import numpy as np


def assert_same_counts(run, record):
    """Assert that every row (line, array, space, op) has the reference's counts, and so has every thread."""
    rows = {}
    for row in run.traffic.rows:
        found = {"accesses": row.accesses, "requests": row.requests, "bytes": row.bytes}
        if row.space == "global":
            found["sectors"] = row.sectors
        if row.space == "shared" and row.op != "atomic" and row.itemsize == 4:
            found["wavefronts"] = row.wavefronts  # the rule for 8 bytes comes from measurements, not from the reference
            assert row.bank_conflicts == row.wavefronts - row.requests
        if row.op == "atomic":
            found["rounds"] = row.rounds
        rows[row.line, row.array, row.space, row.op] = found
    wanted = {key: {k: counts[k] for k in rows.get(key, counts)} for key, counts in record.rows().items()}
    assert rows == wanted
    written = run.traffic.rows[-1].array
    for select in ({"space": "global", "op": "load"}, {"space": "shared"}, {"array": written, "op": "store"}):
        np.testing.assert_array_equal(run.traffic.per_thread(**select), record.per_thread(**select))
