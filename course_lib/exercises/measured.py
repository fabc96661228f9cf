"""What the solution of an exercise takes on a GPU, beside kernels with one thing changed: remarks on a right answer.

`tools/lab/answers.toml` says what was changed; the times are the medians of the recording that `python -m tools.lab
answers` makes. Where such a time does not show what the exercise saves, its `why` says which cost hides it.
"""

from itertools import groupby
from typing import Any

from ..machine import measurements
from .grading.exercise import Exercise

RECORDING = "answers"


def remarks(exercise: Exercise) -> tuple[str, ...]:
    """Return a remark for each launch in which an exercise was measured, and then why; none if it was not measured."""
    recording = measurements.load(RECORDING)
    found = [result for result in recording.results if result["exercise"] == exercise.name]
    said = [_times(recording.provenance["gpu"], list(launch)) for _, launch in groupby(found, key=launch_of)]
    return (*said, *([exercise.why] if said and exercise.why else []))


def launch_of(result: dict[str, Any]) -> tuple[Any, ...]:
    """Return what the kernels that are compared in one launch have in common: the sizes, and the width of the block."""
    return result["params"]["sizes"], result["params"]["wider"]


def _times(gpu: str, launch: list[dict[str, Any]]) -> str:
    """Return the milliseconds of the solution and of the others in one launch, as a sentence."""
    solution, *others = launch
    block = "×".join(map(str, solution["block"]))
    said = [f"{each['params']['version']} {each['median']:#.3g}" for each in others]
    return (
        f"measured on an {gpu}, {_sizes(solution['params']['sizes'])}, blocks of {block} threads, in milliseconds: "
        f"the course's solution {solution['median']:#.3g}; {'; '.join(said)}."
    )


def _sizes(sizes: dict[str, int]) -> str:
    """Return sizes by their names, equal ones together: M = N = 8192, K = 32."""
    groups = [(size, [name for name, _ in same]) for size, same in groupby(sizes.items(), key=lambda item: item[1])]
    return ", ".join(f"{' = '.join(names)} = {size:,}" for size, names in groups)
