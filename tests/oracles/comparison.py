"""Comparison of a run of the simulator with the reference's record of the same launch, and with the formulas."""

import numpy as np

from oracles import closed_forms


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
        rows[row.line, row.array, row.space, row.op] = found
    wanted = {key: {k: counts[k] for k in rows.get(key, counts)} for key, counts in record.rows().items()}
    assert rows == wanted
    written = run.traffic.rows[-1].array
    for select in ({"space": "global", "op": "load"}, {"space": "shared"}, {"array": written, "op": "store"}):
        np.testing.assert_array_equal(run.traffic.per_thread(**select), record.per_thread(**select))


def assert_modelled(run, r, size, **params):
    """Assert that the formulas equal a run: accesses, requests, sectors and wavefronts of exactly these arrays."""
    modelled = closed_forms.traffic(r.name, *size, **{**r.params, **params})
    known = {(row.space, row.op, row.array) for row in run.traffic.rows if row.accesses}
    for (space, op, array), count in modelled.items():
        counted = closed_forms.Count()
        if (space, op, array) in known:
            part = run.traffic.select(space=space, op=op, array=array)
            sectors, wavefronts = (part.sectors, 0) if space == "global" else (0, part.wavefronts)
            counted = closed_forms.Count(part.accesses, part.requests, sectors, wavefronts)
        assert count == counted, f"{r.name} {size} {params}: {op} of {array}"
    assert {key for key in known if key[0] != "local"} <= set(modelled)
