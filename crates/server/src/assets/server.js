// What moves on a server's pages: signing in by the address that the terminal shows, the queue, the
// charts of a run that goes on. A page is complete without it, but for those charts. What is drawn of
// the monitors (CHARTS) comes before this text, from the monitors' own rows.

const SVG = "http://www.w3.org/2000/svg";
const MOST_POINTS = 300;

/** The token stands after the #, which browsers do not send: it goes into the form, then away. */
function signIn() {
  const form = document.getElementById("login");
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!form || !token) return;
  history.replaceState(null, "", location.pathname);
  form.elements.token.value = token;
  form.submit();
}

/** Asks for the part of the page that changes, unless somebody is using it. */
function refresh(part) {
  setInterval(async () => {
    if (document.hidden || part.contains(document.activeElement) || part.querySelector("details[open]")) return;
    try {
      const answer = await fetch(part.dataset.refresh, { redirect: "error" });
      if (answer.ok) part.innerHTML = await answer.text();
    } catch { /* the server may be starting anew */ }
  }, part.dataset.every ?? 2000);
}

const node = (name, attributes = {}, text) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
};

const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];

/** A value with its unit, three digits, as the charts of pages write their axes. */
function short(value, unit) {
  if (value === null || !Number.isFinite(value)) return "no value";
  if (unit === "%" || unit === "1" || unit === "") return `${Number(value.toPrecision(3))} ${unit}`.trim();
  const scaled = { ms: [1e-3, "s"], us: [1e-6, "s"], "kB/s": [1e3, "B/s"], kB: [1e3, "B"], "KiB/s": [1024, "B/s"] }[unit];
  const [base, symbol] = scaled ? [value * scaled[0], scaled[1]] : [value, unit];
  const [factor, prefix] = (base && PREFIXES.find(([f]) => Math.abs(base) >= f)) || [1, ""];
  return `${Number((base / factor).toPrecision(3))} ${prefix}${symbol}`;
}

/** Lines of a chart that was made for whatever series there are. */
const MOST_SERIES = 16;

class Moving {
  constructor(root) {
    this.root = root;
    this.series = new Map();
    this.phases = [];
    this.heats = new Map();
    this.figures = new Map();
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
    for (const chart of CHARTS) {
      if (chart.stacked) this.area(chart);
      else this.lines(chart.title, chart.fields.flatMap(([field, word]) =>
        this.of(chart.monitor, field).map((s) => ({ label: `${s.subject} ${word}`.trim() || chart.title, ...s }))), MOST_SERIES);
    }
    // What no chart above draws: one chart a monitor and unit, so that a monitor needs no entry there.
    const rest = new Map();
    for (const s of this.series.values()) {
      if (s.monitor === "workload" || CHARTS.some((c) => c.monitor === s.monitor && c.fields.some(([field]) => field === s.field))) continue;
      const title = `Monitor ${s.monitor}, ${s.unit === "1" ? "counts" : s.unit}`;
      if (!rest.has(title)) rest.set(title, []);
      rest.get(title).push({ label: `${s.subject} ${s.field.replaceAll("_", " ")}`.trim(), ...s });
    }
    for (const [title, all] of rest) this.lines(title, all, MOST_SERIES);
    for (const [name, heat] of this.heats) this.heat(name, heat);
    // What the workload says of itself: one chart a unit.
    const byUnit = Map.groupBy ? Map.groupBy(this.of("workload"), (s) => s.unit) : new Map();
    for (const [unit, all] of byUnit) this.lines(`The workload's own, ${unit === "1" ? "counts" : unit}`, all.map((s) => ({ label: s.field, ...s })));
  }

  figure(title) {
    if (!this.figures.has(title)) {
      const figure = document.createElement("figure");
      const caption = document.createElement("figcaption");
      caption.textContent = title;
      const box = document.createElement("div");
      const readout = document.createElement("output");
      readout.className = "readout";
      figure.append(caption, box, readout);
      this.root.append(figure);
      this.figures.set(title, { box, readout });
    }
    return this.figures.get(title);
  }

  frame(title, kind, from, to, high, unit, says, value = (part) => high * part, times = [`${Math.round(from - to)} s`, "now"]) {
    const [W, H, L, R, T, B] = [460, 170, 84, 8, 8, 22];
    const svg = node("svg", { class: `chart ${kind}`, viewBox: `0 0 ${W} ${H}`, role: "img" });
    svg.append(node("title", {}, title), node("desc", {}, says));
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
    const times = shown.flatMap((s) => s.points.map((p) => p[0]));
    const [from, to] = [Math.min(...times), Math.max(...times)];
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
    this.show(title, frame.svg, keys);
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
    const [from, to] = [steps[0][0] - usual, steps.at(-1)[0]];
    const keys = names.map((name, i) => [look(name), `${name}: ${short(steps.at(-1)[1][i], "%")}`]);
    const says = keys.map((k) => k[1]).join("  ·  ");
    const frame = this.frame(chart.title, "area", from, to, 100, "%", says);
    const layers = names.map((name) => ({ name, d: "" }));
    steps.forEach(([t, values], k) => {
      const before = k ? steps[k - 1][0] : from;
      const left = frame.x(Math.max(before, t - usual * 2.5)).toFixed(1);
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
    this.show(chart.title, frame.svg, keys);
  }

  /** Counts over time and value, as the pages of runs draw them: the darker, the more, by the logarithm. */
  heat(name, told) {
    const title = `${name.replaceAll("_", " ")} over the last trial`;
    const { edges, counts } = told;
    const [low, high] = [edges[0], edges.at(-1)];
    const most = counts.flat().reduce((a, b) => Math.max(a, b), 1);
    const [factor, unit] = { ns: [1e-9, "s"], us: [1e-6, "s"], "µs": [1e-6, "s"], ms: [1e-3, "s"] }[told.unit] ?? [1, told.unit];
    const total = counts.flat().reduce((a, b) => a + b, 0);
    const says = `${total} values from ${short(low * factor, unit)} to ${short(high * factor, unit)}; fullest: ${most} in a cell`;
    const log = low > 0 && high / low >= 4;
    const share = (v) => (log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low));
    const width = (told.column_ns / 1e9) * counts.length;
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
    this.show(title, frame.svg, [["", says]]);
  }

  /** The chart, and beneath it the newest value of each of its keys: what it looks like, and its words. */
  show(title, svg, keys) {
    const { box, readout } = this.figure(title);
    box.replaceChildren(svg);
    readout.replaceChildren(...keys.map(([look, words]) => {
      const key = document.createElement("span");
      key.className = `key ${look}`.trim();
      key.textContent = words;
      return key;
    }));
  }
}

/** A run that goes on, or the machine. */
class Live {
  constructor(root) {
    this.root = root;
    this.charts = new Moving(document.getElementById("live-charts"));
    this.treatments = new Map();
    this.events = 0;
    this.due = false;
    this.source = new EventSource(root.dataset.events);
    this.source.onmessage = (message) => this.take(JSON.parse(message.data));
    this.source.onerror = () => this.state(this.source.readyState === 2 ? "The server ended the connection; load the page again." : "The connection is lost; it is tried again.");
  }

  state(text) { this.text("live-state", text); }

  text(id, text) {
    const element = document.getElementById(id);
    if (element && element.textContent !== text) element.textContent = text;
  }

  take(event) {
    this.events += 1;
    this.root.dataset.seen = this.events;
    const handler = this[`on_${event.event.replace("-", "_")}`];
    if (handler) handler.call(this, event);
    // At most one drawing a frame, none while nobody looks.
    if (!this.due) {
      this.due = true;
      requestAnimationFrame(() => { this.due = false; this.draw(); });
    }
  }

  on_status({ status: s }) {
    this.treatments = new Map(Object.entries(s.treatments).map(([id, t]) => [Number(id), t]));
    this.charts.series.clear();
    this.charts.phases = [];
    for (const one of s.series) for (const [t_ns, value] of one.points) this.charts.put({ ...one, t_ns, value });
    this.charts.heats = new Map(Object.entries(s.heats));
    for (const p of s.phases) this.charts.phase(p.phase, p.t_ns);
    const log = document.getElementById("live-log");
    if (log) log.textContent = s.log.map((l) => `${l.from}: ${l.text}\n`).join("");
    this.counts(s.done, s.total, s.left_s);
    if (s.run) this.link(s.run);
    if (s.trial) this.trial(s.trial);
    if (s.finished) this.on_finished(s.finished);
    else if (s.total) this.state("Running.");
  }

  on_registered(e) {
    this.link(e.run);
    this.counts(0, e.trials, null);
    this.state("Running.");
  }

  on_trial(e) {
    const t = this.treatment(e.treatment);
    t.label = e.label;
    if (e.estimate !== null) [t.estimate, t.unit] = [e.estimate, e.unit];
    this.counts(e.done, e.total, e.left_s);
    this.trial(e);
  }

  on_phase(e) {
    this.text("live-phase", e.phase);
    this.charts.phase(e.phase, e.t_ns);
  }

  on_heat(e) { this.charts.heats.set(e.name, e.heat); }

  on_progress(e) { this.text("live-phase", `${Math.round(e.progress * 100)} % of the trial`); }

  on_samples(e) {
    for (const v of e.values) this.charts.put(v);
    if (this.root.dataset.kind === "observe") {
      this.state("Looking.");
      this.values(e.values);
    }
  }

  on_ended(e) {
    for (const trial of e.trials) {
      const t = this.treatment(trial.treatment);
      if (trial.outcome === "completed") {
        t.completed += 1;
        t.last = trial.value;
      } else {
        t.failed += 1;
        this.on_log({ from: "assay", text: `trial ${trial.number} failed: ${trial.error}` });
      }
    }
    this.counts(this.done + e.trials.length, this.total, this.left);
  }

  on_log(e) {
    const log = document.getElementById("live-log");
    if (!log) return;
    const end = log.scrollTop + log.clientHeight >= log.scrollHeight - 4;
    log.append(e.text.split("\n").map((line) => `${e.from}: ${line}\n`).join(""));
    const lines = log.textContent.split("\n");
    if (lines.length > 400) log.textContent = lines.slice(-300).join("\n");
    if (end) log.scrollTop = log.scrollHeight;
  }

  on_finished(e) {
    this.finished = true;
    this.state(`The run is ${e.state}: ${e.reason}. Its page has the results.`);
    this.text("live-left", "");
    this.text("live-phase", "");
    document.getElementById("live-cancel")?.remove();
    // No later frame may come: a page that nobody looks at is not drawn.
    this.draw();
  }

  on_over() {
    this.source.close();
    if (!this.finished) this.state("The run has ended; the queue tells how.");
  }

  treatment(id) {
    if (!this.treatments.has(id)) this.treatments.set(id, { label: `treatment ${id}`, completed: 0, failed: 0, last: null, estimate: null, unit: "" });
    return this.treatments.get(id);
  }

  link(run) {
    const place = document.getElementById("live-run");
    if (!place || place.querySelector("a")) return;
    const link = document.createElement("a");
    link.href = `/runs/${encodeURIComponent(run)}`;
    link.textContent = `Run ${run}`;
    place.replaceChildren(link);
  }

  counts(done, total, left) {
    [this.done, this.total, this.left] = [done, total, left];
    const bar = document.getElementById("live-progress");
    if (!bar) return;
    bar.max = Math.max(total, 1);
    bar.value = done;
    this.text("live-count", `${done} of ${total} trials`);
    this.text("live-left", left === null || this.finished ? "" : `about ${short(left, "s")} left`);
  }

  trial(t) {
    this.text("live-trial", `trial ${t.number}, block ${t.block + 1}, ${t.label}`);
    this.text("live-phase", "");
  }

  cells(row, cells) {
    cells.forEach((text, i) => {
      const cell = document.createElement(i ? "td" : "th");
      if (i) cell.className = "num";
      else cell.scope = "row";
      cell.textContent = text;
      row.append(cell);
    });
    return row;
  }

  values(values) {
    const body = document.getElementById("live-values");
    if (!body || !body.closest("details").open) return;
    body.replaceChildren(...values.map((v) => this.cells(document.createElement("tr"),
      [v.monitor, v.subject, v.field, v.value === null ? "no value" : String(Number(v.value.toPrecision(6))), v.unit])));
  }

  draw() {
    const body = document.getElementById("live-treatments");
    if (body) {
      body.replaceChildren(...[...this.treatments.values()].map((t) => this.cells(document.createElement("tr"), [
        t.label, String(t.completed), String(t.failed),
        t.last === null ? "" : short(t.last, t.unit), t.estimate === null ? "" : short(t.estimate, t.unit)])));
    }
    this.charts.draw();
  }
}

signIn();
for (const part of document.querySelectorAll("[data-refresh]")) refresh(part);
const live = document.getElementById("live");
if (live) new Live(live);
