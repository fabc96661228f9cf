// What a panel is, and what it is given.

/**
 * @typedef {object} Context  of the panels of one run
 * @property {import("./trace.js").Trace} trace
 * @property {import("./machine.js").Machine} machine  of the chosen block and thread
 * @property {(choice: {block?: readonly number[], thread?: readonly number[]}) => void} choose
 * @property {(step: number) => void} go
 */
/**
 * @typedef {object} Panel
 * @property {(trace: import("./trace.js").Trace) => boolean} wants  whether the trace has anything to show here
 * @property {(place: HTMLElement, context: Context) => View} build  what stays the same from step to step
 */
/**
 * @typedef {object} View
 * @property {() => void} choose  another block or thread was chosen
 * @property {() => void} draw  the machine stands at another step
 * @property {() => void} [scroll]  asked last, so that the page is laid out once a step
 */

export {};
