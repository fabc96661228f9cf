// The types of panels and of their context.

/**
 * @typedef {object} Context  of the panels of one run
 * @property {import("./trace.js").Trace} trace
 * @property {import("./machine.js").Machine} machine  of the chosen block and thread
 * @property {import("./machine.js").Machine | null} other  of the run beside it
 * @property {(lens: string) => boolean} offers  whether the reader is to see this view
 * @property {(choice: Choice) => void} choose
 */
/** @typedef {{block?: readonly number[], thread?: readonly number[], step?: number}} Choice  in a run, of its own steps */
/**
 * @typedef {object} Panel
 * @property {(trace: import("./trace.js").Trace) => boolean} wants  whether the trace has anything to show here
 * @property {(place: HTMLElement, context: Context) => View} build  what stays the same from step to step
 */
/**
 * @typedef {Panel & {name: string, title: string, none?: string}} Lens  a panel of which one at a time is shown; `none` is
 *   the text for a run of two that has nothing to show here
 */
/**
 * @typedef {object} View
 * @property {() => void} choose  another block or thread was chosen
 * @property {() => void} draw  the machine is at another step
 * @property {(size: Size) => void} [fit]  the page has another size
 * @property {() => void} [repaint]  the theme has other colours
 * @property {() => Record<string, unknown>} [state]  what it shows, as course_lib/trace/viewer/scene.py describes it
 * @property {() => boolean} [close]  close what the reader opened over the picture; whether there was anything
 * @property {() => void} [scroll]  asked last, so that the page is laid out once a step
 */
/**
 * @typedef {object} Size
 * @property {boolean} compact  whether there is room for the matrices or a lens, not for both
 * @property {boolean} narrow  whether everything is below each other, as on a phone
 * @property {boolean} two  whether two runs are beside each other
 * @property {boolean} strip  whether only what the line touches is shown, magnified, beside a view
 * @property {number} width  of the place for the matrices, in pixels
 * @property {number} height  in pixels
 * @property {number} lens  width of the place of a lens of this run, in pixels
 * @property {number} em  size of the text in pixels
 */

export {};
