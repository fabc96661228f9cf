// The stepper's browser side. The whole trace is here, so a step is replayed and drawn without the kernel.

import { Player } from "./player.js";

export default {
  /** @param {{model: import("./player.js").Model, el: HTMLElement}} place */
  render({ model, el }) {
    const player = new Player(model, el);
    return () => player.destroy();
  },
};
