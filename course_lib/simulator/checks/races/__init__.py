"""Races on shared and global words, found from recorded accesses, not by observing a bad interleaving.

README.md in the folder above states the rules.
"""

from .races_observer import RacesObserver

__all__ = ["RacesObserver"]
