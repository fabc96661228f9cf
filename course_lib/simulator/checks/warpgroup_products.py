"""Errors with products of warpgroups: accesses to results and tiles before the wait, and missing fences."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..findings import Finding
from ..observer import Observer
from ..runtime.memory import LocalArray, SharedArray
from ..runtime.warpgroup_products import WARPS


class ProductsObserver(Observer):
    """Stores, for each word of the shared arrays, how many unfinished products read it, and the last unfenced store."""

    def start(self, prepared: Any) -> None:
        super().start(prepared)
        self.used = prepared.compiled.products
        self.readers: dict[Any, np.ndarray] = {}  # how many unfinished products read a word
        self.reading: dict[Any, np.ndarray] = {}  # the line of the latest of them
        self.unfenced: dict[Any, np.ndarray] = {}  # the line of the store that was not fenced; 0 for none
        self.stored: dict[Any, list[tuple[Any, np.ndarray, np.ndarray]]] = {}  # by vector: array, words, lanes
        self.touched: dict[Any, dict[Any, tuple[int, str]]] = {}  # by vector and results: line of the last access
        self.fenced: set[Any] = set()  # vectors
        self.arrivals: dict[Any, dict[int, np.ndarray]] = {}  # by chunk and warpgroup: products of each warp

    def watch(self, array: Any) -> Callable[..., None] | None:
        if not self.used:
            return None
        if isinstance(array, SharedArray):
            for table in (self.readers, self.reading, self.unfenced):
                table[array] = np.zeros(array.word_count(), np.int64)
            return self._tile_accessed
        if isinstance(array, LocalArray) and array.ndim == 1 and array.dtype == np.float32:
            return self._results_accessed
        return None

    def copy_started(self, site: Any, pattern: Any, base: int, values: tuple[Any, ...]) -> None:
        if pattern.array in self.readers:
            for element in range(pattern.width):
                self._overwrites(site, pattern, base + element)

    def _tile_accessed(self, site: Any, pattern: Any, base: int, value: Any) -> None:
        if site.op == "load":
            return
        self._overwrites(site, pattern, base)
        keys, lanes = pattern.keys_and_lanes(base)
        self.unfenced[pattern.array][keys] = site.line
        self.stored.setdefault(site.vector, []).append((pattern.array, keys, lanes))

    def _overwrites(self, site: Any, pattern: Any, base: int) -> None:
        keys, lanes = pattern.keys_and_lanes(base)
        busy = self.readers[pattern.array][keys] > 0
        if not busy.any():
            return
        where = np.zeros(site.vector.shape, bool)
        where[lanes] = busy
        line = int(self.reading[pattern.array][keys[busy][0]])
        said = (
            f"writes {{}} while the product that line {line} started may "
            "still read it; wait for the product's group first, then synchronize"
        )
        self.add_access_finding("unfinished-product", site, pattern, base, where, said, other=line)

    def proxy_fence(self, vector: Any, mask: Any) -> None:
        here = vector.full(mask)
        left = []
        for array, keys, lanes in self.stored.pop(vector, []):
            done = here[lanes]
            self.unfenced[array][keys[done]] = 0
            if not done.all():
                rest = lanes.copy()
                rest[lanes] = ~done
                left.append((array, keys[~done], rest))
        if left:
            self.stored[vector] = left

    def product_started(self, site: Any, vector: Any, product: Any) -> None:
        self._fenced(site, vector, product)
        lanes = product.on_its_way.any(axis=(0, 1)).reshape(-1)
        for operand in product.operands:
            array, keys = operand.array, self._keys(operand, lanes)
            missing = self.unfenced[array][keys]
            if missing.any():
                self._unfenced(site, vector, product, array, keys, missing)
            self.readers[array][keys] += 1
            self.reading[array][keys] = site.line
            quarter = vector.warp_number % WARPS
            for number, pattern in enumerate(operand.requests(vector, product.on_its_way)):
                for element in range(pattern.width):
                    for watch in array.watchers:
                        watch(site, pattern, element, None)
                if not operand.common or number % WARPS == quarter:
                    pattern.tally = {0: 1}
                    vector.engine.report("counted", site, pattern)
        group = self.arrivals.setdefault((vector.chunk, vector.warp_number // WARPS), {})
        group.setdefault(site.line, np.zeros((WARPS, len(lanes)), np.int64))[vector.warp_number % WARPS] += lanes

    def product_finished(self, vector: Any, product: Any, lanes: np.ndarray) -> None:
        done = lanes.any(axis=(0, 1)).reshape(-1)
        for operand in product.operands:
            self.readers[operand.array][self._keys(operand, done)] -= 1

    def _keys(self, operand: Any, blocks: np.ndarray) -> np.ndarray:
        elements: np.ndarray = operand.elements.reshape(-1, 1) * operand.array.chunk.count
        return (elements + np.flatnonzero(blocks)).reshape(-1)

    def _unfenced(self, site: Any, vector: Any, product: Any, array: Any, keys: Any, missing: np.ndarray) -> None:
        at = int(np.flatnonzero(missing)[0])
        index, line, thread = array.index_of_key(keys[at]), int(missing[at]), vector.first_thread(product.on_its_way)
        text = (
            f"the product reads {array.element_name(index)}, which line {line} stored, and the storing thread called "
            "no fence_proxy() in between; call it after the stores (of copies: after their wait), before the barrier"
        )
        count = int(np.count_nonzero(missing))
        self.add(Finding("missing-fence", site.line, text, line, array.name, index, (thread,), count))

    def register_fence(self, vector: Any, mask: Any) -> None:
        self.fenced.add(vector)
        self.touched.pop(vector, None)

    def _fenced(self, site: Any, vector: Any, product: Any) -> None:
        line, does = self.touched.get(vector, {}).get(product.acc, (0, ""))
        if vector in self.fenced and not line:
            return
        thread = vector.first_thread(product.on_its_way)
        before = f"line {line} {does} {product.acc.name}" if line else "this is the first product"
        text = f"{before}, and no fence_registers() came before the product; call it before the products of a group"
        self.add(Finding("missing-fence", site.line, text, line or None, product.acc.name, threads=(thread,)))

    def _results_accessed(self, site: Any, pattern: Any, base: int, value: Any) -> None:
        array, vector = pattern.array, site.vector
        does = "reads" if site.op == "load" else "writes"
        self.touched.setdefault(vector, {})[array] = site.line, does
        for product in vector.products.started if "products" in vector.__dict__ else ():
            if product.acc is not array:
                continue
            lanes = product.on_its_way & vector.full(pattern.mask)
            if lanes.any():
                said = (
                    f"{does} {{}} while the product that line {product.line} started may be on its way; wait for the "
                    "product's group first"
                )
                self.add_access_finding("unfinished-product", site, pattern, base, lanes, said, other=product.line)
                return

    def descriptor_fault(self, line: int, vector: Any, array: Any, operand: str, element: int) -> None:
        text = (
            f"the descriptor of {operand} reaches element {element} of {array.name}, which has {array.size}; look at "
            "its place, its two distances and the swizzle"
        )
        self.add(Finding("out-of-bounds", line, text, None, array.name, (element,), (vector.first_thread(True),)))

    def end_of_chunk(self, vectors: Any) -> None:
        chunk = vectors[0].chunk  # if blocks wait for each other, others may still run
        for group in [group for of, group in self.arrivals if of is chunk]:
            for line, counts in self.arrivals.pop((chunk, group)).items():
                late = np.argwhere(counts < counts.max(axis=0))
                if len(late):
                    vector = vectors[WARPS * group + int(late[0, 0])]
                    text = (
                        f"warp {vector.warp_number} starts fewer products here than other warps of its warpgroup; all "
                        "four must arrive: remove the condition, or make it the same for all 128 threads"
                    )
                    thread = vector.first_thread(True)
                    self.add(Finding("barrier-divergence", line, text, threads=(thread,), count=len(late)))
        for array in [array for array in self.readers if array.chunk is chunk]:
            del self.readers[array], self.reading[array], self.unfenced[array]
        for vector in vectors:
            self.stored.pop(vector, None)
            self.touched.pop(vector, None)
            self.fenced.discard(vector)
