"""Arrays of records: fields are read and written at their true addresses, and numba's random generators run."""

import numpy as np
import pytest
from numba import cuda, float32
from numba.cuda.random import (
    init_xoroshiro128p_states_cpu,
    xoroshiro128p_dtype,
    xoroshiro128p_next,
    xoroshiro128p_normal_float32,
    xoroshiro128p_uniform_float32,
    xoroshiro128p_uniform_float64,
)

from course_lib import KernelError, LaunchError, UnsupportedKernelError, simulate

PARTICLE = np.dtype([("x", "f4"), ("charge", "i2"), ("mass", "f8"), ("id", "i4")], align=True)


def particles(*shape):
    rng = np.random.default_rng(3)
    records = np.zeros(shape, PARTICLE)
    for field in PARTICLE.names:
        records[field] = rng.integers(-9, 9, shape)
    return records


def states(count, seed=7):
    made = np.zeros(count, xoroshiro128p_dtype)
    init_xoroshiro128p_states_cpu(made, seed, 0)
    return made


def pi(rng_states, draws, out):
    i = cuda.grid(1)
    if i < out.size:
        inside = 0
        for _ in range(draws):
            x = xoroshiro128p_uniform_float32(rng_states, i)
            y = xoroshiro128p_uniform_float32(rng_states, i)
            if x * x + y * y <= 1:
                inside += 1
        out[i] = 4 * inside / draws


@pytest.mark.parametrize(
    "draw",
    [
        xoroshiro128p_next,
        xoroshiro128p_uniform_float32,
        xoroshiro128p_uniform_float64,
        xoroshiro128p_normal_float32,
    ],
    ids=lambda f: f.__name__,
)
def test_random_numbers_are_those_of_the_compiled_generator(draw):
    def kernel(rng_states, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            for k in range(out.shape[1]):
                out[i, k] = draw(rng_states, i)

    dtype = "u8" if draw is xoroshiro128p_next else "f8"
    given, want, out = states(50), np.zeros((50, 3), dtype), np.zeros((50, 3), dtype)
    compiled = given.copy()
    for i in range(50):
        for k in range(3):
            want[i, k] = draw(compiled, i)
    assert simulate(kernel)[2, 32](given, out).findings == ()
    np.testing.assert_array_equal(given, compiled)
    np.testing.assert_allclose(out, want, rtol=1e-6 if dtype == "f8" else 0)


def test_monte_carlo():
    out = np.zeros(100, "f4")
    assert simulate(pi)[4, 32](states(100), 50, out).findings == ()
    assert abs(out.mean() - np.pi) < 0.1


def test_one_state_for_all_threads_is_a_race():
    def kernel(rng_states, out):
        i = cuda.grid(1)
        out[i] = xoroshiro128p_uniform_float32(rng_states, 0)

    run = simulate(kernel, strict=False)[1, 64](states(1), np.zeros(64, "f4"))
    assert {f.kind for f in run.findings} == {"race"}
    assert {f.array for f in run.findings} == {"rng_states.s0", "rng_states.s1"}


def every_way(p, out):
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


def test_fields_in_every_spelling():
    p, out = particles(70), np.zeros((70, 3))
    want = p.copy()
    np.testing.assert_array_equal(simulate(every_way)[3, 32](p, out).errors, ())
    np.testing.assert_array_equal(
        out, np.stack([want["x"] + want["charge"], want["mass"] ** 2, want["id"] + 140.0], axis=1)
    )
    want["x"] = 2.5
    want["charge"] += 3
    want["mass"] += 1
    want["id"] -= 1
    np.testing.assert_array_equal(p, want)


@pytest.mark.parametrize("order", ["C", "F"])
def test_records_of_two_dimensions(order):
    def kernel(p, out):
        i, j = cuda.grid(2)
        if i < p.shape[0] and j < p.shape[1]:
            out[i, j] = p[i, j].mass
            p[i, j].x = i + 10 * j

    p, out = np.asarray(particles(5, 7), order=order), np.zeros((5, 7))
    assert simulate(kernel)[1, (8, 8)](p, out).findings == ()
    np.testing.assert_array_equal(out, p["mass"])
    np.testing.assert_array_equal(p["x"], np.add.outer(np.arange(5), 10 * np.arange(7)))


@pytest.mark.parametrize("field", PARTICLE.names)
def test_sectors_are_those_of_the_true_addresses(field):
    def kernel(p, out):
        i = cuda.grid(1)
        out[i] = p[i][field]

    p = particles(64)
    run = simulate(kernel)[2, 32](p, np.zeros(64))
    first = np.arange(64) * PARTICLE.itemsize + PARTICLE.fields[field][1]
    want = sum(np.unique(warp // 32).size for warp in first.reshape(2, 32))
    assert run.traffic.select(array=f"p.{field}").sectors == want


def test_a_trace_holds_the_fields():
    p = particles(32)
    run = simulate(every_way, trace=True)[1, 32](p, np.zeros((32, 3)))
    assert run.trace is not None and p["x"].tolist() == [2.5] * 32


def test_a_single_record_is_read_and_written():
    def reads(p, out):
        out[cuda.threadIdx.x] = p.mass + p["x"]

    def writes(p, q):
        if cuda.threadIdx.x:
            p.id = q["id"] = cuda.threadIdx.x

    p, out = particles(2), np.zeros(3)
    simulate(reads)[1, 3](p[1], out)
    np.testing.assert_array_equal(out, p["mass"][1] + p["x"][1])
    simulate(writes)[1, 2](p[0], p[1])
    assert p["id"].tolist() == [1, 1]
    p.flags.writeable = False
    with pytest.raises(LaunchError, match="read-only"):
        simulate(writes)[1, 2](p[0], p[1])


@cuda.jit(device=True)
def set_first(pair, value):
    pair[0][0] = value


def test_a_store_to_an_item_of_a_tuple_in_a_device_function_is_watched():
    def kernel(a, b):
        set_first((a, b), cuda.threadIdx.x)

    run = simulate(kernel, strict=False)[1, 64](np.zeros(2, "i4"), np.zeros(2, "i4"))
    assert [(f.kind, f.array) for f in run.findings] == [("race", "a")]


PAIRS = np.array([(1, [2, 3]), (4, [5, 6]), (7, [8, 9])], np.dtype([("x", "f8"), ("y", "i2", 2)], align=True))
TEXTS = np.zeros(2, [("x", "S4")])


def test_records_outside_of_the_kernel_are_constants():
    def kernel(out):
        i = cuda.threadIdx.x
        frozen = cuda.const.array_like(PAIRS)
        out[i] = frozen[i].x * 10 + PAIRS[i]["y"][1] + PAIRS["y"][i, 0] + len(frozen)

    out = np.zeros(3)
    run = simulate(kernel)[1, 3](out)
    assert out.tolist() == [18, 54, 90]
    assert {(row.array, row.space) for row in run.traffic.rows if row.op == "load"} == {
        ("PAIRS.x", "constant"),
        ("PAIRS.y", "constant"),
    }

    def writes(out):
        PAIRS[0].x = 1

    with pytest.raises(LaunchError, match="writes 'PAIRS.x', which is read-only"):
        simulate(writes)[1, 1](out)
    assert PAIRS["x"][0] == 1


def no_such_field(p, out):
    out[0] = p[0].weight


def slice_of_records(p, out):
    out[0] = p[1:][0].x


def whole_record(p, out):
    p[0] = 1


def other_record(p, out):
    tile = cuda.const.array_like(PAIRS)
    p[0] = tile[1]


def wrong_constant(p, out):
    out[0] = TEXTS[0].x


def field_by_variable(p, out):
    name = 1
    out[0] = p[0][name].x


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (no_such_field, "has the fields x, charge, mass, id"),
        (slice_of_records, "one index for each dimension"),
        (whole_record, "takes a record alone"),
        (other_record, "same names and types"),
        (wrong_constant, "TEXTS holds"),
        (field_by_variable, "has the fields x, charge, mass, id"),
    ],
    ids=lambda k: getattr(k, "__name__", ""),
)
def test_what_remains_is_refused_by_name(kernel, message):
    with pytest.raises(UnsupportedKernelError, match=message):
        simulate(kernel)[1, 1](particles(3), np.zeros(1))


@pytest.mark.parametrize(
    ("dtype", "message"),
    [
        ([("x", "f4"), ("y", [("z", "f4")])], "records 'p' holds .* in the field 'y'"),
        ([("x", "f4"), ("text", "S4")], "records 'p' holds .* in the field 'text'"),
        ([("flag", "i1"), ("x", "f8")], "align=True"),
        (np.dtype([("x", "f8"), ("z", "c16")], align=True), "a multiple of 16 bytes"),
    ],
)
def test_records_that_are_not_run(dtype, message):
    with pytest.raises(LaunchError, match=message):
        simulate(no_such_field)[1, 1](np.zeros(3, dtype), np.zeros(1))


def test_records_in_shared_memory_are_refused():
    def kernel(out):
        tile = cuda.shared.array(4, PARTICLE)
        out[0] = float32(tile[0].x)

    with pytest.raises(UnsupportedKernelError, match="PARTICLE is not a type that the simulator runs"):
        simulate(kernel)[1, 1](np.zeros(1))


NESTED = np.dtype([("at", "f4", 3), ("mass", "f8"), ("pair", "i2", (2, 2))], align=True)


def bodies(count):
    made = np.zeros(count, NESTED)
    rng = np.random.default_rng(5)
    for field, *_ in NESTED.descr:
        if field:
            made[field] = rng.integers(-9, 9, made[field].shape)
    return made


def test_fields_may_be_arrays():
    def kernel(a, out):
        i = cuda.grid(1)
        one = a[i]
        for k in range(len(one.at)):
            out[i] += one.at[k] * a["pair"][i, 1, k % 2]
        one.at[2] = i
        a[i].pair[0][1] += 1
        cuda.atomic.add(a[i]["at"], 0, 1)
        one.mass = a.at[i, 1] + a.size

    a, out = bodies(5), np.zeros(5)
    want = a.copy()
    pairs = want["pair"][:, 1][:, [0, 1, 0]]
    product = (want["at"].astype(float) * pairs).sum(1)
    want["mass"] = want["at"][:, 1] + 5
    want["at"][:, 2] = np.arange(5)
    want["at"][:, 0] += 1
    want["pair"][:, 0, 1] += 1
    run = simulate(kernel)[1, 5](a, out)
    assert {f.kind for f in run.findings} == {"float64"}
    np.testing.assert_array_equal(out, product)
    for field in ("at", "mass", "pair"):
        np.testing.assert_array_equal(a[field], want[field])
    assert NESTED.itemsize == 32  # so each record is a sector of its own
    assert run.traffic.select(array="a.mass", op="store").sectors == 5


def test_a_record_by_value_has_arrays_too():
    def kernel(one, out):
        out[0] = one.at[1] + one["pair"][1, 0]

    a, out = bodies(3), np.zeros(1)
    simulate(kernel)[1, 1](a[1], out)
    assert out[0] == a["at"][1, 1] + a["pair"][1, 1, 0]


def test_whole_records_and_arrays_in_them_are_copied():
    """As NumPy does it; each field is an access of its own."""

    @cuda.jit(device=True)
    def first(records):
        return records[0]

    def kernel(a, b, one, points):
        i = cuda.threadIdx.x
        a[i] = b[(i + 1) % 4]
        a[i]["at"] = points[i]
        if i == 2:
            one["pair"] = b[2]["pair"]
            b[3] = first(b)

    a, b, points = np.zeros(4, NESTED), bodies(5), np.random.default_rng(6).random((4, 3)).astype("f4")
    before = b.copy()
    run = simulate(kernel)[1, 4](a, b[:4], b[4], points)
    assert run.findings == () and run.traffic.select(array="a.mass", op="store", line=run.traffic.rows[0].line)
    want = before[[1, 2, 3, 0]]
    want["at"] = points
    np.testing.assert_array_equal(a, want)
    np.testing.assert_array_equal(b["pair"][4], before["pair"][2])
    np.testing.assert_array_equal(b[3], before[0])


@cuda.jit(device=True)
def counted(count):
    count[0] += 1
    return count[0] - 1


def test_indices_of_a_copied_record_are_evaluated_once_in_pythons_order():
    def kernel(a, b, count):
        a[counted(count)] = b[counted(count)]
        a[counted(count)]["at"] = b[counted(count)]["at"]

    a, b, count = bodies(5), bodies(5)[::-1].copy(), np.zeros(1, "i8")
    want = a.copy()
    want[1], want["at"][3] = b[0], b["at"][2]
    simulate(kernel)[1, 1](a, b, count)
    np.testing.assert_array_equal(a, want)
    assert count[0] == 4


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.zeros((3, 2), "f4"), "has 2 elements, and that of a.at 3"),
        (np.zeros((3, 1), "f4"), "has 1 elements, and that of a.at 3"),
        (np.zeros((3, 3), "f4", order="F"), "has gaps"),
        (np.zeros((3, 3), "f8"), "is given a 1-dimensional array of float64"),
        (np.zeros(3, "f4"), "store to the array's elements"),
    ],
)
def test_an_array_in_a_record_takes_its_like_alone(points, message):
    def kernel(a, points):
        a[0]["at"] = points[1]

    with pytest.raises((UnsupportedKernelError, KernelError), match=message):
        simulate(kernel)[1, 1](bodies(1), points)


def test_what_fields_that_are_arrays_lack():
    def whole(a):
        a[0].at = 3

    def outside(a):
        a[0].at[1] = a[1].at[3]

    def of_no_number(a):
        a[0].at[0] = a.size

    with pytest.raises(UnsupportedKernelError, match=r"a\[0\].at is an array; store to its elements"):
        simulate(whole)[1, 1](bodies(2))
    (finding,) = simulate(outside, strict=False)[1, 1](bodies(2)).findings
    assert (finding.kind, finding.index) == ("out-of-bounds", (3,))
    with pytest.raises(UnsupportedKernelError, match="does not know its size"):
        simulate(of_no_number)[1, 1](np.zeros(2, [("at", "f4", 3)]))
    with pytest.raises(LaunchError, match="numbers and arrays of numbers"):
        simulate(whole)[1, 1](np.zeros(2, [("at", "S3", 3)]))
