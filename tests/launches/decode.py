"""Reads a payload as a page does, lane by lane, without course_lib: what arrives is known independently."""

import base64
import json
import zlib

import numpy as np

LOAD, STORE, ATOMIC = 0, 1, 2


class Payload:
    """The JSON text, its columns by name, and its lists."""

    def __init__(self, text):
        self.head = json.loads(text)
        data, at = zlib.decompress(base64.b64decode(self.head["packed"])), 0
        self.columns = {}
        for name, kind, count in self.head["columns"]:
            size = np.dtype(kind).itemsize
            planes = np.frombuffer(data, np.uint8, size * count, at).reshape(size, count)
            together = planes.T.tobytes()
            self.columns[name] = np.frombuffer(together, f"<{kind}", count)
            at += count * size
        assert at == len(data)

    def __getitem__(self, name):
        return self.columns[name]

    def vector(self, number):
        kind, start, length = (int(self[f"vector_{what}"][number]) for what in ("kind", "start", "length"))
        pool = self.head["texts"] if kind == 3 else self[("ints", "floats", "doubles")[kind]]
        return list(pool[start : start + length])

    def spread(self, number, lanes, each=1):
        """A list's part of every lane: ``each`` numbers; one lane's stand for all."""
        values = self.vector(number)
        rows = [values[i : i + each] for i in range(0, len(values), each)]
        return rows * lanes if len(rows) == 1 else rows

    def accesses(self, step):
        """(op, array, thread, elements, values or None) of every lane's accesses in a step (its row)."""
        for a in range(self["step_access"][step], self["step_access"][step + 1]):
            lanes = [lane for lane in range(32) if int(self["access_lanes"][a]) >> lane & 1]
            width = int(self["access_width"][a])
            offsets = self.spread(self["access_pattern"][a], len(lanes))
            values = [None] * len(lanes)
            if self["access_values"][a] >= 0:
                values = self.spread(self["access_values"][a], len(lanes), width)
            for lane, (offset,), value in zip(lanes, offsets, values, strict=True):
                first = int(self["access_base"][a]) + int(offset)
                thread = 32 * int(self["step_warp"][step]) + lane
                array = self.head["arrays"][self["access_array"][a]]
                yield int(self["access_op"][a]), array, thread, range(first, first + width), value

    def after(self, name):
        """A global array after the whole launch, block after block."""
        (array,) = (a for a in self.head["arrays"] if a["name"] == name)
        size = int(np.prod(array["shape"]))
        held = np.array([row[0] for row in self.spread(array["initial"], size)])
        for block in self.head["blocks"]:
            for step in range(block["first"], block["first"] + block["steps"]):
                for op, touched, _, elements, values in self.accesses(step):
                    if op != LOAD and touched is array:
                        held[list(elements)] = values
        return held.reshape(array["shape"])
