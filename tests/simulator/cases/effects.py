"""Calls whose value is known happen once and in Python's order: as in numba's simulator, which runs them as Python."""

from oracles.generator import EFFECTS_HEADER
from simulator.cases import Table

KNOWN = Table("cudasim", launch="1, 4", arguments="c=zeros(4, 8, int), out=zeros(4, 4, int)", lines=True,
              header=EFFECTS_HEADER[: EFFECTS_HEADER.index("@cuda.jit\n")], first="i = cuda.grid(1)\n", text="""\
out[i, 0] = (one(c, i, 1), pair(c, i, 2))[1][0]
if cuda.atomic.add(c, (i, 1), 1) is not None: out[i, 0] = 1
out[i, 0] = same(c, i, 1).ndim
out[i, 0] = Point(y=one(c, i, 1), x=one(c, i, 2)).x
if pair(c, i, 1) == (1, 2, 3): out[i, 0] = 1
if not pair(c, i, 1): out[i, 0] = 1
if none(c, i, 1): out[i, 0] = 1
out[i, 0] = 7 if pair(c, i, 1) else 3
v = same(c, i, 1).shape; out[i, 0] = v[0] + v[1]
assert pair(c, i, 1)
(pair(c, i, 1), one(c, i, 2))[1:]
i > 1 and flag(c, i, 1)
one(c, i, 1) if i > 1 else one(c, i, 2)
c[i, one(c, i, 1)]
""")  # fmt: skip
