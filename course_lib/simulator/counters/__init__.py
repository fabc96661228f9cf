"""Observers that count what a launch requests from memory, one count a file.

To add a count, write a file here and add its class to the list, which each launch reads (``simulation.py``).
"""

from .atomic_rounds import AtomicRoundsObserver
from .bank_conflicts import BanksObserver
from .sectors import SectorsObserver
from .traffic import Counter

#: Observers that count, besides the traffic itself: ``columns()`` returns each count by its name in
#: :class:`~course_lib.simulator.run.TrafficRow`.
COUNTERS: tuple[type[Counter], ...] = (SectorsObserver, BanksObserver, AtomicRoundsObserver)

__all__ = ["COUNTERS"]
