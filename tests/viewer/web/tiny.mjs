// A trace written by hand: two warps of a block of 64 store into shared memory, wait, and load what the other stored.

const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array, f4: Float32Array, f8: Float64Array };
const ALL = 0xffffffff;

/** What `payload.py` would write of it; `change` may alter the head before it is put into text. */
export async function tiny(change = () => {}) {
  const lanes = Array.from({ length: 32 }, (_, lane) => lane);
  // vectors: 0 thread numbers from 0, 1 of the second warp, 2 one 7, 3 one 5, 4 a float for all
  const ints = [...lanes, ...lanes.map((lane) => 32 + lane), 7, 5];
  const columns = {
    step_line: ["u4", [2, 3, 2, 3, 4, 4, 5, 5]],
    step_warp: ["u2", [0, 0, 1, 1, 0, 1, 0, 1]],
    step_lanes: ["u4", [ALL, ALL, ALL, ALL, ALL, ALL, ALL, 1]],
    step_flags: ["u1", [0, 1, 0, 1, 2, 2, 0, 0]],
    step_access: ["u4", [0, 1, 1, 2, 2, 2, 2, 3, 4]],
    step_variable: ["u4", [0, 0, 0, 0, 0, 0, 0, 1, 2]],
    step_test: ["u4", [0, 0, 0, 0, 0, 1, 1, 1, 1]],
    step_outside: ["u4", [0, 0, 0, 0, 0, 0, 0, 0, 1]],
    access_op: ["u1", [1, 1, 0, 0]],
    access_array: ["u2", [0, 0, 0, 0]],
    access_lanes: ["u4", [ALL, ALL, ALL, 1]],
    access_width: ["u1", [1, 1, 1, 1]],
    access_base: ["i4", [0, 0, 32, 3]],
    access_pattern: ["i4", [0, 1, 0, 2]],
    access_values: ["i4", [0, 1, -1, -1]],
    access_sectors: ["u2", [0, 0, 0, 0]],
    access_wavefronts: ["u2", [1, 1, 1, 1]],
    access_conflicts: ["u2", [0, 0, 0, 0]],
    variable_name: ["u2", [0, 0]],
    variable_values: ["i4", [1, 4]],
    test_text: ["u2", [0]],
    test_lanes: ["u4", [ALL]],
    test_truth: ["u4", [0b10]],
    test_left: ["i4", [0]],
    test_right: ["i4", [3]],
    outside_op: ["u1", [0]],
    outside_array: ["u2", [0]],
    outside_lanes: ["u4", [1]],
    outside_index: ["i4", [2]],
    vector_kind: ["u1", [0, 0, 0, 0, 1]],
    vector_start: ["u4", [0, 32, 64, 65, 0]],
    vector_length: ["u4", [32, 32, 1, 1, 1]],
    ints: ["i4", ints],
    floats: ["f4", [0.1]],
    doubles: ["f8", []],
  };
  const parts = [];
  const named = Object.entries(columns).map(([name, [type, values]]) => {
    const bytes = new Uint8Array(TYPES[type].from(values).buffer);
    parts.push(bytes, new Uint8Array((8 - (bytes.length % 8)) % 8));
    return [name, type, values.length];
  });
  const stream = new Blob(parts).stream().pipeThrough(new CompressionStream("deflate"));
  const packed = Buffer.from(await new Response(stream).arrayBuffer()).toString("base64");
  const head = {
    version: 2,
    kernel: "tiny",
    grid: [1, 1, 1],
    block: [64, 1, 1],
    source: [[1, "def tiny():", 0], [2, "    s[t] = t", 0], [3, "    cuda.syncthreads()", 0], [4, "    while t < 5:", 4], [5, "        v = s[63 - t]", 4]],
    loops: [[4, 0]],
    names: ["v"],
    accumulators: [],
    owner: null,
    arrays: [{ name: "s", space: "shared", dtype: "float32", itemsize: 4, shape: [64], strides: [1], role: null, tile: null, initial: -1 }],
    blocks: [{ at: [0, 0, 0], first: 0, steps: 8, releases: [4], phases: [[[1, "store"], [2, "barrier"], [7, "load"]], [[3, "store"], [4, "barrier"], [8, "load"]]] }],
    findings: [{ kind: "out-of-bounds", severity: "error", line: 5, other_line: null, array: "s", index: [7], message: "m", count: 1, at: [{ block: 0, step: 8, thread: 32 }] }],
    traffic: [],
    texts: [],
    tests: [["t < 5", ["t", "<", "5"]]],
    columns: named,
    packed,
  };
  change(head);
  return JSON.stringify(head);
}
