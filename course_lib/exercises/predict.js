<<<<<<< HEAD
/* Built by tools/build_viewer.py; change course_lib/viewer/web instead. sources fa1b0a19eb1ce6ad bundle c72b5c0f717037bc */
function g(t,r){let n=t.get("_still");if(!n)return()=>{};let e=null,s,o=()=>!r.isConnected||!r.firstElementChild||r.querySelector("[role=alert]")?!1:(i.disconnect(),clearTimeout(s),e=v(r,n),e&&(e.style.display="none"),!0),i=new ResizeObserver(o);i.observe(r);let u=a=>{s=setTimeout(()=>o()||u(Math.min(2*a,5e3)),a)};return u(20),()=>{i.disconnect(),clearTimeout(s),e?.style.removeProperty("display")}}function v(t,r){for(let n=t;n.parentElement&&n!==document.body;n=n.parentElement)for(let e=n.previousElementSibling;e instanceof HTMLElement;e=e.previousElementSibling){let s=[...e.querySelectorAll("img, .tile-by-tile-still")];if(!s.length)break;let o=s.filter(a=>w(a,r));if(!o.length||e.style.display==="none")continue;let[i]=o;return o.length===1&&e.textContent?.trim()===i.textContent?.trim()?e:null}return null}function w(t,r){return!(t instanceof HTMLImageElement)||t.src.endsWith(r)}function c(t,r,n){let e=document.createElement(t);return e.className=r,n!==void 0&&e.append(...h(n)),e}function h(t){return t.split("`").map((r,n)=>{if(n%2===0)return document.createTextNode(r);let e=document.createElement("code");return e.textContent=r,e})}var k="Type your guess, then press Enter. Esc leaves the box.",S="Choose with the arrow keys, then press Enter. Esc leaves the choices.",b="Enter: answer · Shift+Enter: answer and go on · Esc: leave";function T(t,r,n){let e=t.get("choices");return e.length?x(e,r,n):C(t.get("question"),r,n)}function x(t,r,n){let e=c("div","predict-choices");e.setAttribute("role","group"),e.tabIndex=-1,e.title=b;let s=t.map(o=>{let i=c("button","predict-choice",o);return i.type="button",i.addEventListener("click",()=>r(o)),i});return e.append(...s),e.addEventListener("keydown",o=>{let i={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1}[o.key],u=s.findIndex(a=>a===o.target);if(i)s.at(u<0&&i<0?-1:(u+i)%s.length)?.focus();else{if(o.key!=="Enter")return;u<0?n(S):s[u].click()}o.preventDefault()}),{shown:e,focused:e}}function C(t,r,n){let e=c("form","predict-form"),s=c("input","predict-box");s.type="text",s.placeholder="your guess",s.title=b,s.setAttribute("aria-label",t);let o=c("button","predict-choice","Compare");return o.type="submit",e.append(s,o),e.addEventListener("submit",i=>{i.preventDefault(),s.value.trim()?r(s.value.trim()):n(k)}),s.addEventListener("keydown",i=>{i.key!=="Enter"||i.isComposing||(i.preventDefault(),e.requestSubmit())}),{shown:e,focused:s}}function L(t){let r=t.closest(".jp-Notebook.jp-mod-commandMode:not(.jp-mod-readWrite) .jp-Cell"),n=r?.closest(".jp-Notebook");return!r||!n?.contains(document.activeElement)?!1:[r,r.nextElementSibling].some(e=>e?.classList.contains("jp-mod-active"))}function m(t,r){let n=t.closest(".jp-Cell"),s=(r?n?.nextElementSibling:null)??n;s instanceof HTMLElement?s.focus():document.activeElement instanceof HTMLElement&&document.activeElement.blur()}function j(t){let r=t.get("guess"),n=c("div",`predict-outcome predict-${t.get("right")||"open"}`),e=c("dl","predict-pair"),o={yes:"✓ ",no:"✗ "}[t.get("right")]??"";return e.append(c("dt","","your guess"),c("dd","",o+r)),e.append(c("dt","","the answer"),c("dd","",t.get("answer"))),n.append(e),t.get("because")&&n.append(c("p","predict-because",t.get("because"))),n.append(c("p","predict-score",t.get("score"))),n}function A({model:t,el:r}){let n=c("section","predict"),e=c("div","predict-live");e.setAttribute("aria-live","polite");let s=!1,o=l=>e.replaceChildren(c("p","predict-problem",l)),i=l=>{if(l===t.get("guess"))return p();t.set("right",""),t.set("problem",""),t.set("guess",l),t.save_changes()},u=c("p","predict-question");u.append(c("b","","Predict: "),...h(t.get("question")));let{shown:a,focused:E}=T(t,i,o);n.append(u,a,e),n.addEventListener("keydown",l=>{l.stopPropagation(),l.key==="Escape"&&m(n,!1)}),n.addEventListener("keydown",l=>{s=l.key==="Enter"&&l.shiftKey},!0);let p=()=>{let l=t.get("problem");l?o(l):e.replaceChildren(t.get("guess")?j(t):""),!(!s||!t.get("right"))&&(s=!1,m(n,!0))},f="change:guess change:right change:problem change:score";t.on(f,p),p(),r.replaceChildren(n);let d=new ResizeObserver(()=>{d.disconnect(),!t.get("right")&&L(n)&&E.focus()});d.observe(n);let y=g(t,r);return()=>{d.disconnect(),y(),t.off(f,p)}}var O={render:A};export{O as default};
=======
/* Built by tools/build_viewer.py; change course_lib/viewer/web instead. sources 1da86535b57ae2fa bundle c553c7885501c7d4 */
// still.js
var FIRST_TRY = 20;
var SLOWEST = 5e3;
function replaceStill(model, el) {
  const mark = model.get("_still");
  if (!mark) return () => {
  };
  let hidden = null;
  let timer = void 0;
  const replace = () => {
    if (!el.isConnected || !el.firstElementChild || el.querySelector("[role=alert]")) return false;
    sizes.disconnect();
    clearTimeout(timer);
    hidden = outputBefore(el, mark);
    if (hidden) hidden.style.display = "none";
    return true;
  };
  const sizes = new ResizeObserver(replace);
  sizes.observe(el);
  const again = (after) => {
    timer = setTimeout(() => replace() || again(Math.min(2 * after, SLOWEST)), after);
  };
  again(FIRST_TRY);
  return () => {
    sizes.disconnect();
    clearTimeout(timer);
    hidden?.style.removeProperty("display");
  };
}
function outputBefore(el, mark) {
  for (let node = el; node.parentElement && node !== document.body; node = node.parentElement) {
    for (let before = node.previousElementSibling; before instanceof HTMLElement; before = before.previousElementSibling) {
      const all = [...before.querySelectorAll("img, .tile-by-tile-still")];
      if (!all.length) break;
      const stills = all.filter((still2) => isStill(still2, mark));
      if (!stills.length || before.style.display === "none") continue;
      const [still] = stills;
      const alone = stills.length === 1 && before.textContent?.trim() === still.textContent?.trim();
      return alone ? before : null;
    }
  }
  return null;
}
function isStill(node, mark) {
  return !(node instanceof HTMLImageElement) || node.src.endsWith(mark);
}

// predict.js
function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== void 0) made.append(...coded(text));
  return made;
}
function coded(text) {
  return text.split("`").map((part, i) => {
    if (i % 2 === 0) return document.createTextNode(part);
    const code = document.createElement("code");
    code.textContent = part;
    return code;
  });
}
var TYPE = "Type your guess, then press Enter. Esc leaves the box.";
var CHOOSE = "Choose with the arrow keys, then press Enter. Esc leaves the choices.";
var KEYS = "Enter: answer · Shift+Enter: answer and go on · Esc: leave";
function input(model, submit, say) {
  const choices = model.get("choices");
  return choices.length ? buttons(choices, submit, say) : box(model.get("question"), submit, say);
}
function buttons(choices, submit, say) {
  const group = element("div", "predict-choices");
  group.setAttribute("role", "group");
  group.tabIndex = -1;
  group.title = KEYS;
  const all = choices.map((choice) => {
    const button = element("button", "predict-choice", choice);
    button.type = "button";
    button.addEventListener("click", () => submit(choice));
    return button;
  });
  group.append(...all);
  group.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const at = all.findIndex((button) => button === event.target);
    if (step) all.at(at < 0 && step < 0 ? -1 : (at + step) % all.length)?.focus();
    else if (event.key !== "Enter") return;
    else if (at < 0) say(CHOOSE);
    else all[at].click();
    event.preventDefault();
  });
  return { shown: group, focused: group };
}
function box(question, submit, say) {
  const form = element("form", "predict-form");
  const field = element("input", "predict-box");
  field.type = "text";
  field.placeholder = "your guess";
  field.title = KEYS;
  field.setAttribute("aria-label", question);
  const button = element("button", "predict-choice", "Compare");
  button.type = "submit";
  form.append(field, button);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim()) submit(field.value.trim());
    else say(TYPE);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  return { shown: form, focused: field };
}
function justRun(root) {
  const cell = root.closest(".jp-Notebook.jp-mod-commandMode:not(.jp-mod-readWrite) .jp-Cell");
  const notebook = cell?.closest(".jp-Notebook");
  if (!cell || !notebook?.contains(document.activeElement)) return false;
  return [cell, cell.nextElementSibling].some((each) => each?.classList.contains("jp-mod-active"));
}
function leave(root, onward) {
  const cell = root.closest(".jp-Cell");
  const next = onward ? cell?.nextElementSibling : null;
  const to = next ?? cell;
  if (to instanceof HTMLElement) to.focus();
  else if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}
function outcome(model) {
  const guess = model.get("guess");
  const shown = element("div", `predict-outcome predict-${model.get("right") || "open"}`);
  const table = element("dl", "predict-pair");
  const marks = { yes: "✓ ", no: "✗ " };
  const mark = marks[model.get("right")] ?? "";
  table.append(element("dt", "", "your guess"), element("dd", "", mark + guess));
  table.append(element("dt", "", "the answer"), element("dd", "", model.get("answer")));
  shown.append(table);
  if (model.get("because")) shown.append(element("p", "predict-because", model.get("because")));
  shown.append(element("p", "predict-score", model.get("score")));
  return shown;
}
function render({ model, el }) {
  const root = element("section", "predict");
  const live = element("div", "predict-live");
  live.setAttribute("aria-live", "polite");
  let goesOn = false;
  const say = (what) => live.replaceChildren(element("p", "predict-problem", what));
  const submit = (guess) => {
    if (guess === model.get("guess")) return draw();
    model.set("right", "");
    model.set("problem", "");
    model.set("guess", guess);
    model.save_changes();
  };
  const question = element("p", "predict-question");
  question.append(element("b", "", "Predict: "), ...coded(model.get("question")));
  const { shown, focused } = input(model, submit, say);
  root.append(question, shown, live);
  root.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") leave(root, false);
  });
  root.addEventListener("keydown", (event) => {
    goesOn = event.key === "Enter" && event.shiftKey;
  }, true);
  const draw = () => {
    const problem = model.get("problem");
    if (problem) say(problem);
    else live.replaceChildren(model.get("guess") ? outcome(model) : "");
    if (!goesOn || !model.get("right")) return;
    goesOn = false;
    leave(root, true);
  };
  const watched = "change:guess change:right change:problem change:score";
  model.on(watched, draw);
  draw();
  el.replaceChildren(root);
  const arrived = new ResizeObserver(() => {
    arrived.disconnect();
    if (!model.get("right") && justRun(root)) focused.focus();
  });
  arrived.observe(root);
  const bringBack = replaceStill(model, el);
  return () => {
    arrived.disconnect();
    bringBack();
    model.off(watched, draw);
  };
}
var predict_default = { render };
export {
  predict_default as default
};
>>>>>>> wt-compare
