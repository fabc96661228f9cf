// The types of panels and of their context.

/**
 * @typedef {object} Context  of the panels of one run
 * @property {import("./trace.js").Trace} trace
 * @property {import("./machine.js").Machine} machine  of the chosen block and thread
 * @property {import("./machine.js").Machine | null} other  of the run beside it
 * @property {import("./film.js").Frame | null} frame  of the film that is shown; null where it is a single step
 * @property {(lens: string) => boolean} offers  whether the reader is to see this view
 * @property {(choice: Choice) => void} choose
 * @property {(way: number) => void} step  one on, or back
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
 * @property {(size: Size) => unknown} [fit]  the page has another size
 * @property {(speed: number) => void} [fly]  the film plays and has come to the next frame
 * @property {() => void} [repaint]  the theme has other colours
 * @property {() => Record<string, unknown>} [state]  what it shows, for tests
 * @property {() => boolean} [close]  close what the reader opened over the picture; whether there was anything
 * @property {() => void} [scroll]  asked last, so that the page is laid out once a step
 */
/**
 * @typedef {object} Size
 * @property {number} width  of the place for the picture, in pixels
 * @property {number} height  in pixels
 * @property {boolean} counter  whether numbers are counted beside it
 * @property {number} lens  width of the place of a lens of this run, in pixels
 * @property {number} em  size of the text in pixels
 */

export {};
