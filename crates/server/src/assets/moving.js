// Live charts. All charts of a page have the same time axis, which begins with the oldest sample
// that is kept, and value axes that begin at 0. Pointing at a chart, or using its arrow keys, shows
// the values of that moment in every chart. The definitions of the monitors' charts (CHARTS) come
// before this text.

const SVG = "http://www.w3.org/2000/svg";
const MOST_POINTS = 300;

const node = (name, attributes = {}, text) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
};

const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];

/** Formats a value with its unit in three digits, like the axes of charts on static pages. */
function short(value, unit) {
  if (value === null || !Number.isFinite(value)) return "no value";
  if (unit === "1" || unit === "") return String(Number(value.toPrecision(3)));
  if (unit === "%") return `${Number(value.toPrecision(3))} %`;
  const scaled = { ms: [1e-3, "s"], us: [1e-6, "s"], "kB/s": [1e3, "B/s"], kB: [1e3, "B"], "KiB/s": [1024, "B/s"], "1/s": [1, "/s"] }[unit];
  const [base, symbol] = scaled ? [value * scaled[0], scaled[1]] : [value, unit];
  const [large, small] = [/^(B|J|W|Hz)$|\/s$/.test(symbol), /^[sJW]$/.test(symbol)];
  const fits = ([f]) => Math.abs(base) >= f && (f > 1 ? large : f === 1 || small);
  const [factor, prefix] = (base && PREFIXES.find(fits)) || [1, ""];
  return `${Number((base / factor).toPrecision(3))} ${prefix}${symbol}`;
}

/** Size of a chart, and its margins: left, right, top, bottom. */
const [W, H, L, R, T, B] = [460, 170, 84, 8, 8, 22];
const RESULTS = "Result of each trial";

/** Maximum number of lines in a chart whose number of series is not known in advance. */
const MOST_SERIES = 16;

class Moving {
  constructor(root) {
    this.root = root;
    this.series = new Map();
    this.phases = [];
    this.heats = new Map();
    this.figures = new Map();
    /** Moment that is pointed at, in seconds. */
    this.at = null;
    this.span = [0, 0];
  }

  put(v) {
    if (CHARTS.some((c) => c.monitor === v.monitor && c.subject !== null && c.subject !== v.subject)) return;
    const key = `${v.monitor}|${v.subject}|${v.field}`;
    if (!this.series.has(key)) this.series.set(key, { monitor: v.monitor, subject: v.subject, field: v.field, unit: v.unit, points: [] });
    const { points } = this.series.get(key);
    points.push([v.t_ns / 1e9, v.value]);
    if (points.length > MOST_POINTS) points.shift();
  }

  phase(name, t_ns) {
    this.phases.push([t_ns / 1e9, name]);
    if (this.phases.length > 100) this.phases.shift();
  }

  of(monitor, field) {
    return [...this.series.values()].filter((s) => s.monitor === monitor && (field === undefined || s.field === field));
  }

  draw() {
    const times = [...this.series.values()].flatMap((s) => s.points.map((p) => p[0]));
    if (times.length) this.span = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))];
    // First the metrics of the workload itself: one chart for each unit.
    const byUnit = new Map();
    for (const s of this.of("workload")) byUnit.set(s.unit, [...(byUnit.get(s.unit) ?? []), s]);
    for (const [unit, all] of byUnit) this.lines(`Series of the workload, ${unit === "1" ? "counts" : unit}`, all.map((s) => ({ label: s.field, ...s })));
    for (const chart of CHARTS) {
      if (chart.stacked) this.area(chart);
      else this.lines(chart.title, chart.fields.flatMap(([field, word]) =>
        this.of(chart.monitor, field).map((s) => ({ label: `${s.subject} ${word}`.trim() || chart.title, ...s }))), MOST_SERIES);
    }
    // Fields that no chart above draws: one chart for each monitor and unit, so that a monitor
    // needs no entry in CHARTS.
    const rest = new Map();
    for (const s of this.series.values()) {
      if (s.monitor === "workload" || CHARTS.some((c) => c.monitor === s.monitor && c.fields.some(([field]) => field === s.field))) continue;
      const title = `Monitor ${s.monitor}, ${s.unit === "1" ? "counts" : s.unit}`;
      if (!rest.has(title)) rest.set(title, []);
      rest.get(title).push({ label: `${s.subject} ${s.field.replaceAll("_", " ")}`.trim(), ...s });
    }
    for (const [title, all] of rest) this.lines(title, all, MOST_SERIES);
    for (const [name, heat] of this.heats) this.heat(name, heat);
  }

  figure(title) {
    if (!this.figures.has(title)) {
      const figure = document.createElement("figure");
      const caption = document.createElement("figcaption");
      caption.textContent = title;
      // The element stays while its content is redrawn, so that it keeps the pointer and the focus.
      const svg = node("svg", { role: "img", viewBox: `0 0 ${W} ${H}` });
      const readout = document.createElement("output");
      readout.className = "readout";
      // Changes every second: screen readers read it on demand and do not announce it.
      readout.setAttribute("aria-live", "off");
      figure.append(caption, svg, readout);
      this.root.append(figure);
      const held = { svg, readout, keys: [], moment: null };
      this.listen(svg, held);
      this.figures.set(title, held);
    }
    return this.figures.get(title);
  }

  /** Handles the pointer and the keys (left and right arrow, Escape) of a chart over time. */
  listen(svg, held) {
    svg.addEventListener("pointermove", (e) => {
      if (!held.moment) return;
      const box = svg.getBoundingClientRect();
      const share = ((e.clientX - box.left) / box.width * W - L) / (W - L - R);
      this.point(this.span[0] + Math.min(1, Math.max(0, share)) * (this.span[1] - this.span[0]));
    });
    svg.addEventListener("pointerleave", () => this.point(null));
    svg.addEventListener("blur", () => this.point(null));
    svg.addEventListener("keydown", (e) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
      if (e.key === "Escape") this.point(null);
      if (!step || !held.moment) return;
      e.preventDefault();
      const [from, to] = this.span;
      this.point(Math.min(to, Math.max(from, (this.at ?? to) + step * Math.max(1, (to - from) / 60))));
    });
  }

  /** Shows the values of this moment in every chart over time; `null` shows the newest. */
  point(at) {
    this.at = at;
    for (const held of this.figures.values()) if (held.moment) this.tell(held);
  }

  tell({ svg, readout, keys, moment }) {
    svg.querySelector(".cross")?.remove();
    const { at, span: [from, to] } = this;
    if (moment && at !== null && at >= from) {
      const x = L + (W - L - R) * (to > from ? (at - from) / (to - from) : 1);
      svg.append(node("line", { class: "cross", x1: x, x2: x, y1: T, y2: H - B }));
    }
    const shown = moment && at !== null ? [["", `${short(at - to, "s")} from now:`], ...moment(at)] : keys;
    readout.replaceChildren(...shown.map(([look, words]) => {
      const key = document.createElement("span");
      key.className = `key ${look}`.trim();
      key.textContent = words;
      return key;
    }));
  }

  frame(title, kind, from, to, high, unit, says, value = (part) => high * part, times = [`${Math.round(from - to)} s`, "now"]) {
    const { svg } = this.figure(title);
    svg.setAttribute("class", `chart ${kind}`);
    svg.setAttribute("aria-label", `${title}. ${says}`);
    svg.replaceChildren(node("desc", {}, says));
    const x = (t) => L + (W - L - R) * (to > from ? (t - from) / (to - from) : 1);
    const y = (v) => H - B - (H - T - B) * (v / high);
    for (const share of [0, 0.5, 1]) {
      const at = y(high * share);
      svg.append(node("line", { class: "grid", x1: L, x2: W - R, y1: at, y2: at }));
      const label = node("g", { class: "axis" });
      label.append(node("text", { class: "end", x: L - 6, y: at + 4 }, short(value(share), unit)));
      svg.append(label);
    }
    const ends = node("g", { class: "axis" });
    ends.append(node("text", { x: L, y: H - 6 }, times[0]), node("text", { class: "end", x: W - R, y: H - 6 }, times[1]));
    svg.append(ends);
    return { svg, x, y, top: T, bottom: H - B };
  }

  marks(frame, from) {
    for (const [t, name] of this.phases) {
      if (t < from) continue;
      const line = node("line", { class: "phase-edge", x1: frame.x(t), x2: frame.x(t), y1: frame.top, y2: frame.bottom });
      line.append(node("title", {}, name));
      frame.svg.append(line);
    }
  }

  lines(title, all, most = Infinity) {
    const seen = all.filter((s) => s.points.some((p) => p[1]));
    const shown = seen.slice(0, most);
    if (shown.length === 0) return;
    const [from, to] = this.span;
    const high = Math.max(...shown.flatMap((s) => s.points.map((p) => p[1] ?? 0))) || 1;
    const keys = shown.map((s, i) => [`s${i % 8}${i % 2 ? " dashed" : ""}`, `${s.label}: ${short(s.points.at(-1)[1], s.unit)}`]);
    const newest = keys.map((k) => k[1]).join("  ·  ");
    const frame = this.frame(title, "lines", from, to, high, shown[0].unit, newest);
    this.marks(frame, from);
    shown.forEach((s, i) => {
      let path = "";
      let down = false;
      for (const [t, v] of s.points) {
        if (v === null) { down = false; continue; }
        path += `${down ? "L" : "M"}${frame.x(t).toFixed(1)} ${frame.y(v).toFixed(1)}`;
        down = true;
      }
      const group = node("g", { class: `series s${i % 8}${i % 2 ? " dashed" : ""}` });
      group.append(node("path", { class: "line", d: path }));
      frame.svg.append(group);
    });
    if (shown.length < seen.length) keys.push(["", `the first ${shown.length} of ${seen.length} series`]);
    this.show(title, keys, (at) => shown.map((s, i) => [keys[i][0], `${s.label}: ${short(nearest(s.points, at), s.unit)}`]));
  }

  area(chart) {
    const names = [...new Set(chart.fields.map(([, word]) => word))];
    const rows = new Map();
    for (const [field, word] of chart.fields) for (const s of this.of(chart.monitor, field)) for (const [t, v] of s.points) {
      if (!rows.has(t)) rows.set(t, names.map(() => null));
      const i = names.indexOf(word);
      if (v !== null) rows.get(t)[i] = (rows.get(t)[i] ?? 0) + v;
    }
    if (!rows.size) return;
    const look = (name) => `layer-${name.split(" ")[0]}`;
    const steps = [...rows.entries()].sort((a, b) => a[0] - b[0]).slice(-MOST_POINTS);
    const gaps = steps.slice(1).map((s, i) => s[0] - steps[i][0]).sort((x, y) => x - y);
    const usual = gaps.length ? gaps[gaps.length >> 1] : 1;
    const [from, to] = this.span;
    const keys = names.map((name, i) => [look(name), `${name}: ${short(steps.at(-1)[1][i], "%")}`]);
    const says = keys.map((k) => k[1]).join("  ·  ");
    const frame = this.frame(chart.title, "area", from, to, 100, "%", says);
    const layers = names.map((name) => ({ name, d: "" }));
    steps.forEach(([t, values], k) => {
      const before = k ? steps[k - 1][0] : t - usual;
      const left = frame.x(Math.max(from, before, t - usual * 2.5)).toFixed(1);
      const right = frame.x(t).toFixed(1);
      let sum = 0;
      values.forEach((v, i) => {
        if (v === null) return;
        layers[i].d += `M${left} ${frame.y(sum).toFixed(1)}H${right}V${frame.y(Math.min(100, sum + v)).toFixed(1)}H${left}Z`;
        sum = Math.min(100, sum + v);
      });
    });
    for (const layer of layers) frame.svg.append(node("path", { class: `fill ${look(layer.name)}`, d: layer.d }));
    this.marks(frame, from);
    this.show(chart.title, keys, (at) => {
      const values = nearest(steps, at) ?? [];
      return names.map((name, i) => [look(name), `${name}: ${short(values[i] ?? null, "%")}`]);
    });
  }

  /** Draws a heat map of counts over time and value. Like on the pages of runs, the shade grows with the
   *  logarithm of the count. */
  heat(name, map) {
    const title = `${name.replaceAll("_", " ")} over the last trial`;
    const { edges, counts } = map;
    const [low, high] = [edges[0], edges.at(-1)];
    const most = counts.flat().reduce((a, b) => Math.max(a, b), 1);
    const [factor, unit] = { ns: [1e-9, "s"], us: [1e-6, "s"], "µs": [1e-6, "s"], ms: [1e-3, "s"] }[map.unit] ?? [1, map.unit];
    const total = counts.flat().reduce((a, b) => a + b, 0);
    const says = `${total} values from ${short(low * factor, unit)} to ${short(high * factor, unit)}; fullest: ${most} in a cell`;
    const log = low > 0 && high / low >= 4;
    const share = (v) => (log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low));
    const width = (map.column_ns / 1e9) * counts.length;
    const value = (part) => (log ? low * (high / low) ** part : low + (high - low) * part) * factor;
    const frame = this.frame(title, "heat", 0, width, 1, unit, says, value, ["0 s", `${Number(width.toPrecision(3))} s`]);
    const levels = Array.from({ length: 6 }, () => "");
    counts.forEach((column, i) => column.forEach((n, row) => {
      if (n === 0) return;
      const level = Math.min(6, Math.max(1, Math.ceil((Math.log1p(n) / Math.log1p(most)) * 6))) - 1;
      const [x0, x1] = [frame.x((width * i) / counts.length), frame.x((width * (i + 1)) / counts.length)];
      const [y0, y1] = [frame.y(share(edges[row])), frame.y(share(edges[row + 1]))];
      levels[level] += `M${x0.toFixed(1)} ${y0.toFixed(1)}H${x1.toFixed(1)}V${y1.toFixed(1)}H${x0.toFixed(1)}Z`;
    }));
    levels.forEach((d, i) => { if (d) frame.svg.append(node("path", { class: `h${i + 1}`, d })); });
    this.show(title, [["", says]]);
  }

  /** Draws the results of the trials so far, one line for each treatment. */
  trials(treatments) {
    const all = treatments.filter((t) => t.values.some(([, v]) => v !== null));
    if (!all.length) return;
    const shown = all.slice(0, MOST_SERIES);
    const unit = shown.find((t) => t.unit)?.unit ?? "";
    const numbers = shown.flatMap((t) => t.values.map(([n]) => n));
    const [from, to] = [Math.min(...numbers), Math.max(...numbers)];
    const high = Math.max(...shown.flatMap((t) => t.values.map(([, v]) => v ?? 0))) || 1;
    const keys = shown.map((t, i) => [`s${i % 8}${i % 2 ? " dashed" : ""}`, `${t.label}: ${short(t.last, unit)}`]);
    if (shown.length < all.length) keys.push(["", `the first ${shown.length} of ${all.length} treatments`]);
    const ends = [`trial ${from}`, from < to ? `trial ${to}` : ""];
    const frame = this.frame(RESULTS, "lines", from, to, high, unit, keys.map((k) => k[1]).join("  ·  "), undefined, ends);
    shown.forEach((t, i) => {
      const group = node("g", { class: `series s${i % 8}${i % 2 ? " dashed" : ""}` });
      const points = t.values.filter(([, v]) => v !== null);
      group.append(node("path", { class: "line", d: points.map(([n, v], k) => `${k ? "L" : "M"}${frame.x(n).toFixed(1)} ${frame.y(v).toFixed(1)}`).join("") }));
      for (const [n, v] of points) {
        const dot = node("circle", { class: "dot", cx: frame.x(n).toFixed(1), cy: frame.y(v).toFixed(1), r: 3 });
        dot.append(node("title", {}, `trial ${n}, ${t.label}: ${short(v, unit)}`));
        group.append(dot);
      }
      frame.svg.append(group);
    });
    this.show(RESULTS, keys);
  }

  /** Sets the read-out of a chart. `keys` are the newest values, as pairs of a CSS class and a text;
   *  `moment` returns such pairs for a moment that is pointed at. */
  show(title, keys, moment = null) {
    const held = this.figure(title);
    [held.keys, held.moment] = [keys, moment];
    if (moment) held.svg.setAttribute("tabindex", "0");
    this.tell(held);
  }
}

/** Returns the value of the newest point at or before a moment, or null if there is no such point. */
function nearest(points, at) {
  let found = null;
  for (const [t, v] of points) {
    if (t > at) break;
    found = v;
  }
  return found;
}
