// Follows a widget's module, here `viewer`, in a page without a kernel, and the constants `pageMark` and `pageFault` of page.py.
// The page's model, in place of anywidget's, stores values and calls listeners; save_changes does nothing.
class PageModel {
  constructor(state, number) {
    this.state = { ...state, _saved: number };
    this.listeners = new Map();
  }
  get(name) {
    return this.state[name];
  }
  set(name, value) {
    if (JSON.stringify(this.state[name]) === JSON.stringify(value)) return;
    this.state[name] = value;
    for (const listener of [...(this.listeners.get(`change:${name}`) ?? [])]) listener();
  }
  on(event, listener) {
    if (!this.listeners.has(event)) this.listeners.set(event, new Set());
    this.listeners.get(event).add(listener);
  }
  off(event, listener) {
    this.listeners.get(event)?.delete(listener);
  }
  save_changes() {}
}
// Menus for an explorer's recorded launches: a choice goes to the launch that has it, and most of the other settings.
function menus(model, launches) {
  const names = [...new Set(launches.flatMap(({ setting }) => Object.keys(setting)))];
  const bar = document.createElement("p");
  bar.className = "tt-launches";
  bar.style = "margin: 4px 0; font: var(--jp-ui-font-size1, 14px) sans-serif; color: var(--jp-ui-font-color1, inherit)";
  bar.append("This page has no kernel: choose from recorded launches. ");
  const menu = Object.fromEntries(
    names.map((name) => {
      const select = document.createElement("select"),
        label = document.createElement("label");
      select.ariaLabel = name;
      select.style = "font: inherit; color: inherit; background: var(--jp-layout-color0)";
      const values = new Set(launches.flatMap(({ setting }) => setting[name] ?? []));
      select.append(...[...values].map((value) => new Option(value)));
      label.append(`${name} `, select);
      bar.append(label, " ");
      return [name, select];
    }),
  );
  const show = ({ setting, data }) => {
    for (const name of names) {
      menu[name].parentElement.hidden = !(name in setting);
      if (name in setting) menu[name].value = setting[name];
    }
    model.set("_data", data); // step, block, thread and view stay, as far as the launch has them
  };
  for (const name of names)
    menu[name].onchange = () => {
      const alike = ({ setting }) => names.filter((each) => String(setting[each]) === menu[each].value).length;
      const having = launches.filter(({ setting }) => String(setting[name]) === menu[name].value);
      show(having.reduce((best, each) => (alike(each) > alike(best) ? each : best)));
    };
  show(launches.find(({ data }) => data === model.get("_data")) ?? launches[0]);
  return bar;
}
let number = 0;
for (const state of document.querySelectorAll(`script.${pageMark}`)) {
  number += 1;
  const place = document.createElement("div");
  const fallback = state.previousElementSibling?.classList.contains("tt-until-drawn")
    ? state.previousElementSibling
    : null;
  state.replaceWith(place);
  // A notebook's page has rules for the tables and lists of its outputs; a widget brings its own.
  place.closest(".jp-RenderedHTMLCommon")?.classList.remove("jp-RenderedHTMLCommon");
  // The fallback keeps the widget's place until it is drawn, and stays beside a message that it cannot be.
  if (fallback) place.append(fallback);
  new MutationObserver((_, sight) => {
    sight.disconnect();
    if (place.querySelector("[role=alert]") && fallback) place.append(fallback);
    else fallback?.remove();
  }).observe(place, { childList: true });
  try {
    const model = new PageModel(JSON.parse(state.textContent), number);
    const launches = model.get("_launches");
    if (launches) place.before(menus(model, launches));
    viewer.render({ model, el: place });
  } catch (error) {
    console.error(error);
    const says = document.createElement("p");
    says.setAttribute("role", "alert");
    says.className = "tt-unreadable";
    says.textContent = pageFault;
    place.replaceChildren(says);
  }
}
