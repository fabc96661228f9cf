// Which of the arrays that the steps of a stepper touch are in sight, and whether their numbers can be read.
(chosen) => {
  const { stepper } = document.querySelector(".tt-root");
  const { stage } = stepper;
  const clipped = (node) => {
    // what its scrolling ancestors and the window leave of a place
    let box = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    for (let at = node.parentElement; at; at = at.parentElement) {
      const { display, overflow } = getComputedStyle(at);
      if (display === "contents" || (overflow === "visible" && !at.classList.contains("tt-root"))) continue;
      const { left, top, right, bottom } = at.getBoundingClientRect();
      box = {
        left: Math.max(box.left, left),
        top: Math.max(box.top, top),
        right: Math.min(box.right, right),
        bottom: Math.min(box.bottom, bottom),
      };
    }
    return box;
  };
  const inside = (box, { left, top, right, bottom }) =>
    left >= box.left - 1 && top >= box.top - 1 && right <= box.right + 1 && bottom <= box.bottom + 1;
  const place = (plane, i) => {
    const box = plane.layer.getBoundingClientRect();
    if (!box.width) return null;
    const scale = box.width / (plane.width + 2);
    const [x, y] = plane.corner(i);
    const [left, top, side] = [box.left + x * scale, box.top + y * scale, 20 * scale];
    if (!inside(clipped(plane.layer), { left, top, right: left + side, bottom: top + side })) return null;
    const text = plane.texts?.[i]?.textContent ? plane.texts[i] : null;
    return { side, digits: text ? Number.parseFloat(getComputedStyle(text).fontSize) * scale : 0 };
  };
  const found = [];
  const look = (step, run, number) => {
    const { machine, trace } = run.context;
    const view = run.views[0];
    const lines = [run.memory, run.program].flatMap((part) => [...part.querySelectorAll(".tt-current, .tt-now-line")]);
    const line = machine.line === null || lines.some((node) => {
      const box = node.getBoundingClientRect();
      return box.height && inside(clipped(node), { ...box.toJSON(), right: box.left + 1 });
    });
    const arrays = {};
    trace.arrays.forEach(({ name }, number) => {
      if (!machine.now[number].size) return;
      const mine = [...machine.nowMine[number].keys()];
      const touched = mine.length ? [Math.min(...mine)] : [...machine.now[number].keys()]; // the thread's first, or any
      const drawn = view.planes[number].flatMap((plane) =>
        touched.map((element) => element - plane.offset).filter((i) => i >= 0 && i < plane.size).map((i) => place(plane, i)),
      );
      for (const lens of view.lens ? [view.lens] : [...(view.lenses?.values() ?? [])]) {
        const shown = lens.array === number ? touched.filter((element) => lens.elements.includes(element)) : [];
        drawn.push(...shown.map((element) => place(lens.grid, lens.elements.indexOf(element))));
      }
      const seen = drawn.filter((one) => one && one.side >= 4);
      arrays[name] = [seen.length > 0, seen.some(({ digits }) => digits >= 9)];
    });
    const filled = trace.accumulators.filter((name) => machine.changed.has(name));
    for (const name of view.magnifier.hidden ? [] : filled) {
      const node = view.filled[filled.indexOf(name)];
      const box = node.getBoundingClientRect();
      arrays[name] = [inside(clipped(node), box), Number.parseFloat(getComputedStyle(node).fontSize) >= 9];
    }
    found.push({ step, run: number, line, arrays });
  };
  for (const step of chosen) {
    stepper.model.set("step", step);
    stage.runs.forEach((run, number) => look(step, run, number));
  }
  return found;
}
