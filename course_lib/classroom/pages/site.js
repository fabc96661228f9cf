// Behaviour that all pages share: theme, menu, search, states of widgets, folded outputs, and bugs to find.
// A classic script, and nothing is fetched: pages open from a folder, too.
(() => {
  "use strict";
  const root = document.documentElement,
    up = document.currentScript.dataset.up;
  const kept = {
    // a browser may refuse to keep anything for a page of a folder
    get(key) {
      try {
        return localStorage.getItem(`tile-by-tile ${key}`);
      } catch {
        return null;
      }
    },
    set(key, value) {
      try {
        localStorage.setItem(`tile-by-tile ${key}`, value);
      } catch {
        /* not kept */
      }
    },
  };
  window.tileByTile = { kept };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paint = () => {
    root.dataset.theme = root.dataset.jpThemeName = kept.get("theme") ?? (dark.matches ? "dark" : "light");
  };
  paint();
  dark.addEventListener("change", paint);

  // The data of the page's widgets come in a script of their own, before the widgets' code.
  window.tileByTileData = (states) => {
    for (const place of document.querySelectorAll("script[data-state]"))
      place.textContent = states[place.dataset.state];
  };

  let index = null,
    indexArrived = null;
  window.tileByTileIndex = (rows) => {
    index = rows;
    indexArrived?.();
  };
  const ready = new Promise((done) => {
    indexArrived = done;
  });
  const load = () => {
    if (index || document.querySelector("script[data-index]")) return;
    const script = document.createElement("script");
    script.src = `${up}assets/search.js`;
    script.dataset.index = "";
    document.head.append(script);
  };
  /** The places whose heading or text has all words, those in headings first. */
  const search = (text) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length || !index) return [];
    const scored = index.map(([target, title, body]) => {
      const head = title.toLowerCase(),
        all = `${head} ${body.toLowerCase()}`;
      const score = words.every((word) => all.includes(word))
        ? 1 + 9 * words.filter((word) => head.includes(word)).length
        : 0;
      return { target, title, body, score, word: words[0] };
    });
    return scored
      .filter(({ score }) => score)
      .sort((a, b) => b.score - a.score)
      .slice(0, 12);
  };
  const excerpt = (body, word) => {
    const found = body.toLowerCase().indexOf(word),
      at = Math.max(found, 0),
      small = document.createElement("small"),
      mark = document.createElement("mark");
    mark.textContent = found < 0 ? "" : body.slice(at, at + word.length);
    small.append(body.slice(Math.max(at - 40, 0), at), mark, body.slice(at + mark.textContent.length, at + 80));
    return small;
  };

  const foundItem = ({ target, title, body, word }) => {
    const item = document.createElement("li"),
      link = document.createElement("a");
    link.href = up + target;
    link.append(title, excerpt(body, word));
    item.append(link);
    return item;
  };

  const themeButton = () => {
    document.querySelector(".theme").onclick = () => {
      kept.set("theme", root.dataset.theme === "dark" ? "light" : "dark");
      paint();
    };
  };

  const sideMenu = () => {
    const menu = document.querySelector(".menu"),
      side = document.querySelector(".side");
    const open = (yes) => {
      side.classList.toggle("open", yes);
      menu.setAttribute("aria-expanded", String(yes));
    };
    menu.onclick = () => open(!side.classList.contains("open"));
    side.addEventListener("click", ({ target }) => target.closest("a") && open(false));
    addEventListener("keydown", ({ key }) => key === "Escape" && open(false));
    side.querySelector("[aria-current]")?.scrollIntoView({ block: "center" });
    scrollTo({ top: location.hash ? scrollY : 0 });
  };

  const searchBox = () => {
    const box = document.querySelector(".search input"),
      found = document.querySelector(".found");
    const show = () => {
      const rows = search(box.value);
      found.replaceChildren(...rows.map(foundItem));
      if (box.value.trim() && index && !rows.length) found.textContent = "Nothing found.";
      found.hidden = !box.value.trim();
    };
    box.onfocus = load;
    box.oninput = () => {
      load();
      show();
      ready.then(show);
    };
    box.form.onsubmit = (event) => {
      event.preventDefault();
      found.querySelector("a")?.click();
    };
    box.form.onkeydown = (event) => {
      if (event.key === "Escape") {
        box.value = "";
        show();
        box.blur();
      }
      const links = [box, ...found.querySelectorAll("a")],
        step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      links[(links.indexOf(document.activeElement) + step + links.length) % links.length].focus();
    };
    addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.target.closest?.("input, textarea, .tt-root")) return;
      event.preventDefault();
      box.focus();
    });
    addEventListener("click", ({ target }) => {
      if (!target.closest(".search")) found.hidden = true;
    });
  };

  /** What a prediction asks for unfolds once it was answered, up to the next prediction; on paper, everything does. */
  const folds = () => {
    addEventListener("tile-by-tile-answered", ({ detail }) => {
      const cells = [...document.querySelectorAll(".cell, .text")],
        at = cells.indexOf(detail.closest(".cell"));
      for (const cell of cells.slice(at + 1)) {
        if (cell.querySelector(".predict, .tile-by-tile-predict")) break;
        const fold = cell.querySelector(":scope > details.fold.after");
        if (fold) fold.open = true;
      }
    });
    addEventListener("beforeprint", () => {
      for (const fold of document.querySelectorAll("details")) fold.open = true;
    });
  };

  const page = () => {
    themeButton();
    sideMenu();
    searchBox();
    folds();
    // by the keyboard, too, code scrolls that is wider than its column
    for (const code of document.querySelectorAll("pre")) if (code.scrollWidth > code.clientWidth) code.tabIndex = 0;
    for (const bug of document.querySelectorAll(".bug")) bugToFind(bug);
  };

  /** A kernel whose lines are buttons: a click on a right one, or "Tell me", shows the finding and the moment. */
  const bugToFind = (bug) => {
    const said = bug.querySelector(".said"),
      clock = bug.querySelector(".clock"),
      lines = [...bug.querySelectorAll(".lines button")];
    const began = performance.now();
    const seconds = () => Math.round((performance.now() - began) / 1000);
    let tries = 0;
    const tick = setInterval(() => {
      clock.textContent = `${seconds()} s`;
    }, 1000);
    const moment = () => {
      bug.querySelector(".stepper").hidden = false;
      bug.querySelector(".show").hidden = true;
    };
    const tell = (words, kind) => {
      said.textContent = words;
      said.className = `said ${kind}`;
    };
    const answer = () => {
      clearInterval(tick);
      lines.filter((line) => line.dataset.right === "1").forEach((line) => line.classList.add("yes"));
      bug.querySelector(".answer").hidden = false;
      bug.querySelector(".tell").hidden = true;
      moment();
    };
    bug.querySelector(".show").onclick = moment;
    bug.querySelector(".tell").onclick = () => {
      tell("Here it is.", "");
      answer();
    };
    for (const line of lines)
      line.onclick = () => {
        if (bug.querySelector(".yes")) return;
        tries += 1;
        if (line.dataset.right === "1") {
          tell(`Right: ${seconds()} s, ${tries} ${tries === 1 ? "click" : "clicks"}.`, "right");
          answer();
        } else {
          line.classList.add("no");
          tell("Not this line. Look at the moment, or try another line.", "wrong");
        }
      };
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", page);
  else page();
})();
