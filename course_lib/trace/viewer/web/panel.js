// The types of panels and of their context.

/**
 * @typedef {object} Context  of the panels of one run
 * @property {import("./trace.js").Trace} trace
 * @property {import("./replay.js").Replay} replay  of the chosen block and thread
 * @property {import("./replay.js").Replay | null} other  of the run beside it
 * @property {import("./animation.js").Frame | null} frame  of the animation that is shown; null where it is a single step
 * @property {(panel: string) => boolean} offers  whether the reader may open this panel
 * @property {(choice: Choice) => void} choose
 * @property {(way: number) => void} step  one on, or back
 * @property {import("./handle.js").Tiles | null} tiles  the widths of the tile of which launches are stored
 */
/** @typedef {{block?: readonly number[], thread?: readonly number[], step?: number}} Choice  in a run, of its own steps */
/**
 * @typedef {object} View
 * @property {() => void} choose  another block or thread was chosen
 * @property {() => void} draw  the replay is at another step
 * @property {(size: Size) => unknown} [fit]  the page has another size
 * @property {(speed: number) => void} [moveCopies]  the animation plays and has come to the next frame
 * @property {() => void} [repaint]  the theme has other colours
 * @property {() => boolean} [close]  close what the reader opened over the picture; whether there was anything
 * @property {() => void} [scroll]  asked last, so that the page is laid out once a step
 */
/**
 * @typedef {object} Size
 * @property {number} width  of the place for the picture, in pixels
 * @property {number} height  in pixels
 * @property {number} counter  ems of the height of what is counted beside it; 0 without any
 * @property {number} panelWidth  of the place of a panel with a tab, in pixels
 * @property {number} em  size of the text in pixels
 * @property {number} [letters]  size of the source's text in pixels
 * @property {[number, number][]} lines  the characters of each line of the source, without its comment and with it
 * @property {number} [largest]  pixels of a unit of the matrices, at most
 * @property {boolean} [compared]  whether another run is beside it
 * @property {boolean} [strict]  whether no more height may be used for legible digits
 * @property {boolean} [pictureOnly]  whether counter and source need none of the height
 * @property {string} [arrangement]  the only arrangement that is asked for, one of ARRANGEMENTS of layout.js
 */

/** A panel of one run: in a fixed part of the page; or one with an id, which its tab opens, and closes the others. */
export class Panel {
  static at = ""; // the part of the page
  static id = ""; // of a panel with a tab
  static title = "";
  static none = ""; // the text for a run of two that has nothing to show here

  /** Whether a trace has anything to show here. @param {import("./trace.js").Trace} _trace */
  static wants(_trace) {
    return true;
  }

  /** Build what stays the same from step to step. @param {HTMLElement} place @param {Context} context */
  constructor(place, context) {
    this.place = place;
    this.context = context;
    this.painted = false;
  }

  choose() {}

  draw() {}

  /** Draw what depends on the colours of the theme. */
  paint() {
    this.painted = true;
  }

  repaint() {
    if (this.painted) this.paint();
  }
}
