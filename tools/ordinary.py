"""Writes the table of docs/compiled.md: forty ordinary kernels as written, as compiled, and as a GPU counted.

    uv run --extra compiler --group published python tools/ordinary.py FOLDER

FOLDER holds checkouts of public projects, as tools/published.py takes it.
"""

import sys
from pathlib import Path

from course_lib.machine import measurements
from course_lib.machine.machine_code import machine_code
from course_lib.machine.machine_code.as_compiled import as_compiled
from course_lib.machine.machine_code.causes import CAUSES
from course_lib.machine.machine_code.source_counts import RequestCounts
from course_lib.machine.simulated_launch import simulated
from tools.lab.ordinary import OrdinaryLaunch, counted, own, public

PAGE = Path(__file__).parents[1] / "docs" / "compiled.md"


def rows_of(launch: OrdinaryLaunch, recorded: dict[tuple[str, str], tuple[int, int]]) -> list[tuple[str, int]]:
    """Return the rows of a kernel, each with how many of its two counts as compiled equal the GPU's."""
    made = simulated(launch.kernel, launch.grid, launch.block, tuple(launch.make()))
    compared = as_compiled(machine_code(launch.kernel, tuple(launch.make())), made)
    totals = {(row.space, row.op): row for row in compared.totals()}
    found = []
    for space, op in sorted(totals.keys() | recorded.keys()):
        total, gpu = totals.get((space, op)), recorded.get((space, op), (0, 0))
        written, compiled = (
            (total.written, total.compiled) if total and not compared.why else (RequestCounts(), RequestCounts())
        )
        rows = [row for row in compared.rows if (row.space, row.op) == (space, op)]
        why = compared.why or ", ".join(dict.fromkeys(word for row in rows for word in row.causes))
        cells = (f"{requests:,} / {amount:,}" for requests, amount in (written, compiled, gpu))
        equal = sum(one == other for one, other in zip(compiled, gpu, strict=True))
        found.append((f"| {launch.name} | {space} {op}s | {' | '.join(cells)} | {why} |", equal))
    return found


def main(folder: Path) -> int:
    """Rewrite the table in the page."""
    recording = measurements.load("ordinary")
    recorded = {result["pattern"]: counted(result) for result in recording.results}
    rows = [row for launch in (*own(), *public(folder)) for row in rows_of(launch, recorded[launch.name])]
    about = recording.provenance
    equal = sum(number for _, number in rows)
    head = (
        f"{equal} of {2 * len(rows)} counts as compiled equal those of Nsight Compute ({about['gpu']}, driver "
        f"{about['driver']}, numba-cuda {about['numba-cuda']}, CUDA {about['cuda_runtime']}, {about['date'][:10]}).\n\n"
        "| kernel | accesses | as written | as compiled | Nsight Compute | causes |\n|---|---|---|---|---|---|"
    )
    table = "\n".join([head, *(row for row, _ in rows)])
    words = "\n".join(["| word | meaning |", "|---|---|", *(f"| {word} | {text} |" for word, text in CAUSES.items())])
    page = PAGE.read_text("utf-8")
    for name, text in (("table", table), ("words", words)):
        before, begin, rest = page.partition(f"<!-- {name}: begin -->")
        page = f"{before}{begin}\n\n{text}\n\n<!-- {name}: end -->{rest.partition(f'<!-- {name}: end -->')[2]}"
    PAGE.write_text(page, "utf-8")
    print(head.splitlines()[0])
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])) if len(sys.argv) == 2 else __doc__)
