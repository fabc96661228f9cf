// The stepper's browser side. The whole trace is here, so a step is replayed and drawn without the kernel.

import { Player } from "./player.js";
import { initialize, hideFallback } from "./fallback.js";

export default {
  initialize,
  /** @param {{model: import("./player.js").Model, el: HTMLElement}} place */
  render({ model, el }) {
    const player = new Player(model, el);
    const showFallback = hideFallback(model, el, (fallback) => player.watch(fallback));
    return () => {
      showFallback();
      player.destroy();
    };
  },
};
