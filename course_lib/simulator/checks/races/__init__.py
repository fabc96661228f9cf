"""Races on shared and global words, found from recorded accesses, not by observing a bad interleaving.

Two accesses race if they touch the same word, come from different threads, at least one writes, not both are
atomic, and nothing orders them:

* threads of one block are ordered by a barrier between the two accesses, and all threads by a barrier of the grid;
* lanes of a warp are ordered by a barrier between them, or by a ``syncwarp`` in which both took part (the simulator
  runs warps in lockstep, but CUDA does not guarantee that, and a shuffle or a vote orders no memory access);
* any threads are ordered by release and acquire: a ``threadfence`` after the first access, then an atomic on a word,
  and a later atomic on that word before the second access; a ``threadfence_block``, or a word of shared memory, orders
  only threads of one block. Nothing else orders threads of different blocks within a launch.

``rules`` decides and reports, ``shadow`` stores which threads accessed each word, ``log`` stores the accesses to shared
memory since the last barrier (in kernels without fences; with fences, each access is checked at once), and
``releases`` tracks fences and atomics.
"""

from .rules import RacesObserver

__all__ = ["RacesObserver"]
