// A trace written by hand: two warps of a block of 64 store into shared memory, wait, and load what the other stored.

const TYPES = {
  i1: Int8Array,
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
  i4: Int32Array,
  f4: Float32Array,
  f8: Float64Array,
};
const ALL = 0xffffffff;

/**
 * What `payload.py` would write: the columns one after another, of each the first bytes of all its numbers, and so on.
 * @param {object} head
 * @param {Record<string, [keyof typeof TYPES, number[]]>} columns
 * @param {(head: any) => void} change  may alter the head before it is put into text
 */
async function written(head, columns, change) {
  const parts = [];
  const named = Object.entries(columns).map(([name, [type, values]]) => {
    const column = TYPES[type].from(values);
    const bytes = [...new Uint8Array(column.buffer)];
    for (let byte = 0; byte < column.BYTES_PER_ELEMENT; byte++) {
      parts.push(Uint8Array.from(bytes.filter((_, i) => i % column.BYTES_PER_ELEMENT === byte)));
    }
    return [name, type, values.length];
  });
  const stream = new Blob(parts).stream().pipeThrough(new CompressionStream("deflate"));
  const packed = Buffer.from(await new Response(stream).arrayBuffer()).toString("base64");
  const whole = { version: 4, ...head, columns: named, packed };
  change(whole);
  return JSON.stringify(whole);
}

export async function tiny(change = () => {}) {
  const lanes = Array.from({ length: 32 }, (_, lane) => lane);
  // vectors: 0 thread numbers from 0, 1 of the second warp, 2 one 7, 3 one 5, 4 a float for all
  const ints = [...lanes, ...lanes.map((lane) => 32 + lane), 7, 5];
  const columns = {
    step_line: ["u4", [2, 3, 2, 3, 4, 4, 5, 5]],
    step_warp: ["u2", [0, 0, 1, 1, 0, 1, 0, 1]],
    step_lanes: ["u4", [ALL, ALL, ALL, ALL, ALL, ALL, ALL, 1]],
    step_flags: ["u1", [0, 1, 0, 1, 2, 2, 0, 0]],
    step_frame: ["u4", [0, 0, 0, 0, 1, 1, 1, 1]],
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
    access_old: ["i4", [-1, -1, -1, -1]],
    access_given: ["i4", [-1, -1, -1, -1]],
    access_operation: ["i1", [-1, -1, -1, -1]],
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
  const head = {
    kernel: "tiny",
    grid: [1, 1, 1],
    block: [64, 1, 1],
    source: [
      [1, "def tiny():", 0],
      [2, "    s[t] = t", 0],
      [3, "    cuda.syncthreads()", 0],
      [4, "    while t < 5:", 4],
      [5, "        v = s[63 - t]", 4],
    ],
    loops: [[4, 0]],
    names: ["v"],
    operations: [],
    accumulators: [],
    owner: null,
    arrays: [
      {
        name: "s",
        space: "shared",
        dtype: "float32",
        itemsize: 4,
        shape: [64],
        strides: [1],
        role: null,
        tile: null,
        initial: -1,
      },
    ],
    blocks: [
      {
        at: [0, 0, 0],
        first: 0,
        steps: 8,
        releases: [4],
        phases: [
          [
            [1, "store"],
            [2, "barrier"],
            [7, "load"],
          ],
          [
            [3, "store"],
            [4, "barrier"],
            [8, "load"],
          ],
        ],
      },
    ],
    findings: [
      {
        kind: "out-of-bounds",
        severity: "error",
        line: 5,
        other_line: null,
        array: "s",
        index: [7],
        message: "m",
        count: 1,
        counted: "1 access",
        at: [{ block: 0, step: 8, thread: 32 }],
      },
    ],
    traffic: [],
    texts: [],
    tests: [["t < 5", ["t", "<", "5"]]],
  };
  return written(head, columns, change);
}

/**
 * Two blocks of 2×2 threads: the first stores two elements a lane into C, from two of its lanes, keeps numbers of its
 * own, asks beyond the edge of C twice, and loads; the second stores one element.
 */
export async function wide(change = () => {}) {
  const columns = {
    step_line: ["u4", [3, 4, 5, 6, 3]],
    step_warp: ["u2", [0, 0, 0, 0, 0]],
    step_lanes: ["u4", [15, 15, 15, 15, 15]],
    step_flags: ["u1", [2, 2, 4, 0, 0]],
    step_frame: ["u4", [0, 0, 1, 1, 0]],
    step_access: ["u4", [0, 1, 2, 2, 4, 5]],
    step_variable: ["u4", [0, 0, 0, 0, 0, 0]],
    step_test: ["u4", [0, 0, 0, 0, 0, 0]],
    step_outside: ["u4", [0, 0, 0, 2, 2, 2]],
    access_op: ["u1", [1, 1, 0, 0, 1]],
    access_array: ["u2", [0, 1, 0, 0, 0]],
    access_lanes: ["u4", [0b1010, 15, 0b1100, 0b1100, 1]],
    access_width: ["u1", [2, 1, 2, 1, 1]],
    access_base: ["i4", [1, 2, 1, 0, 15]],
    access_pattern: ["i4", [0, 1, 0, 1, 1]],
    access_values: ["i4", [2, 3, -1, -1, 4]],
    access_old: ["i4", [-1, -1, -1, -1, -1]],
    access_given: ["i4", [-1, -1, -1, -1, -1]],
    access_operation: ["i1", [-1, -1, -1, -1, -1]],
    access_sectors: ["u2", [1, 0, 2, 3, 1]],
    access_wavefronts: ["u2", [0, 0, 0, 0, 0]],
    access_conflicts: ["u2", [0, 0, 0, 0, 0]],
    variable_name: ["u2", []],
    variable_values: ["i4", []],
    test_text: ["u2", []],
    test_lanes: ["u4", []],
    test_truth: ["u4", []],
    test_left: ["i4", []],
    test_right: ["i4", []],
    outside_op: ["u1", [0, 1]],
    outside_array: ["u2", [0, 0]],
    outside_lanes: ["u4", [0b0110, 0b1001]],
    outside_index: ["i4", [5, 6]],
    // vectors: 0 where each lane's pair begins, 1 one 0, 2 two values for each of two lanes, 3 a value for each of
    // four, 4 one 9, 5 an index for each of two lanes, 6 the same index for both
    vector_kind: ["u1", [0, 0, 0, 0, 0, 0, 0]],
    vector_start: ["u4", [0, 2, 3, 7, 11, 12, 16]],
    vector_length: ["u4", [2, 1, 4, 4, 1, 4, 2]],
    ints: ["i4", [0, 8, 0, 11, 12, 13, 14, 20, 21, 22, 23, 9, 2, 0, 0, 8, 2, 8]],
    floats: ["f4", []],
    doubles: ["f8", []],
  };
  const phases = [
    [
      [1, "store"],
      [3, "compute"],
      [4, "load"],
    ],
  ];
  const head = {
    kernel: "wide",
    grid: [2, 1, 1],
    block: [2, 2, 1],
    source: [
      [2, "for i in range(2):", 2],
      [3, "    for j in range(2):", 3],
      [4, "    m[2] = i", 2],
      [5, "    x", 3],
      [6, "y", 0],
    ],
    loops: [
      [2, 0],
      [3, 2],
    ],
    names: [],
    operations: [],
    accumulators: [],
    owner: "C",
    arrays: [
      {
        name: "C",
        space: "global",
        dtype: "float32",
        itemsize: 4,
        shape: [2, 8],
        strides: [1, 2],
        role: "C",
        tile: null,
        initial: 1,
      },
      {
        name: "m",
        space: "local",
        dtype: "float32",
        itemsize: 4,
        shape: [3],
        strides: [1],
        role: null,
        tile: null,
        initial: -1,
      },
    ],
    blocks: [
      { at: [0, 0, 0], first: 0, steps: 4, releases: [], phases },
      { at: [1, 0, 0], first: 4, steps: 1, releases: [], phases: [[[1, "store"]]] },
    ],
    matrices: [],
    findings: [],
    traffic: [],
    texts: [],
    tests: [],
  };
  return written(head, columns, change);
}
