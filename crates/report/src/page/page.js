// Interaction with a page: read-outs and a crosshair on charts, arrow keys between marks, series that
// can be hidden, tables that can be copied. The page is complete without this script.
"use strict";

/** Returns the point of a pointer event in the chart's own units. */
function pointIn(svg, event) {
  const matrix = svg.getScreenCTM();
  return matrix ? new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse()) : null;
}

const place = (mark) => ({ x: Number(mark.dataset.cx), y: Number(mark.dataset.cy) });
const says = (mark) => mark.querySelector("title")?.textContent ?? "";

/** Returns the marks of all series of a chart that are not hidden. */
function shownMarks(svg) {
  return [...svg.querySelectorAll("[data-cx]")].filter((m) => !m.closest(".off"));
}

/** Returns the mark of each series that is nearest in x (in y if several share the x). */
function nearest(marks, point) {
  const best = new Map();
  for (const mark of marks) {
    const at = place(mark);
    const series = mark.closest(".series")?.dataset.series ?? "all";
    const key = Math.abs(at.x - point.x) + Math.abs(at.y - point.y) / 1000;
    const seen = best.get(series);
    if (!seen || key < seen.key) best.set(series, { mark, key, x: at.x });
  }
  const found = [...best.values()].sort((a, b) => a.key - b.key);
  if (!found.length) return [];
  // Keeps only series with a mark near the pointer; a chart of rows has one such mark.
  return found.filter((f) => Math.abs(f.x - found[0].x) < 6).map((f) => f.mark);
}

function show(svg, marks) {
  for (const old of svg.querySelectorAll(".near")) old.classList.remove("near");
  const readout = svg.closest("figure")?.querySelector(".readout");
  const line = svg.querySelector(".crosshair");
  if (readout) readout.textContent = marks.map(says).join("  ·  ");
  for (const mark of marks) mark.classList.add("near");
  const x = marks.length ? place(marks[0]).x : -9;
  line?.setAttribute("x1", x);
  line?.setAttribute("x2", x);
}

function overPlot(svg, point) {
  const line = svg.querySelector(".crosshair");
  return point && (!line || (point.y >= Number(line.getAttribute("y1")) - 20 && point.y <= Number(line.getAttribute("y2")) + 20));
}

/** Returns the range of a chart's time axis: start and end in seconds, then in the chart's units. */
const span = (svg) => svg.dataset.span.split(" ").map(Number);

/** Shows the same moment in all charts of one clock. */
function together(svg, point) {
  if (!svg.dataset.span) return;
  const [from, to, left, right] = span(svg);
  const moment = point && from + (point.x - left) / (right - left) * (to - from);
  for (const other of svg.closest(".clock")?.querySelectorAll("svg[data-span]") ?? []) {
    if (other === svg) continue;
    const [a, b, l, r] = span(other);
    const marks = point && moment >= a && moment <= b ? shownMarks(other) : [];
    show(other, marks.length ? nearest(marks, { x: l + (moment - a) / (b - a) * (r - l), y: 0 }) : []);
  }
}

function watchChart(svg) {
  const hasLine = svg.querySelector(".crosshair") !== null;
  // Each chart has one stop for the tab key; arrow keys move to its other marks.
  const stops = [...svg.querySelectorAll("[data-cx][tabindex='0']")];
  for (const mark of stops.slice(1)) mark.setAttribute("tabindex", "-1");
  svg.addEventListener("pointermove", (event) => {
    const pointed = event.target.closest("[data-cx]");
    const point = pointIn(svg, event);
    if (pointed && !hasLine) show(svg, [pointed]);
    else if (hasLine && overPlot(svg, point)) {
      const marks = shownMarks(svg);
      if (marks.length) show(svg, nearest(marks, point));
      together(svg, point);
    } else show(svg, []);
  });
  const leave = () => {
    show(svg, []);
    together(svg, null);
  };
  svg.addEventListener("pointerleave", leave);
  svg.addEventListener("focusin", (event) => {
    const mark = event.target.closest("[data-cx]");
    if (!mark) return;
    show(svg, [mark]);
    together(svg, place(mark));
  });
  svg.addEventListener("focusout", leave);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const over = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const mark = event.target.closest("[data-cx]");
    if (!(step || over) || !mark) return;
    const all = shownMarks(svg);
    const of = (m) => m.closest(".series, .row") ?? svg;
    const groups = [...new Set(all.map(of))];
    const series = groups[groups.indexOf(of(mark)) + (over ?? 0)];
    const marks = all.filter((m) => of(m) === series);
    const next = over ? nearest(marks, place(mark))[0] : marks[marks.indexOf(mark) + step];
    if (next) {
      next.focus();
      event.preventDefault();
    }
  });
}

/** Lets a click on a key of the legend hide its series. */
function watchLegend(svg) {
  const groups = [...svg.querySelectorAll("g.series[data-series]")];
  const keys = [...svg.querySelectorAll(".legend .key")].filter((k) =>
    groups.some((g) => g.dataset.series === k.dataset.series));
  if (keys.length < 2) return;
  for (const key of keys) {
    key.setAttribute("role", "button");
    key.setAttribute("tabindex", "0");
    key.setAttribute("aria-pressed", "true");
    const toggle = () => {
      const off = key.classList.toggle("off");
      key.setAttribute("aria-pressed", String(!off));
      for (const g of groups) if (g.dataset.series === key.dataset.series) g.classList.toggle("off", off);
    };
    key.addEventListener("click", toggle);
    key.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        toggle();
        event.preventDefault();
      }
    });
  }
}

/** Adds a button below a table that copies it, tab-separated. */
function watchTable(box) {
  const table = box.querySelector("table");
  if (!table || !navigator.clipboard) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy table";
  button.addEventListener("click", async () => {
    const rows = [...table.rows].map((row) =>
      [...row.cells].map((cell) => cell.textContent.trim().replace(/\s+/g, " ")).join("\t"));
    try {
      await navigator.clipboard.writeText(rows.join("\n"));
      button.textContent = "Copied";
    } catch {
      button.textContent = "The browser did not allow it";
    }
    setTimeout(() => { button.textContent = "Copy table"; }, 2000);
  });
  box.after(button);
}

/** Adds the interaction to all charts inside an element. */
function enliven(root) {
  for (const svg of root.querySelectorAll("svg.flame")) watchFlame(svg);
  for (const svg of root.querySelectorAll("svg.chart")) {
    watchChart(svg);
    watchLegend(svg);
  }
}

enliven(document);
for (const box of document.querySelectorAll(".table-box")) watchTable(box);
