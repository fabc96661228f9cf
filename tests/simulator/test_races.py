"""Races that are easy to miss, or to invent: partial syncwarps, words that many threads share, long intervals."""

import ast
import tracemalloc
from dataclasses import replace

import kernels_with_bugs as corpus
import numpy as np
import pytest
from nightly import at_night, every
from numba import cuda, float32, int32
from oracles import happens_before
from oracles.sources import line_of

from course_lib import simulate
from course_lib.simulator.checks.races import detector, log, messages
from course_lib.simulator.observer import Observer
from course_lib.simulator.simulation import RUNNING

SCHEDULES = ("in-order", "reversed", 1)


def findings(kernel, grid, block, *arguments, **options):
    return simulate(kernel, strict=False, **options)[grid, block](*arguments).findings


def kinds(*launch, **options):
    return [f.kind for f in findings(*launch, **options)]


def shared_total(total, out):
    cuda.atomic.add(total, 0, 1)
    if cuda.grid(1) == out[0]:
        total[0] = 0


def shared_flag(flag, out):
    i = cuda.grid(1)
    out[i] = flag[0]
    if i == out.size - 1:
        flag[0] = 1


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_word_that_thousands_of_threads_share_is_entered_a_few_times_an_access(schedule, monkeypatch):
    entered = []
    original = detector.RaceDetector._put_latest

    def counted(self, keys, me, kind):
        entered.append(keys.size)
        return original(self, keys, me, kind)

    monkeypatch.setattr(detector.RaceDetector, "_put_latest", counted)
    monkeypatch.setattr(log, "LOG_ENTRIES", 0)  # else a launch that only updates it needs no look at its words
    assert kinds(shared_total, 256, 64, np.zeros(1, "i4"), np.full(4, -1), schedule=schedule) == []
    assert 0 < sum(entered) <= 2 * 2 * 3  # two chunks of blocks, two warps
    for kernel, arguments in (
        (shared_total, (np.zeros(1, "i4"), np.full(4, 5000))),
        (shared_flag, (np.zeros(1, "i4"), np.zeros(256 * 64, "i4"))),
    ):
        assert set(kinds(kernel, 256, 64, *arguments, schedule=schedule)) == {"race"}


def test_equal_values_are_called_equal_only_if_all_are():
    def kernel(out):
        out[0] = min(cuda.threadIdx.x, 1)

    def later(out):
        out[cuda.threadIdx.x // 16] = 0 if cuda.blockIdx.x == 0 else cuda.threadIdx.x

    def always(out):
        out[cuda.threadIdx.x // 16] = 3

    for kernel_, grid, same in ((kernel, 1, False), (later, 2, False), (always, 2, True)):
        (race,) = findings(kernel_, grid, 32, np.zeros(2, "i4"))
        assert ("same value" in race.message) == same


def own_elements(x, shared, out, when):
    """Each thread updates its own elements; in one iteration thread 40 reads its neighbour's."""
    i = cuda.grid(1)
    for k in range(4):
        x[i] += k
        if k == when and i == 40:
            out[0] = x[i + 1]
    cuda.atomic.add(shared, 0, 1)


@pytest.mark.parametrize("entries", [0, 3, 4096])
def test_a_launch_without_races_is_passed_by_a_plain_reason_and_one_access_of_another_thread_is_a_race(
    entries, monkeypatch
):
    monkeypatch.setattr(log, "LOG_ENTRIES", entries)
    applied = []
    original = detector.RaceDetector.apply
    monkeypatch.setattr(detector.RaceDetector, "apply", lambda *a: applied.append(a) or original(*a))

    def found(when):
        applied.clear()
        zeros = np.zeros(96, "i4"), np.zeros(1, "i4"), np.zeros(1, "i4")
        return [(f.kind, f.array, f.index, f.count) for f in findings(own_elements, 2, 48, *zeros, when)]

    assert found(9) == []
    assert bool(applied) == (entries < 4096)
    assert {race[:3] for race in found(2)} == {("race", "x", (41,))}


@pytest.mark.parametrize("which", ["bug", "twin"])
@pytest.mark.parametrize(
    "name", every(12, [n for n in corpus.NAMES if n != "barrier_in_the_inner_loop_under_the_guard"])
)
def test_a_log_that_is_replayed_early_gives_the_same_findings(name, which, monkeypatch):
    pair = corpus.load(name)

    def run():
        return {(f.kind, f.line, f.other_line, f.array) for f in pair.simulated(which)[0].findings}

    whole = run()
    monkeypatch.setattr(log, "LOG_ENTRIES", 1)
    assert run() == whole
    monkeypatch.setattr(log, "LOG_BYTES", 0)
    assert run() == whole


@pytest.mark.nightly
def test_a_long_interval_does_not_fill_memory(monkeypatch):
    def gather(index, out):
        tile = cuda.shared.array(64, int32)
        i = cuda.threadIdx.x
        tile[i] = i
        tile[i + 32] = i
        cuda.syncthreads()
        total = 0
        for k in range(index.shape[0]):
            total += tile[index[k, i] ^ (cuda.blockIdx.x & 63)]
        out[cuda.grid(1)] = total

    index = np.random.default_rng(3).integers(0, 64, (400, 32))
    want = np.array([(index ^ b) % 32 for b in range(128)]).sum(axis=1).reshape(-1)

    def peak(budget):
        monkeypatch.setattr(log, "LOG_BYTES", budget)
        out = np.zeros(128 * 32, "i8")
        tracemalloc.start()
        assert kinds(gather, 128, 32, index, out) == []
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        np.testing.assert_array_equal(out, want)
        return used

    peak(2**20)  # parsed, compiled and imported
    assert 3 * peak(2**20) < peak(2**30)


def check_with_vector_clocks(program, drawn, schedule="in-order"):
    """No race is found that the clocks do not find, and one if they find any."""
    texts = ("total += tile", "tile[index[k, t]] =", "add(tile", "total += words", "words[index[k, t]] =", "add(words")
    line = {kind: line_of(program, text) for kind, text in enumerate(texts)}
    want = {(line[a], line[b]) for a, b in happens_before.races(*drawn)}
    blocks, threads, *table = drawn
    words, out = np.zeros(happens_before.WORDS, "i4"), np.zeros(blocks * threads, "i8")
    found = findings(program, blocks, threads, *table, words, out, schedule=schedule)
    assert {f.kind for f in found} <= {"race"}
    got = {(f.other_line, f.line) for f in found}
    assert got <= want
    assert bool(got) == bool(want)


@pytest.mark.parametrize("seed", every(3, range(40)))
def test_random_programs_race_where_vector_clocks_say_so(seed):
    rng = np.random.default_rng(seed)
    for _ in range(5):
        drawn = happens_before.draw(rng)
        for schedule in ("in-order", seed):
            check_with_vector_clocks(happens_before.program_without_fences, drawn, schedule)


@pytest.mark.parametrize("seed", every(3, range(40)))
def test_random_programs_with_fences_race_where_vector_clocks_say_so(seed):
    """Blocks of one warp, which run together step by step, so that the order of the atomics is the table's."""
    rng = np.random.default_rng([seed, 9])
    for _ in range(10):
        check_with_vector_clocks(happens_before.program, happens_before.draw_fences(rng))


@pytest.mark.parametrize("seed", every(3, range(40)))
def test_a_word_that_several_threads_read_races_where_vector_clocks_say_so(seed):
    """Of the readers, a syncwarp of a part of the warp or a release orders some."""
    rng = np.random.default_rng([seed, 77])
    for _ in range(4):
        check_with_vector_clocks(happens_before.program_without_fences, happens_before.draw_readers(rng, fences=False))
        check_with_vector_clocks(happens_before.program, happens_before.draw_readers(rng, fences=True))


def count_up(a, out, n):
    i = cuda.threadIdx.x
    for _ in range(n):
        a[0] += 1
    out[i] = a[0]


def count_up_in_shared_memory(a, out, n):
    tile = cuda.shared.array(2, int32)
    i = cuda.threadIdx.x
    tile[i % 2] = 0
    for k in range(n):
        tile[0] += 1
        tile[1] = tile[0] if k % 3 else i
    out[i] = tile[0]


def add_up(a, out, n):
    tile = cuda.shared.array(1, int32)
    i = cuda.threadIdx.x
    if i == 0:
        tile[0] = 0
    cuda.syncthreads()
    for _ in range(n):
        tile[0] += 1
    if i == 0:
        out[i] = tile[0]


def take_turns(a, out, n):
    i = cuda.threadIdx.x
    for k in range(n):
        if i == 3:
            a[1] = k
        a[0] = a[1] + i // 8 * (k > n // 2)
        if k % 16 == 0:
            cuda.syncwarp()
    out[i] = a[0]


@pytest.mark.parametrize("threads", [at_night(1), 8, at_night(40), 96])
@pytest.mark.parametrize("kernel", [count_up, count_up_in_shared_memory, add_up, take_turns], ids=lambda k: k.__name__)
def test_what_a_loop_repeats_is_looked_up_and_gives_the_same_findings(kernel, threads, monkeypatch):
    """Kinds, lines, threads, messages and counts; and 240 iterations are not worked out one by one."""
    applied = []
    original = detector.RaceDetector.apply

    def counted(self, access, epoch):
        applied.append(access)
        original(self, access, epoch)

    monkeypatch.setattr(detector.RaceDetector, "apply", counted)
    monkeypatch.setattr(log, "LOG_ENTRIES", 0)  # else a launch of one thread is passed by a plain reason

    def run():
        applied.clear()
        out = np.zeros(threads, "i4")
        return findings(kernel, 1, threads, np.zeros(2, "i4"), out, 240), out.tolist(), len(applied)

    looked_up, results, few = run()
    monkeypatch.setattr(detector, "COMPUTED_TIMES", 10**9)
    worked_out, expected, many = run()
    assert (looked_up, results) == (worked_out, expected)
    assert many > 480
    assert few < many / (10 if kernel is not take_turns else 1.5)


def test_asking_for_races_in_a_launch_that_runs_changes_none():
    """Races before a barrier of the block and after it, in global and in shared memory, are told as they are."""

    @cuda.jit
    def sums(x, y):
        s = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        y[t // 2] = t
        s[t // 2] = t
        cuda.syncthreads()
        x[t] = s[63 - t // 2] + y[t // 4]
        cuda.syncthreads()

    so_far = []

    class Asking(Observer):
        def barrier(self, arrivals, complete):
            so_far.append({each.key: each.count for judge in RUNNING[-1] for each in judge.findings_so_far()})

    def found(*watching):
        simulation = replace(simulate(sums, strict=False), watching=watching)
        run = simulation[2, 64](np.zeros(64, np.float32), np.zeros(64, np.float32))
        return {each.key: each.count for each in run.findings}

    assert found(Asking()) == found()
    first, *_ = so_far
    assert first.keys() < found().keys()
    assert {key[0] for key in first} == {"race"} and len(first) > 1


@pytest.mark.parametrize(
    ("statement", "others", "updates"),
    [
        ("counts[k] += 1", (), True),
        ("counts[k] = 2 * counts[k]", (), True),
        ("counts[k] += counts[k + 1] + x[k]", ("counts[k + 1]",), True),
        ("counts[k] = counts[j] - counts[j]", ("counts[j]",), False),
        ("x[k] += counts[k]", (), False),
    ],
)
def test_what_a_line_reads_of_the_array_that_it_stores_to(statement, others, updates):
    """So a race in it is told apart: several threads update one element, or one reads another's."""
    tree = ast.parse(f"\n{statement}\n")
    assert (messages.others_read(tree, 2, "counts"), messages.updates_one(tree, 2, "counts")) == (others, updates)
    assert not messages.others_read(tree, 1, "counts") and not messages.updates_one(tree, 1, "counts")
