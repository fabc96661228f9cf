// The glossary's sentences for words on the page; a test compares them with notebooks/glossary.md.

/** @type {Record<string, string>} */
export const GLOSSARY = {
  Access: "One thread's load or store of one element. The counts called accesses are sums over threads.",
  Bank: "Shared memory consists of 32 banks. Each one delivers one word of 4 bytes at a time. Neighbouring words are in neighbouring banks.",
  "Bank-conflict":
    "Lanes of a warp ask one bank for different words, and the bank delivers them one after the other. The count called conflicts is the number of wavefronts beyond the fewest that the request can need.",
  Barrier:
    "A line of the kernel where a thread waits until all threads of its block have reached it: cuda.syncthreads(). What a thread stored before it, every thread can read after it.",
  Block:
    "Threads that run on the same multiprocessor and can share memory and wait for each other; at most 1,024. It has up to three directions, x, y and z.",
  Finding: "The simulator's report that a launch broke a rule: which rule, the line, the thread and what to do.",
  Fragment:
    "The few elements of a small matrix that one lane holds in registers, for a step of the inner loop or for a tensor core.",
  "Global-memory": "The large memory of the GPU. All threads can read and write it, and it is far from all of them.",
  Launch:
    "Starting a kernel, with a grid and a block: kernel[grid, block](...), and here simulate(kernel)[grid, block](...).",
  "Local-memory":
    "A thread's own memory for values that do not fit into registers. It is part of global memory, and as far away.",
  Request: "One load or store of a whole warp: its lanes access memory together.",
  Sector: "32 neighbouring bytes, the smallest piece that global memory delivers.",
  "Shared-memory": "The small memory of a block, on its multiprocessor.",
  Thread: "One run of the kernel, with its own numbers.",
  Warp: "32 threads of a block that execute a line together.",
  Wavefront:
    "One pass in which shared memory or the cache L1 answers a request, or a part of it. The two share a path, which can do one a cycle.",
};

/** Words on the page whose term has another form. @type {Record<string, string>} */
const FORMS = { waiting: "Barrier", conflicts: "Bank-conflict", accesses: "Access", "global loads": "Global-memory" };

/**
 * The attributes of an element that shows a word of the glossary: its tooltip, and the term for the legend.
 * @param {string} word
 * @returns {Record<string, string>}
 */
export function tip(word) {
  const known = (/** @type {string} */ text) => Object.keys(GLOSSARY).find((term) => term.toLowerCase() === text);
  const plain = word.toLowerCase().replaceAll(" ", "-");
  const term = FORMS[word.toLowerCase()] ?? known(plain) ?? known(plain.replace(/s$/, ""));
  return term ? { title: GLOSSARY[term], "data-term": term } : {};
}
