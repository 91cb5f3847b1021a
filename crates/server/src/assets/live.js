// Live page of a run, and observe page of the machine: draws the events of the server as they come.

/** Live view of a run or of the machine. */
class Live {
  constructor(root) {
    this.root = root;
    this.charts = new Moving(document.getElementById("live-charts"));
    const results = document.getElementById("live-results");
    this.results = results && new Moving(results);
    this.treatments = new Map();
    this.events = 0;
    this.due = false;
    this.connect();
    // The server sends an event or a heartbeat at least every 2 seconds.
    this.watch = setInterval(() => {
      if (!this.done_watching && performance.now() - this.lastEvent > 4000) this.lost("The server does not answer");
    }, 500);
  }

  connect() {
    this.lastEvent = performance.now();
    this.source?.close();
    this.source = new EventSource(this.root.dataset.events);
    this.source.onmessage = (message) => {
      this.lastEvent = performance.now();
      connection(null);
      this.take(JSON.parse(message.data));
    };
    this.source.onerror = () => {
      const ended = this.source.readyState === EventSource.CLOSED;
      this.lost(ended ? "The server closed the connection" : "The connection to the server is lost");
      // Browsers do not reconnect after a refusal.
      if (ended) setTimeout(() => this.again(), 2000);
    };
  }

  lost(why) {
    connection(why);
    this.state(`${why}; the page reconnects and continues by itself.`);
  }

  /** Connects again, or reloads the page if the run has ended meanwhile. */
  async again() {
    const job = this.root.dataset.job;
    try {
      const answer = job && await fetch(`/api/v1/jobs/${job}`, { redirect: "error", signal: AbortSignal.timeout(3000) });
      if (answer?.ok && !["waiting", "running"].includes((await answer.json()).state)) return location.reload();
    } catch { /* the server does not answer yet */ }
    this.connect();
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
    // Draw at most once for each animation frame, and not while the page is hidden.
    if (!this.due) {
      this.due = true;
      requestAnimationFrame(() => { this.due = false; this.draw(); });
    }
  }

  on_status({ status: s }) {
    this.treatments = new Map(Object.entries(s.treatments).map(([id, t]) => [Number(id), t]));
    this.finished = false;
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
      this.state("Sampling.");
      this.values(e.values);
    }
  }

  on_ended(e) {
    for (const trial of e.trials) {
      const t = this.treatment(trial.treatment);
      t.values.push([trial.number, trial.outcome === "completed" ? trial.value : null]);
      if (t.values.length > MOST_POINTS) t.values.shift();
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
    const state = e.state === "completed" ? "Finished" : `The run is ${e.state}`;
    this.state(`${state}: ${e.reason}. Its page has the results.`);
    this.text("live-left", "");
    this.text("live-phase", "");
    document.getElementById("live-cancel")?.remove();
    // Draw now: a hidden page gets no further animation frames.
    this.draw();
  }

  on_over() {
    this.done_watching = true;
    clearInterval(this.watch);
    this.source.close();
    if (!this.finished) this.state("The run has ended; the queue shows its result.");
  }

  treatment(id) {
    if (!this.treatments.has(id)) this.treatments.set(id, { label: `treatment ${id}`, completed: 0, failed: 0, last: null, estimate: null, unit: "", values: [] });
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
    this.results?.trials([...this.treatments.values()]);
    this.charts.draw();
  }
}


/** Profile of the running trial, requested while its fold is open. A new profile keeps the zoom, the
 *  search and the open folds. */
class LiveProfile {
  constructor(fold) {
    this.fold = fold;
    this.place = fold.querySelector("div");
    fold.addEventListener("toggle", () => this.ask());
    this.timer = setInterval(() => this.ask(), 3000);
  }

  async ask() {
    if (!this.fold.open || document.hidden || this.asking) return;
    this.asking = true;
    try {
      const answer = await fetch(this.fold.dataset.profile, { redirect: "error", signal: AbortSignal.timeout(10000) });
      const text = await answer.text();
      // The run has ended: keep its last profile.
      if (answer.status === 409) clearInterval(this.timer);
      if (answer.ok && text !== this.shown) this.put(text);
    } catch { /* the page reports already that the server does not answer */ }
    this.asking = false;
  }

  put(text) {
    const charts = () => [...this.place.querySelectorAll("svg.flame")];
    const folds = () => [...this.place.querySelectorAll("details")];
    const kept = new Map(charts().map((svg) => [svg.id, flames.get(svg)?.state()]));
    const open = folds().map((fold) => fold.open);
    this.place.innerHTML = text;
    this.shown = text;
    folds().forEach((fold, i) => { fold.open = open[i] ?? fold.open; });
    enliven(this.place);
    for (const svg of charts()) if (kept.get(svg.id)) flames.get(svg).restore(kept.get(svg.id));
  }
}

