"""Races on shared and global words, found from recorded accesses and not from a lucky interleaving.

Two accesses race if they touch the same word, come from different threads, at least one writes, not both are
atomic, and nothing orders them:

* threads of one block are ordered by a barrier between the two accesses;
* lanes of a warp are ordered by a barrier between them, or by a ``syncwarp`` in which both took part; lockstep is
  the simulator's choice, not CUDA's promise, and a shuffle or a vote orders no memory access;
* any threads are ordered by release and acquire: a ``threadfence`` after the first access, then an atomic on a word,
  and a later atomic on that word before the second access; a ``threadfence_block``, or a word of shared memory, serves
  threads of one block only. Nothing else orders threads of different blocks within a launch.

``rules`` decides and reports, ``shadow`` remembers who touched each word, ``log`` keeps the accesses to shared memory
since the last barrier (in kernels without fences; where there are some, each access is judged at once), and
``releases`` follows fences and atomics.
"""

from .rules import RacesObserver

__all__ = ["RacesObserver"]
