"""Arrays of records: fields are read and written at their true addresses."""

import numpy as np
from simulator.cases import IMPORTS, Table

PARTICLE = np.dtype([("x", "f4"), ("charge", "i2"), ("mass", "f8"), ("id", "i4")], align=True)
NESTED = np.dtype([("at", "f4", 3), ("mass", "f8"), ("pair", "i2", (2, 2))], align=True)  # 32 bytes: a sector


def made(dtype, *shape):
    """Return records of small random numbers."""
    rng, records = np.random.default_rng(3), np.zeros(shape, dtype)
    for field in dtype.names:
        records[field] = rng.integers(-9, 9, records[field].shape)
    return records


P = made(PARTICLE, 70)
FIRST_BYTES = np.arange(64).reshape(2, 32) * PARTICLE.itemsize  # of the records of each warp
GRID = made(PARTICLE, 5, 7)
BODIES = made(NESTED, 5)
OTHERS = BODIES[::-1].copy()
POINTS = np.random.default_rng(6).random((4, 3)).astype("f4")

HEADER = f"""{IMPORTS}
PARTICLE = np.dtype([("x", "f4"), ("y", "f8")], align=True)
Particle = numba.from_dtype(PARTICLE)
Wide = numba.from_dtype(np.dtype([("head", "f4"), ("rest", "f4", 15)]))
PAIRS = np.array([(1, [2, 3]), (4, [5, 6]), (7, [8, 9])], np.dtype([("x", "f8"), ("y", "i2", 2)], align=True))
TEXTS = np.zeros(2, [("x", "S4")])

@cuda.jit(device=True)
def first(records):
    return records[0]

@cuda.jit(device=True)
def counted(count):
    count[0] += 1
    return count[0] - 1
"""

RECORDS = Table(None, header=HEADER, text="""\
# fields in every spelling @ 3, 32, trace=True : p=P, out=zeros(70, 3)
#= out == np.stack([old.p["x"] + old.p["charge"], old.p["mass"] ** 2, old.p["id"] + 140.0], axis=1)
#= (p["x"] == 2.5).all() and (p["charge"] == old.p["charge"] + 3).all() and (p["mass"] == old.p["mass"] + 1).all()
#= p["id"] == old.p["id"] - 1
i = cuda.grid(1)
if i < p.size:
    r = p[i]
    out[i, 0] = r.x + p[i].charge
    out[i, 1] = p[i]["mass"] * p.mass[i]
    out[i, 2] = p["id"][i] + len(p) + p.shape[0]
    r.x = 2.5
    p[i].charge += 3
    p[i]["mass"] = r.mass + 1
    p["id"][i] -= 1
    cuda.atomic.add(p.id, i, 0)

# a loop over records @ 1, 1, trace=True : p=P, a=BODIES, out=zeros(3)
#= (p["id"] == old.p["id"] + 1).all() and (out[0], out[1]) == (old.p["mass"].sum(), old.a["at"][:, 1].sum())
#= traffic(op="load", array="p.mass").accesses == len(p) and out[2] == 2 + 20 + 56
for q in p:
    out[0] += q.mass
    q.id += 1
for number, body in enumerate(a):
    out[1] += body.at[1]
for pair in PAIRS:
    out[2] += pair.x * pair.y[0]

# records of two dimensions @ 1, (8, 8) : p=GRID.copy("$order"), out=zeros(5, 7) ; order in C F
#= (out.tolist(), run.findings) == (p["mass"].tolist(), ())
#= p["x"] == np.add.outer(np.arange(5), 10 * np.arange(7))
i, j = cuda.grid(2)
if i < p.shape[0] and j < p.shape[1]:
    out[i, j] = p[i, j].mass
    p[i, j].x = i + 10 * j

# sectors are those of the true addresses @ 2, 32 : p=P[:64], out=zeros(64) ; field in x charge mass id
#= traffic(array="p.$field").sectors == sum(len(set(b // 32)) for b in FIRST_BYTES + PARTICLE.fields["$field"][1])
out[cuda.grid(1)] = p[cuda.grid(1)]["$field"]

# a single record is written @ 1, 2 : p=P[0], q=P[1]
#= (p["id"], q["id"], P["id"][2:] is p) == (1, 1, False)
if cuda.threadIdx.x:
    p.id = q["id"] = cuda.threadIdx.x

# a record that is read-only : p=np.frombuffer(P.tobytes(), PARTICLE)[0]
#! LaunchError p.id
p.id = 1

# records outside of the kernel are constants @ 1, 3 : out=zeros(3)
#= out.tolist() == [18, 54, 90]
#= {(r.array, r.space) for r in run.traffic.rows[:-1]} == {("PAIRS.x", "constant"), ("PAIRS.y", "constant")}
i = cuda.threadIdx.x
frozen = cuda.const.array_like(PAIRS)
out[i] = frozen[i].x * 10 + PAIRS[i]["y"][1] + PAIRS["y"][i, 0] + len(frozen)

# constant records are not written : out=zeros(1)
#! LaunchError PAIRS.x
PAIRS[0].x = 1

# fields may be arrays @ 1, 5 : a=BODIES, out=zeros(5)
#= out == (old.a["at"].astype(float) * old.a["pair"][:, 1][:, [0, 1, 0]]).sum(1)
#= a["at"] == np.stack([old.a["at"][:, 0] + 1, old.a["at"][:, 1], np.arange(5)], 1)
#= a["mass"] == old.a["at"][:, 1] + 5
#= a["pair"] == old.a["pair"] + [[0, 1], [0, 0]]
#= traffic(array="a.mass", op="store").sectors == 5
i = cuda.grid(1)
one = a[i]
for k in range(len(one.at)):
    out[i] += one.at[k] * a["pair"][i, 1, k % 2]
one.at[2] = i
a[i].pair[0][1] += 1
cuda.atomic.add(a[i]["at"], 0, 1)
one.mass = a.at[i, 1] + a.size

# whole records and arrays in them are copied, each field by an access of its own @ 1, 4
#: a=zeros(4, NESTED), b=OTHERS[:4], one=OTHERS[4], points=POINTS
#= (run.findings, traffic(array="a.mass", op="store", line=line("a[i] = b")).accesses) == ((), 4)
#= (a["mass"].tolist(), a["at"].tolist()) == (old.b["mass"][[1, 2, 3, 0]].tolist(), points.tolist())
#= a["pair"] == old.b["pair"][[1, 2, 3, 0]]
#= [one["pair"].tolist(), str(b[3])] == [old.b["pair"][2].tolist(), str(old.b[0])]
i = cuda.threadIdx.x
a[i] = b[(i + 1) % 4]
a[i]["at"] = points[i]
if i == 2:
    one["pair"] = b[2]["pair"]
    b[3] = first(b)

# indices of a copied record are evaluated once, in Python's order : a=BODIES, b=OTHERS, count=zeros(1, int)
#= (str(a[1]), a["at"][3].tolist(), count[0]) == (str(b[0]), b["at"][2].tolist(), 4)
#= (str(a[[0, 2, 4]]), a["mass"][3]) == (str(old.a[[0, 2, 4]]), old.a["mass"][3])
a[counted(count)] = b[counted(count)]
a[counted(count)]["at"] = b[counted(count)]["at"]

# a field of a local record is read before it is written : out=zeros(1)
own = cuda.local.array((1, 2), Particle)
own[0, 1].x = 1
out[0] = own[0, 1].y  #? uninitialized-read own.y

# one shared record for two threads @ 1, 2 : out=zeros(2)
#? race own.x
own = cuda.shared.array(1, Particle)
own[0].x = cuda.threadIdx.x
out[cuda.threadIdx.x] = own[0].x

# records of 16 words lie in two banks, as the rows of 16 columns do @ 1, 32 : out=zeros(32, "f4")
#= [row.bank_conflicts for row in run.traffic.rows if row.space == "shared"] == [15] * 4
t = cuda.threadIdx.x
own = cuda.shared.array(32, Wide)
tile = cuda.shared.array((32, 16), float32)
own[t].head = t
tile[t, 0] = t
out[t] = own[t].head + tile[t, 0]

# outside an array in a record : a=BODIES
a[0].at[1] = a[1].at[3]  #? out-of-bounds a.at (1, 3)
""")  # fmt: skip

REFUSED = Table(None, header=HEADER, text="""\
# no such field : p=P, out=zeros(1)
out[0] = p[0].weight  #! x charge mass id

# too many local records : out=zeros(1)
own = cuda.local.array(100_000, Particle)  #! own 1600000
out[0] = own[0].x

# a slice of records : p=P, out=zeros(1)
out[0] = p[1:][0].x  #! p[1:]

# a number for a record : p=P
p[0] = 1  #! p[0]

# another record : p=P
tile = cuda.const.array_like(PAIRS)
p[0] = tile[1]  #! p[0]

# a record for a field of all records : p=P
p["x"] = p[0]  #! p['x']

# records of texts : out=zeros(1)
out[0] = TEXTS[0].x  #! TEXTS

# a field by a variable : p=P, out=zeros(1)
name = 1
out[0] = p[0][name].x  #! x charge mass id

# records of records : p=zeros(3, [("x", "f4"), ("y", [("z", "f4")])]), out=zeros(1)
#! LaunchError p y
out[0] = p[0].x

# fields of texts : p=zeros(3, [("x", "f4"), ("text", "S4")]), out=zeros(1)
#! LaunchError p text
out[0] = p[0].x

# fields that are not aligned : p=zeros(3, [("flag", "i1"), ("x", "f8")]), out=zeros(1)
#! LaunchError p x align=True
out[0] = p[0].x

# records that are not as large as complex numbers need
#: p=zeros(3, np.dtype([("x", "f8"), ("z", "c16")], align=True)), out=zeros(1)
#! LaunchError p z 16
out[0] = p[0].x

# two elements for three : a=BODIES, points=zeros(3, 2, "f4")
a[0]["at"] = points[1]  #! KernelError a.at 2 3

# one element for three : a=BODIES, points=zeros(3, 1, "f4")
a[0]["at"] = points[1]  #! KernelError a.at 1 3

# gaps between the elements : a=BODIES, points=zeros(3, 3, "f4").copy("F")
a[0]["at"] = points[1]  #! points

# elements of another type : a=BODIES, points=zeros(3, 3)
a[0]["at"] = points[1]  #! a[0]['at'] float32 float64

# one number for three : a=BODIES, points=zeros(3, "f4")
a[0]["at"] = points[1]  #! a[0]['at']

# a number for an array in a record : a=BODIES
a[0].at = 3  #! a[0].at

# records of arrays alone have no size : a=zeros(2, [("at", "f4", 3)])
a[0].at[0] = a.size  #! a.size

# arrays of texts in records : a=zeros(2, [("at", "S3", 3)])
#! LaunchError a at |S3
a[0].at = 3
""")  # fmt: skip
