// What a stepper shows, as tests/oracles/scene.py describes it: `shown(run)`, of the first run or of the one beside it.

const LETTERS = ".rsaeRWp"; // of the states in plane.js, whose number is faint with a bit more
const FAINT = 8;
const WORD_BYTES = 4;
const textsOf = (place, selector) => [...place.querySelectorAll(selector)].map((node) => node.textContent);
const isHere = (node) => node.classList.contains("tt-here");

/** The elements of a plane, with the marks over them. */
function planeState(plane) {
  const { columns, margin, name, rows, texts = null, tile, width: wide } = plane;
  const unit = (wide - margin) / columns; // an element's side
  const marks = (group) => JSON.parse(plane.shown.get(group) ?? "[]");
  const inside = (path) => {
    // left of an element inside lies an odd number of its row's vertical borders
    const borders = [...(path.getAttribute("d") ?? "").matchAll(/M([\d.]+) ([\d.]+)v([\d.]+)/g)].map(([, ...at]) =>
      at.map(Number),
    );
    return Array.from({ length: plane.size }, (_, i) => i).filter((i) => {
      const [x, y] = [margin + ((i % columns) + 0.5) * unit, margin + (Math.floor(i / columns) + 0.5) * unit];
      return borders.filter(([left, top, high]) => left < x && top < y && y < top + high).length % 2;
    });
  };
  const framed = () => {
    const [x, y, width, height] = ["x", "y", "width", "height"].map((side) => Number(plane.outline.getAttribute(side)));
    const [top, left] = [(y - margin) / unit, (x - margin) / unit];
    return [top, left, top + height / unit - 1, left + width / unit - 1];
  };
  const lines = (text) => [...text.children].map((line) => line.textContent).join("\n");
  return {
    name,
    rows,
    columns,
    states: Array.from(plane.states, (state) => LETTERS[state & ~FAINT]).join(""),
    texts: texts ? texts.map((text) => lines(text) || text.textContent) : null,
    counts: [...plane.counts],
    most: plane.most,
    mine: marks(plane.rings),
    dots: marks(plane.dots),
    outside: marks(plane.faults).filter(Array.isArray),
    wrong: [...new Set(marks(plane.faults).filter(Number.isInteger))].sort((x, y) => x - y),
    frame: plane.outline.getAttribute("display") === "none" ? null : framed(),
    tile,
    owned: inside(plane.borders.thread),
    owned_by_warp: inside(plane.borders.warp),
  };
}

/** A request: its text, its words, and of these the chosen thread's. */
function requestState(place) {
  const mine = [];
  const words = [...place.querySelectorAll("svg rect > title")].flatMap((title) => {
    const [, unit, at, asking] = /^(byte|word) (\d+): lanes? ([\d, ]+)$/.exec(title.textContent) ?? [];
    if (!asking) return [];
    const word = unit === "byte" ? Number(at) / WORD_BYTES : Number(at);
    if (title.parentElement.classList.contains("tt-mine-lane")) mine.push(word);
    return [[word, asking.split(", ").map(Number)]];
  });
  words.sort(([x], [y]) => x - y);
  mine.sort((x, y) => x - y);
  return { says: place.querySelector("b")?.textContent, lanes: JSON.parse(place.dataset.lanes ?? "[]"), words, mine };
}

function costsState({ costs, space }) {
  return costs.rows.map(({ row }) => {
    const [line, access, ...numbers] = textsOf(row, "td");
    return [space, Number(line), access, ...numbers.slice(0, -1).map(Number), isHere(row)];
  });
}

function exchangeState(place) {
  const lanes = (name) => textsOf(place, `.${name} > title`).map((text) => text.replace(/^lane \d+ /, ""));
  const lines = [...place.querySelectorAll("path")].map(({ dataset: { from, to } }) => [Number(from), Number(to)]);
  return { says: place.querySelector("b")?.textContent, gives: lanes("tt-gives"), gets: lanes("tt-gets"), lines };
}

function matrixState(place) {
  const held = [...place.querySelectorAll("figure:not(.tt-pieces)")].map((figure) => {
    const cells = [...figure.querySelectorAll("[data-lane]")];
    const mine = cells.flatMap((cell, i) => (cell.querySelector(".tt-mine-lane") ? [i] : []));
    return [figure.querySelector("figcaption")?.textContent, textsOf(figure, "[data-lane] > text").map(Number), mine];
  });
  const read = [...place.querySelectorAll(".tt-pieces")].map((figure) => {
    const rows = [...figure.querySelectorAll("tbody tr")];
    return [figure.querySelector("figcaption").textContent, rows.map((row) => textsOf(row, "td"))];
  });
  return { says: place.querySelector("b")?.textContent, held, read };
}

/** The card of an element; null without one. */
window.cardState = ({ target, context, node }) => {
  if (!target) return null;
  const says = [...node.children].map((line) => line.textContent);
  return { array: context.trace.arrays[target.array].name, element: target.element, says };
};

/** What a view shows, by its part of the page or the name of its panel. */
const VIEWS = {
  memory({ card, planes, threads }) {
    return {
      card: cardState(card),
      grids: planes.flat().map(planeState),
      variables: threads.map(({ plane }) => planeState(plane)),
    };
  },
  source: ({ condition, current, lines }) => ({
    line: current ? Number(current.dataset.line) : null,
    truth: condition.isConnected ? condition.textContent : "",
    broken: [...lines].flatMap(([line, { node }]) => (node.classList.contains("tt-broken") ? [line] : [])),
    source: [...lines].map(([line, { runs, loads }]) => [line, Number(runs.textContent), Number(loads.textContent)]),
  }),
  registers: ({ list }) => ({
    registers: [...list.children].map((row) => [...row.children].map((node) => node.textContent)),
    changed: textsOf(list, ".tt-changed > dt"),
  }),
  findings: ({ place }) => ({
    found: [...place.querySelectorAll("li")].map((row) => [...textsOf(row, "b, p"), isHere(row)]),
  }),
  warp(view) {
    const [requests, exchanges] = ["request", "exchange"].map((what) => [...view.said.querySelectorAll(`.tt-${what}`)]);
    return { requests: requests.map(requestState), exchanges: exchanges.map(exchangeState), costs: costsState(view) };
  },
  banks: (view) => ({
    banked: [...view.said.querySelectorAll(".tt-request")].map(requestState),
    bank_costs: costsState(view),
  }),
  fragments: ({ inFlight, said }) => ({
    matrices: [...said.querySelectorAll(".tt-multiplied")].map(matrixState),
    in_flight: inFlight.textContent,
  }),
  waits: ({ arrows, order, range, rows, said }) => ({
    strips: (rows ?? []).map(({ name, spans }) => [name, spans]),
    waiting: said.textContent,
    order: order ? order[0] : "the simulator's",
    range: [range.from, range.span],
    arrows: arrows.map(({ steps }) => steps),
  }),
  launch: ({ rows }) => ({ launch: { rows: rows.map(({ row }) => [isHere(row), ...textsOf(row, "td")]) } }),
  compare({ rows }) {
    const bars = rows.map(({ name, of }) => [name, ...of.map(({ text, total }) => [Number(text.textContent), total])]);
    return { compare: { bars } };
  },
  counter: ({ counted, key }) => ({
    loaded: Number(/([\d,]+)( so far|$| of| by)/.exec(counted.textContent)?.[1].replaceAll(",", "")),
    scale: Number(key.lastElementChild?.textContent ?? 0),
  }),
};

/** All that the page shows of a run; hidden views are drawn first. */
window.shown = (number = 0) => {
  const player = document.querySelector(".tt-root").stepper;
  const { panels: byName, root, runs, texts: said, timeline } = player.scene;
  const run = runs[number];
  const panels = [...run.panels, ...(number ? [] : (byName.get("compare")?.views ?? []))];
  for (const view of panels) view.choose();
  for (const view of panels) view.draw();
  const { blockNumber, length, position, thread, trace } = run.context.replay;
  const texts = (place) => [...said[number].querySelectorAll(place)].map((node) => node.textContent);
  const [[who], [says], findings] = [".tt-where", ".tt-sentence", ".tt-wrong"].map(texts);
  const { frames } = run.animation;
  const states = [...run.views, ...panels].map((view) => VIEWS[view.constructor.at || view.constructor.id]?.(view));
  return Object.assign(
    {
      step: player.step,
      last: player.last,
      where: [trace.blocks[blockNumber].at, thread, position, length],
      title: ["kernel", "launch", "count"].map((name) => root.querySelector(`.tt-${name}`).textContent),
      says,
      who,
      findings,
      legend: [...root.querySelector(".tt-marks").children].map((node) => node.textContent),
      frame: run.context.frame ? frames.indexOf(run.context.frame) : null,
      frames: frames.length,
      ticks: [...new Set(timeline.marks.map(({ step }) => step))].sort((x, y) => x - y),
      tracks: player.scene.tracks.shown[number].tracks,
      timeline: timeline.strips.map(({ name, spans }) => [name, spans]),
    },
    ...states,
  );
};
