"use strict";
// The page is whole without this. It adds: one run at a time, search, zoom, explanations on hover and focus, and copy buttons.
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
document.documentElement.classList.add("js");
// What is folded away, or on a run that is not chosen, is not seen.
const seen = element => element.checkVisibility ? element.checkVisibility() : element.offsetParent !== null;

// As `duration` in text.py, without what is 0.
function words(seconds) {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const [high, low, unit, part] = whole < 3600
    ? [Math.floor(whole / 60), whole % 60, "min", "s"]
    : [Math.floor(Math.round(whole / 60) / 60), Math.round(whole / 60) % 60, "h", "min"];
  return low ? `${high} ${unit} ${String(low).padStart(2, "0")} ${part}` : `${high} ${unit}`;
}

// One run at a time.
const tabs = all("[role=tab]");
function choose(tab, {focus = false} = {}) {
  for (const other of tabs) {
    const chosen = other === tab, run = document.getElementById(other.getAttribute("aria-controls"));
    other.setAttribute("aria-selected", chosen);
    other.tabIndex = chosen ? 0 : -1;
    run.classList.toggle("current", chosen);
    run.setAttribute("role", "tabpanel");
  }
  if (focus) tab.focus();
  explain(null);
  charts.forEach(chart => {
    chart.draw();
    chart.enter(chart.stops.find(seen));
  });
  count();
}
tabs.forEach((tab, index) => {
  tab.addEventListener("click", () => choose(tab));
  tab.addEventListener("keydown", event => {
    const to = {ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: tabs.length - 1}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(tabs[(to + tabs.length) % tabs.length], {focus: true});
  });
});

// What floats beside the row under the pointer, or with the focus.
const card = document.createElement("div");
card.className = "card";
card.hidden = true;
document.body.append(card);
let explained = null;
function explain(row, x, y) {
  if (row === explained && row) return place(x, y);
  if (explained) explained.closest(".chart").chart.link(null);
  explained = row;
  card.hidden = !row || row.open;
  if (!row) return;
  row.closest(".chart").chart.link(row);
  const name = document.createElement("p");
  name.append(row.querySelector("b").cloneNode(true));
  card.replaceChildren(name, row.querySelector("dl").cloneNode(true));
  place(x, y);
}
function place(x, y) {
  const box = card.getBoundingClientRect();
  const room = document.documentElement.clientWidth;
  // Beside the pointer, so that what it points at stays in sight.
  card.style.left = `${Math.max(12, x + 16 + box.width < room ? x + 16 : x - 16 - box.width)}px`;
  card.style.top = `${y + 20 + box.height > innerHeight ? clamp(y - box.height - 14, 8, Math.max(8, innerHeight - box.height - 8)) : y + 20}px`;
}
document.addEventListener("keydown", event => { if (event.key === "Escape") explain(null); });
addEventListener("scroll", () => {
  if (!explained) return;
  const summary = explained.firstElementChild, at = summary.getBoundingClientRect();
  if (summary.matches(":focus-visible")) place(at.left + 24, at.bottom - 14);
  else explain(null);
}, {passive: true});

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];
const LABEL = 84;  // pixels
const PAPER = 480;  // pixels that the axis has on a sheet
const MOST = 200;  // times
const NS = "http://www.w3.org/2000/svg";
const shape = (tag, attributes, text = "") => {
  const made = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
};

class Chart {
  constructor(box) {
    this.box = box;
    this.seconds = Number(box.dataset.seconds);
    this.cost = JSON.parse(box.dataset.cost);
    this.zoom = 1;
    this.from = 0;
    box.chart = this;
    const over = document.createElement("div");
    over.className = "lane over";
    this.links = shape("svg", {class: "time links", "aria-hidden": "true"});
    this.cursor = document.createElement("div");
    this.cursor.className = "cursor";
    this.cursor.hidden = true;
    over.append(this.links, this.cursor);
    box.append(over);
    this.over = over;
    this.rows = all(".row", box);
    this.stops = all(".rows summary", box);
    this.enter(this.stops.find(seen));
    this.listen();
  }

  // One row is reached by the tab key; arrows lead to the others.
  enter(stop) { for (const other of this.stops) other.tabIndex = other === stop ? 0 : -1; }

  // From a place on the screen to a part of what is shown, 0 to 1.
  part(x) {
    const lane = this.over.getBoundingClientRect();
    return lane.width ? clamp((x - lane.left) / lane.width, 0, 1) : 0;
  }

  view(zoom, from) {
    this.zoom = clamp(zoom, 1, MOST);
    this.from = clamp(from, 0, 1 - 1 / this.zoom);
    if (!this.waiting) this.waiting = requestAnimationFrame(() => this.draw());
  }

  // Zoom by a factor; what stands at a part of the view stays there.
  zoomAt(factor, part = .5) {
    const zoom = clamp(this.zoom * factor, 1, MOST);
    this.view(zoom, this.from + part / this.zoom - part / zoom);
  }

  pan(parts) { this.view(this.zoom, this.from + parts / this.zoom); }

  draw(width = this.over.clientWidth) {
    this.waiting = 0;
    this.box.style.setProperty("--zoom", this.zoom);
    this.box.style.setProperty("--from", this.from);
    this.box.dataset.zoom = this.zoom.toFixed(3);
    if (!width) return;
    const shown = this.seconds / this.zoom, step = STEPS.find(step => shown / step <= width / LABEL) ?? shown / 4;
    const ticks = all(".ticks", this.box)[0], lines = all(".lines", this.box)[0];
    ticks.replaceChildren();
    lines.replaceChildren();
    for (let at = Math.floor(this.from * this.seconds / step) * step; at <= this.from * this.seconds + shown; at += step) {
      const x = `${100 * at / this.seconds}%`;
      const room = width * (1 - (at / this.seconds - this.from) * this.zoom);
      if (room > LABEL / 2) ticks.append(shape("text", {x, dx: 4, y: 14}, words(at)));
      lines.append(shape("line", {class: "grid", x1: x, x2: x, y2: "100%"}));
    }
  }

  // Show what a row waited for, and what that waited for, back to the start.
  link(row) {
    all(".waited", this.box).forEach(other => other.classList.remove("waited"));
    const chain = [];
    for (let to = row; to && chain.length < 200;) {
      const link = to.querySelector("dl a"), from = link && document.getElementById(link.hash.slice(1));
      if (from) chain.push([from, to]);
      to = from;
    }
    // Measured first and changed after: each change in between would lay the page out anew. What is in rows far out of sight
    // is not laid out: of those only the top is known.
    const top = this.over.getBoundingClientRect().top, phone = row && getComputedStyle(row.firstElementChild).gridTemplateColumns.split(" ").length === 1;
    const middle = row => {
      const lane = row.querySelector(".lane").getBoundingClientRect();
      return (lane.height ? lane.top + lane.height / 2 : row.getBoundingClientRect().top + (phone ? 34 : 12)) - top;
    };
    const lines = chain.filter(([from, to]) => seen(from) && seen(to)).map(([from, to]) => {
      const [before, after] = [from, to].map(row => row.querySelector(".bar"));
      const x1 = `${parseFloat(before.getAttribute("x")) + parseFloat(before.getAttribute("width"))}%`;
      return shape("line", {x1, x2: after.getAttribute("x"), y1: middle(from), y2: middle(to)});
    });
    this.links.replaceChildren(...lines);
    chain.forEach(([from]) => from.classList.add("waited"));
  }

  // What is paid at a time: the last point not after it, and the sum that has grown since.
  read(x) {
    const part = this.part(x), at = (this.from + part / this.zoom) * this.seconds;
    this.cursor.hidden = false;
    this.cursor.style.left = `${100 * part}%`;
    const readout = this.box.querySelector(".readout"), ran = Math.min(at, Number(this.box.dataset.ran));
    let last = [0, 0, 0];
    for (const point of this.cost) if (point[0] <= ran) last = point;
    const spent = last[2] + last[1] * (ran - last[0]) / 3600;
    readout.textContent = `${words(at)}: ${last[1].toFixed(2)} USD/h, ${spent.toFixed(2)} spent`;
  }

  reveal(row) {
    for (let fold = row.parentElement.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    row.hidden = false;
    row.firstElementChild.focus({preventScroll: true});
    row.scrollIntoView({block: "center"});
  }

  walk(stop, by) {
    const shown = this.stops.filter(seen), to = shown[clamp(shown.indexOf(stop) + by, 0, shown.length - 1)];
    if (to) to.focus();
  }

  // Fold or unfold all but the parts.
  unfold(open) { all(".rest", this.box).forEach(rest => { rest.open = open; }); }

  // The longest first, or by start: within its part, and within what is folded.
  order() {
    this.longest = !this.longest;
    const length = row => Number(row.querySelector(".bar").getAttribute("width").replace("%", ""));
    for (const fold of all(".part, .rest", this.box)) {
      const rows = [...fold.children].filter(child => child.matches(".row")), rest = [...fold.children].find(child => child.matches(".rest"));
      const number = row => Number(row.id.slice(row.id.lastIndexOf("-") + 1));
      rows.sort((a, b) => this.longest ? length(b) - length(a) : number(a) - number(b));
      rows.forEach(row => fold.insertBefore(row, rest || null));
    }
    this.stops = all(".rows summary", this.box);
    return this.longest;
  }

  listen() {
    const {box} = this, pointers = new Map();
    let moved = 0;
    box.addEventListener("wheel", event => {
      const free = event.target.closest(".axis, .cost");
      if (event.ctrlKey || event.metaKey || (free && !event.shiftKey)) {
        event.preventDefault();
        this.zoomAt(Math.exp(-clamp(event.deltaY, -120, 120) / (event.ctrlKey ? 120 : 300)), this.part(event.clientX));
      } else if (this.zoom > 1 && (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))) {
        event.preventDefault();
        this.pan((event.deltaX || event.deltaY) / this.over.clientWidth);
      }
    }, {passive: false});
    box.addEventListener("pointerdown", event => {
      if (!pointers.size) moved = 0;
      if (!event.target.closest(".lane") || event.button) return;
      pointers.set(event.pointerId, event.clientX);
    });
    box.addEventListener("pointermove", event => {
      if (event.pointerType === "mouse" || pointers.size) this.read(event.clientX);
      if (pointers.has(event.pointerId)) return this.drag(pointers, event, by => { moved += Math.abs(by); });
      const row = event.target.closest(".row");
      if (event.pointerType === "mouse") explain(row && event.target.closest("summary") ? row : null, event.clientX, event.clientY);
    });
    const end = event => pointers.delete(event.pointerId);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
    box.addEventListener("pointerleave", () => { this.cursor.hidden = true; explain(null); });
    // A drag is no click, and neither closes nor opens a row.
    box.addEventListener("click", event => { if (moved > 5 && event.detail) event.preventDefault(); }, true);
    box.addEventListener("dblclick", event => { if (event.target.closest(".lane")) this.view(1, 0); });
    box.addEventListener("click", event => {
      const link = event.target.closest("dl a");
      if (!link) return;
      event.preventDefault();
      this.reveal(document.getElementById(link.hash.slice(1)));
    });
    box.addEventListener("toggle", event => {
      if (!event.target.matches(".row")) return;
      explain(null);
      if (event.target.open) this.link(event.target);
    }, true);
    box.addEventListener("keydown", event => this.key(event));
    box.addEventListener("focusin", event => {
      if (!event.target.matches(".rows summary")) return;
      this.enter(event.target);
      const row = event.target.parentElement;
      if (!row.matches(".row") || !event.target.matches(":focus-visible")) return;
      const place = event.target.getBoundingClientRect();
      explain(row, place.left + 24, place.bottom - 14);
    });
    box.addEventListener("focusout", () => explain(null));
  }

  drag(pointers, event, tell) {
    const before = [...pointers.values()], by = event.clientX - pointers.get(event.pointerId), width = this.over.clientWidth;
    pointers.set(event.pointerId, event.clientX);
    tell(by);
    explain(null);
    if (pointers.size === 1) {
      if (this.zoom > 1) this.pan(-by / width);
      return;
    }
    const now = [...pointers.values()], span = ([a, b]) => Math.max(Math.abs(a - b), 10);
    this.zoomAt(span(now) / span(before), this.part((now[0] + now[1]) / 2));
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || !event.target.matches("summary")) return;
    const stop = event.target.matches(".rows summary") && event.target;
    const acts = {
      "+": () => this.zoomAt(1.5), "=": () => this.zoomAt(1.5), "-": () => this.zoomAt(1 / 1.5), "0": () => this.view(1, 0),
      ArrowLeft: () => this.pan(-.2), ArrowRight: () => this.pan(.2), ArrowUp: () => this.walk(stop, -1), ArrowDown: () => this.walk(stop, 1),
      Home: () => this.walk(stop, -this.stops.length), End: () => this.walk(stop, this.stops.length),
    };
    const act = stop && acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}

const charts = all(".chart").map(box => new Chart(box));
for (const run of all(".run")) {
  const {chart} = run.querySelector(".chart");
  const acts = {
    in: () => chart.zoomAt(1.5), out: () => chart.zoomAt(1 / 1.5), whole: () => chart.view(1, 0),
    open: () => chart.unfold(true), fold: () => chart.unfold(false),
    length: event => event.currentTarget.setAttribute("aria-pressed", chart.order()),
  };
  all("[data-do]", run).forEach(button => button.addEventListener("click", acts[button.dataset.do]));
}
// A link to a run chooses it.
function follow(hash) {
  const wanted = tabs.find(tab => `#${tab.getAttribute("aria-controls")}` === hash);
  if (!wanted) return;
  choose(wanted);
  document.getElementById("timeline").scrollIntoView();
}
addEventListener("hashchange", () => follow(location.hash));
document.addEventListener("click", event => {
  const link = event.target.closest("main > :not(.runs) a");
  if (link) setTimeout(() => follow(link.hash));
});
const redraw = () => charts.forEach(chart => chart.draw());
addEventListener("resize", redraw);
addEventListener("beforeprint", () => charts.forEach(chart => {
  Object.assign(chart, {zoom: 1, from: 0});
  chart.draw(PAPER);
}));
addEventListener("afterprint", redraw);

// Search: steps whose name or type holds every word, in all runs; folds open for what is found, and close as they were.
const box = document.getElementById("search"), found = document.querySelector(".search .found");
const words_of = new Map();
let folds = null;
function search() {
  const wanted = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length && !folds) folds = new Map(all(".part, .rest").map(fold => [fold, fold.open]));
  const hits = new Set();
  for (const {rows} of charts) for (const row of rows) {
    if (!words_of.has(row)) words_of.set(row, `${row.querySelector(".name").textContent} ${row.querySelector("dd").textContent}`.toLowerCase());
    row.hidden = !wanted.every(word => words_of.get(row).includes(word));
    if (!row.hidden) for (let fold = row.parentElement.closest("details"); fold; fold = fold.parentElement.closest("details")) hits.add(fold);
  }
  for (const [fold, open] of folds ?? []) {
    fold.hidden = wanted.length > 0 && !hits.has(fold);
    fold.open = wanted.length ? hits.has(fold) : open;
  }
  if (!wanted.length) folds = null;
  count();
  charts.forEach(chart => chart.enter(chart.stops.find(seen)));
}
function count() {
  const run = document.querySelector(".run.current");
  const rows = all(".row", run);
  found.textContent = folds ? `${rows.filter(row => !row.hidden).length} of ${rows.length} steps` : "";
}
box.addEventListener("input", search);
document.addEventListener("keydown", event => {
  if (event.key === "Escape" && event.target === box && box.value) {
    box.value = "";
    search();
  }
  if (event.key !== "/" || event.altKey || event.ctrlKey || event.metaKey || event.target.matches("input, textarea")) return;
  event.preventDefault();
  box.focus();
});

// Copy buttons. From a file a browser may have no clipboard interface: the old command works there as well.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.style.position = "fixed";
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
function button(text, label) {
  const made = document.createElement("button");
  Object.assign(made, {type: "button", className: "copy", textContent: "Copy"});
  made.setAttribute("aria-label", `Copy ${label}`);
  made.addEventListener("click", async event => {
    event.preventDefault();
    await copy(text);
    made.textContent = "Copied";
    setTimeout(() => { made.textContent = "Copy"; }, 1500);
  });
  return made;
}
all(".asked code, .before code, .then code, .trouble dd code").forEach(code => code.after(button(code.textContent, code.textContent)));
// What an option such as --fault takes: made when a step is opened, since there may be thousands.
document.addEventListener("toggle", event => {
  const row = event.target;
  if (!row.matches(".row[open]") || row.querySelector(".copy")) return;
  const target = `${row.querySelector("i").textContent}/${row.querySelector("b").textContent}`;
  const name = document.createElement("dt"), value = document.createElement("dd"), code = document.createElement("code");
  name.textContent = "name";
  code.textContent = target;
  value.append(code, button(target, target));
  row.querySelector("dl").append(name, value);
}, true);

choose(tabs[0]);
follow(location.hash);
