"""Words of memory, variables and registers that are read before they are written."""

from functools import partial
from typing import Any

import numpy as np

from ..observer import Observer
from ..runtime.access import Site
from ..runtime.arrays import Array, Pattern, Watcher
from ..runtime.masks import Mask
from ..runtime.memory import GlobalArray, SharedArray
from ..runtime.warp import WarpVector


class InitializationObserver(Observer):
    """Stores which words of shared and global arrays have been written; local arrays store it themselves."""

    def watch(self, array: Array) -> Watcher | None:
        if isinstance(array, SharedArray):
            return SharedInitialization(self, array)
        if isinstance(array, GlobalArray) and array.written is not None:
            return partial(self._global, array.written)
        return None

    def _global(self, written: np.ndarray, site: Site, pattern: Pattern, base: int, value: Any) -> None:
        """Judge an access of a GPU's memory. ``written`` holds the bytes of each word, and outlives the launch."""
        if site.reads:
            have = written[pattern.array.keys(pattern, base)].all(axis=-1)
            if not np.all(have):
                missing = site.vector.full(~np.asarray(have)) & site.vector.full(pattern.mask)
                if missing.any():
                    self.unwritten(site, pattern, base, missing)
        if site.op != "load":
            written[pattern.keys_and_lanes(base)[0]] = 1

    def copy_arrived(self, site: Site, pattern: Pattern, base: int) -> None:
        for watcher in pattern.array.watchers:
            if isinstance(watcher, SharedInitialization):
                for element in range(pattern.width):
                    watcher.store(site, pattern, base + element)

    def unwritten(self, site: Site, pattern: Pattern, base: int, lanes: Mask) -> None:
        if pattern.array.space == "global":
            said = "reads {} (global memory), which nothing wrote; copy values to it first: a new array holds no zeros"
        else:
            said = (
                f"reads {{}} ({pattern.array.space} memory) before any thread wrote it; write every element that is "
                "read, and synchronize"
            )
        self.add_access_finding("uninitialized-read", site, pattern, base, lanes, said)

    def missing(self, what: str, name: str, line: int, vector: WarpVector, lanes: Mask) -> None:
        said = {
            "variable": f"reads the variable {name!r} before it assigned it; assign it on every path",
            "register": "reads a register of a lane that does not take part in this shuffle; let all lanes that are "
            "read from reach it",
            "none": f"uses the number of {name}, which is None there, so that a GPU ends the thread silently; test it "
            f"first: if {name} is not None",
            "result": f"uses {name}, which returned nothing there; return a value on every path",
        }[what]
        self.add_finding("uninitialized-read", line, vector, lanes, said, array=name or None)


class SharedInitialization:
    """The written words of one shared array: one flag a word as long as all blocks agree, else one a word and block."""

    def __init__(self, observer: InitializationObserver, array: SharedArray) -> None:
        self.observer, self.array = observer, array
        self.written = np.zeros(array.extent, bool)
        self.agree, self.complete = True, False

    def __call__(self, site: Site, pattern: Pattern, base: int, value: Any) -> None:
        if self.complete:
            return
        if site.reads:
            self._load(site, pattern, base)
        if site.op != "load":
            self.store(site, pattern, base)

    def store(self, site: Site, pattern: Pattern, base: int) -> None:
        if self.agree and pattern.mask is True and pattern.same_in_blocks:
            self.written[pattern.elements(base)] = True
        else:
            self._spread()
            self.written[pattern.keys_and_lanes(base)[0]] = True
        self.complete = bool(self.written.all())

    def _load(self, site: Site, pattern: Pattern, base: int) -> None:
        vector = site.vector
        if self.agree and pattern.same_in_blocks:
            have = self.written[pattern.elements(base)]
        else:
            self._spread()
            have = self.written[self.array.keys(pattern, base)]
        if np.all(have):
            return
        missing = vector.full(~np.asarray(have)) & pattern.mask
        if missing.any():
            self.observer.unwritten(site, pattern, base, missing)

    def _spread(self) -> None:
        if self.agree:
            self.written = np.repeat(self.written, self.array.chunk.count)
            self.agree = False
