"""The shuffles and votes of a warp in one step: what each lane gives, from which lane it takes, and what it gets."""

from dataclasses import dataclass

import numpy as np

from ...simulator.hardware import WARP_SIZE
from ..trace import Exchange
from .digits import number

#: A lane's value where the lane that it takes from gives none.
UNDEFINED = "undefined"


@dataclass
class Exchanged:
    """A shuffle or a vote: an item for each lane of the warp, None for one that takes no part.

    ``gave`` and ``got`` are texts; ``source`` are the lanes from which a shuffle takes, None for a vote.
    """

    operation: str
    gave: list[str | None]
    source: list[int | None]
    got: list[str | None]

    @property
    def says(self) -> str:
        """A sentence that describes the operation."""
        lanes = [lane for lane, text in enumerate(self.gave) if text is not None]
        results = {text for text in self.got if text is not None}
        if self.operation.startswith("shfl"):
            silent = self.got.count(UNDEFINED)
            own = sum(self.source[lane] == lane for lane in lanes)
            other = len(lanes) - own - silent
            parts = [f"{other} of {len(lanes)} lanes take another lane's value"]
            parts += [f"{own} keep their own"] * bool(own)
            parts += [f"{silent} take from a lane that gives none"] * bool(silent)
            return f"{self.operation}: {', '.join(parts)}."
        if self.operation == "match_any_sync":
            return f"{self.operation}: {len(lanes)} lanes in {len(results)} groups of equal values."
        result = " or ".join(sorted(results))
        if self.operation in _COMPARE:
            return f"{self.operation}: {len(lanes)} lanes compare their values; the result is {result}."
        return f"{self.operation}: {self.gave.count('yes')} of {len(lanes)} lanes vote yes; the result is {result}."

    def action(self, lane: int) -> tuple[str, str] | None:
        """A verb and what a lane did: ``gets``, ``3 from lane 5``; None if it takes no part."""
        gave, source, got = self.gave[lane], self.source[lane], self.got[lane]
        if gave is None:
            return None
        if source is None:
            return "votes", f"{gave} in {self.operation}: {got}"
        if got == UNDEFINED:
            return "gets", f"an undefined value from lane {source}, which gives none"
        return "gets", f"{got} from lane {source}" if source != lane else f"its own {got}"


#: The votes on any values; the others are on a condition.
_COMPARE = ("eq_sync", "match_all_sync", "match_any_sync")
#: The votes whose result has a bit for each lane.
_BITS = ("ballot_sync", "match_any_sync")


def exchanged(exchange: Exchange) -> Exchanged:
    """The lanes of a recorded exchange."""
    found = Exchanged(exchange.operation, [None] * WARP_SIZE, [None] * WARP_SIZE, [None] * WARP_SIZE)
    for k, lane in enumerate((exchange.threads % WARP_SIZE).tolist()):
        found.gave[lane] = _text(exchange.given[k], exchange.operation not in _COMPARE)
        if exchange.source is not None:
            source = int(exchange.source[k])
            found.source[lane] = source % WARP_SIZE
            found.got[lane] = number(exchange.result[k]) if source >= 0 else UNDEFINED
        elif exchange.operation in _BITS:
            found.got[lane] = f"0x{int(exchange.result[k]) & 0xFFFFFFFF:08x}"
        else:
            found.got[lane] = str(bool(exchange.result[k])).lower()
    return found


def _text(value: np.generic, condition: bool) -> str:
    if condition and value.dtype == bool:
        return "yes" if value else "no"
    return number(value)
