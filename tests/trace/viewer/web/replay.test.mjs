// The trace and the replay of a block, without a page.

import assert from "node:assert/strict";
import test from "node:test";

import { Replay, READ, WRITTEN } from "../../../../course_lib/trace/viewer/web/replay.js";
import { countUpTo, finish } from "../../../../course_lib/trace/viewer/web/summary.js";
import { activeThreads, conditionOf, full, short, wrongNow } from "../../../../course_lib/trace/viewer/web/text.js";
import { open, popcount, Unreadable } from "../../../../course_lib/trace/viewer/web/trace.js";
import { tiny, wide } from "./tiny.mjs";

const replay = async (thread = 0) => finish(Replay.making((await open(await tiny())).blocks[0], thread));

test("memory holds what was stored, step by step, and nothing before", async () => {
  const at = await replay();
  assert.equal(at.value(0, 5), null);
  at.seek(1);
  assert.deepEqual([at.value(0, 5), at.value(0, 40)], [5, null]);
  at.seek(3);
  assert.equal(at.value(0, 40), 40);
  assert.equal(at.marked[0].get(40), WRITTEN);
});

test("going back is as if one had never been further", async () => {
  const [there, back] = [await replay(3), await replay(3)];
  there.seek(3);
  back.seek(8);
  back.seek(3);
  for (const name of ["values", "variables", "line", "warp", "mask", "events", "now"]) {
    assert.deepEqual(back[name], there[name], name);
  }
  back.seek(0);
  assert.equal(back.line, null);
  assert.deepEqual(back.values, [new Array(64).fill(null)]);
});

test("snapshots change nothing", async () => {
  const [few, many] = [await replay(), await replay()];
  many.snapshotInterval = 2;
  for (const position of [8, 3, 7, 1, 6, 2, 8]) {
    few.seek(position);
    many.seek(position);
    assert.deepEqual(many.values, few.values);
    assert.deepEqual(many.variables, few.variables);
  }
  assert.ok(many.snapshots.length >= 4);
});

test("copies that are made ahead change nothing, and leave few steps to replay", async () => {
  const [plain, prepared] = [await replay(), await replay()];
  prepared.snapshotInterval = 2;
  const more = prepared.snapshotsAhead();
  while (more());
  assert.equal(prepared.position, 0);
  assert.equal(prepared.snapshots.length, 4);
  let replayed = 0;
  prepared.apply = (...step) => {
    replayed++;
    return Replay.prototype.apply.apply(prepared, step);
  };
  for (const position of [8, 3, 7, 1, 6, 2, 8]) {
    replayed = 0;
    plain.seek(position);
    prepared.seek(position);
    assert.ok(replayed <= 2, `${replayed} steps to position ${position}`);
    for (const name of ["values", "variables", "line", "warp", "events", "now"])
      assert.deepEqual(prepared[name], plain[name], name);
  }
});

test("a copy shares with the one before what no step between them has changed", async () => {
  const at = await replay();
  at.snapshotInterval = 1;
  at.seek(8);
  const shared = at.snapshots.map(({ values }, i) => i > 0 && values[0] === at.snapshots[i - 1].values[0]);
  // stores are in steps 1 and 3
  assert.deepEqual(
    shared,
    at.snapshots.map((_, i) => i > 0 && ![1, 3].includes(i)),
  );
});

test("counts and lines are those of the thread and of the block", async () => {
  const at = await replay(0);
  at.seek(7);
  assert.deepEqual(
    [0, 1].map((op) => at.summary.counts.shared[op][7]),
    [32, 64],
  );
  assert.deepEqual(at.onLine(5), { runs: 1, loads: 0 });
  assert.deepEqual(at.summary.counts.shared[0][8], 33);
  assert.deepEqual(at.summary.totals.wavefronts[8], 4);
});

test("a load finds what another warp stored, and the chosen thread's variable follows", async () => {
  const at = await replay(2);
  at.seek(7);
  assert.deepEqual(at.events, [{ op: 0, array: 0, element: 34, values: [34] }]);
  assert.equal(at.markedByThread[0].get(34), READ);
  assert.equal(at.variable("v"), 34);
  at.choose(32);
  at.seek(8);
  assert.equal(full(at.variable("v")), "0.1");
});

test("the next barrier and iteration, and the ones before", async () => {
  const at = await replay(0);
  assert.deepEqual([at.barrierFrom(1), at.iterationFrom(1)], [4, 5]);
  at.seek(4);
  assert.deepEqual([at.barrierFrom(1), at.barrierFrom(-1)], [8, 0]);
  at.seek(7);
  assert.equal(at.iterationFrom(1), 8);
  assert.equal(at.iterationFrom(-1), 5);
});

test("a condition says its truth for the chosen thread", async () => {
  const at = await replay(7);
  at.seek(5);
  assert.deepEqual(conditionOf(at), { text: "7 < 5: false", holds: false });
  at.choose(1);
  at.seek(5);
  assert.deepEqual(conditionOf(at), { text: "1 < 5: true", holds: true });
  at.choose(40);
  at.seek(5);
  assert.equal(conditionOf(at), null);
});

test("a finding shows at its step, and an access that missed is known", async () => {
  const at = await replay(32);
  at.seek(7);
  assert.deepEqual(at.findings, []);
  at.seek(8);
  assert.equal(at.findings.length, 1);
  assert.deepEqual(at.outside, [{ array: 0, loading: true, thread: 32, index: [7] }]);
});

test("a trace that is newer, cut off or no trace at all is refused in a sentence", async () => {
  const refused = async (text, says) =>
    assert.rejects(open(text), (error) => error instanceof Unreadable && says.test(error.message));
  await refused(await tiny((head) => (head.version = 5)), /newer version/);
  await refused(await tiny((head) => (head.packed = head.packed.slice(0, 40))), /can't be read/);
  await refused(await tiny((head) => (head.columns[0][2] = 1e6)), /can't be read/);
  await refused(await tiny((head) => (head.blocks = [])), /can't be read/);
  await refused(await tiny((head) => (head.blocks[0].steps = 9)), /can't be read/);
  await refused("no json", /can't be read/);
  await refused("null", /can't be read/);
});

test("numbers are written as Python writes them", () => {
  assert.equal(full(0.1), "0.1");
  assert.equal(full(1e16), "1e+16");
  assert.equal(full(0.00001), "1e-05");
  assert.equal(full(Math.fround(0.1)), "0.1");
  assert.equal(full(NaN), "nan");
  assert.equal(full(-Infinity), "-inf");
  assert.deepEqual([0.25, -0.5, 12.34, 123.4, 99999, 123456, 0.001].map(short), [
    ".25",
    "-.50",
    "12.3",
    "123",
    "99999",
    "1e5",
    "1e-3",
  ]);
});

test("small things", () => {
  assert.deepEqual(
    [0, 3, 4, 9].map((bound) => countUpTo([1, 3, 3, 9], bound)),
    [0, 3, 3, 4],
  );
  assert.deepEqual([0, 5, 0xffffffff].map(popcount), [0, 2, 32]);
  assert.equal(activeThreads(1, 0b1), "thread 32");
  assert.equal(activeThreads(1, 0b110), "threads 33–34");
  assert.equal(activeThreads(0, 0b101), "2 threads");
});

const wideReplay = async (thread = 0, block = 0) =>
  finish(Replay.making((await open(await wide())).blocks[block], thread));

test("a wide store fills neighbours of the lanes that take part, and each thread has its own local array", async () => {
  const at = await wideReplay(2);
  at.seek(4);
  const C = [0, 11, 12, 0, 0, 0, 0, 0, 0, 13, 14, 0, 0, 0, 0, 0];
  assert.deepEqual(at.values[0], C);
  assert.deepEqual(at.values[1], [null, null, 20, null, null, 21, null, null, 22, null, null, 23]);
  assert.deepEqual([at.value(1, 2), at.value(1, 0), at.value(0, 9)], [22, null, 13]);
});

test("who stores an element of the result owns it; nobody owns the rest", async () => {
  const at = await wideReplay();
  const { trace } = at;
  at.seek(1);
  assert.deepEqual(
    [1, 2, 3, 9, 10].map((e) => at.stored(0, e)),
    [true, true, false, true, true],
  );
  assert.deepEqual([...trace.owned], [-1, 1, 1, -1, -1, -1, -1, -1, -1, 3, 3, -1, -1, -1, -1, 4]);
  assert.deepEqual(
    [trace.blockNumber([1, 0, 0]), trace.blockNumber([0, 0, 0]), trace.blockNumber([7, 0, 0])],
    [1, 0, 1],
  );
  assert.deepEqual(
    [trace.threads, trace.warps, trace.threadPosition(3), trace.threadNumber([1, 1, 0])],
    [4, 1, [1, 1, 0], 3],
  );
  trace.block = [4, 2, 1];
  assert.deepEqual([trace.threadPosition(5), trace.threadNumber([1, 1, 0])], [[1, 1, 0], 5]);
  assert.deepEqual(trace.initial({ ...trace.arrays[0], initial: 0, size: 2 }), [0, 8]);
  assert.equal(trace.address(trace.arrays[0], 9), 4 * (1 + 2 * 1));
  assert.equal(trace.elements(trace.arrays[0], 9, 2), "C[1, 1:3]");
});

test("what a thread has loaded, and what requests cost so far, line by line and array by array", async () => {
  const at = await wideReplay(3);
  at.seek(4);
  assert.deepEqual(at.elementsLoadedByThread(0), [0, 9, 10]);
  at.seek(3);
  assert.deepEqual(at.elementsLoadedByThread(0), []);
  at.choose(2);
  at.seek(4);
  assert.deepEqual(at.elementsLoadedByThread(0), [0, 1, 2]);
  assert.deepEqual(
    [2, 3, 5, 10].map((e) => at.inRegion(0, e)),
    [true, false, false, true],
  );
  assert.deepEqual([...at.summary.totals.requests], [0, 1, 1, 1, 3]);
  const sites = [...at.summary.sites.values()].map(({ line, array, op, positions, sectors }) => [
    line,
    array,
    op,
    positions,
    sectors,
  ]);
  assert.deepEqual(sites, [
    [3, 0, 1, [1], [1]],
    [6, 0, 0, [4, 4], [2, 5]],
  ]);
  const { global, local } = at.summary.counts;
  assert.deepEqual([global[0][4], global[1][4], local[1][4]], [4, 2, 4]);
  assert.deepEqual(at.onLine(6), { runs: 1, loads: 2 });
  assert.deepEqual(at.onLine(5), { runs: 0, loads: 0 }); // it goes on with a line that was counted before
});

test("accesses beyond the edge name each lane's own place", async () => {
  const at = await wideReplay();
  at.seek(3);
  const places = at.outside.map(({ thread, index, loading }) => [thread, index, loading]);
  assert.deepEqual(places, [
    [1, [2, 0], true],
    [2, [0, 8], true],
    [0, [2, 8], false],
    [3, [2, 8], false],
  ]);
});

test("the next iteration is that of the loop around the line, or of the one around that", async () => {
  const at = await wideReplay();
  at.seek(3); // in the inner loop
  assert.deepEqual(at.trace.loopsAround(5), [3, 2]);
  assert.deepEqual(at.trace.loopsAround(6), []);
  assert.deepEqual([at.iterationFrom(-1), at.iterationFrom(1)], [1, 4]);
  at.seek(4); // in no loop: any iteration
  assert.deepEqual([at.iterationFrom(-1), at.iterationFrom(1)], [2, 4]);
});

test("a wrong element is said at the step that stores it, to the thread that does", async () => {
  const at = await wideReplay(1);
  at.trace.wanted = { C: { 2: ["12", "5"] } };
  at.seek(1);
  assert.deepEqual(wrongNow(at), ["C[0, 2] holds 12 in the end, and 5 was wanted."]);
  at.choose(3);
  at.seek(1);
  assert.deepEqual(wrongNow(at), []);
});
