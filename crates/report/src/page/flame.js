// Flame graphs: zoom, search, keyboard navigation, turning over.

/** State of each flame graph (zoom, search, focus), for a page that draws it again. */
const flames = new WeakMap();

/** A click or Enter zooms, Escape shows all, arrows move, a search highlights, a button turns the graph over. */
function watchFlame(svg) {
  const cells = [...svg.querySelectorAll(".f")].map((el) => ({
    el, x: parseFloat(el.getAttribute("x")), w: parseFloat(el.getAttribute("width")), y: Number(el.getAttribute("y")),
  }));
  const high = Number(svg.getAttribute("height"));
  const readout = svg.closest("figure")?.querySelector(".readout");
  const bar = document.createElement("p");
  bar.className = "flame-bar";
  bar.innerHTML = '<label>Search <input type="search"></label> <button type="button">All</button> <button type="button">Turn over</button> <output></output>';
  svg.before(bar);
  const [all, turn] = bar.querySelectorAll("button");
  const found = bar.querySelector("output");
  const within = (a, b) => a.x >= b.x - 1e-3 && a.x + a.w <= b.x + b.w + 1e-3;
  const label = (c) => says(c.el).split(" · ")[0];
  const path = (to) => cells.filter((c) => c.y <= to.y && within(to, c)).sort((a, b) => a.y - b.y).map(label).join("\n");
  let zoomed = cells[0];
  const zoom = (to) => {
    zoomed = to;
    for (const c of cells) {
      const above = c.y < to.y && within(to, c);
      c.el.classList.toggle("gone", !above && !(c.y >= to.y && within(c, to)));
      c.el.setAttribute("x", above ? "0%" : `${(c.x - to.x) / to.w * 100}%`);
      c.el.setAttribute("width", above ? "100%" : `${c.w / to.w * 100}%`);
      if (!c.el.querySelector("text") && c.w / to.w > 0.012) {
        const text = document.createElementNS(svg.namespaceURI, "text");
        text.setAttribute("x", 3);
        text.setAttribute("y", 13);
        text.textContent = label(c);
        c.el.append(text);
      }
    }
  };
  const of = (el) => cells.find((c) => c.el === el);
  const go = (c) => { if (c) { c.el.setAttribute("tabindex", "-1"); c.el.focus(); } };
  all.addEventListener("click", () => zoom(cells[0]));
  let turned = false;
  turn.addEventListener("click", () => {
    turned = !turned;
    for (const c of cells) c.el.setAttribute("y", high - Number(c.el.getAttribute("y")) - 18);
  });
  const input = bar.querySelector("input");
  input.addEventListener("input", () => {
    const words = input.value.trim().toLowerCase();
    const hits = cells.filter((c) => words && label(c).toLowerCase().includes(words));
    for (const c of cells) c.el.classList.toggle("hit", hits.includes(c));
    // A hit inside another hit is not counted again.
    const outer = hits.filter((c) => !hits.some((o) => o !== c && o.y < c.y && within(c, o)));
    found.textContent = words ? `${outer.reduce((n, c) => n + c.w, 0).toFixed(1)} % of the time` : "";
  });
  for (const name of ["pointerover", "focusin"]) svg.addEventListener(name, (event) => {
    const cell = event.target.closest(".f");
    if (cell && readout) readout.textContent = says(cell);
  });
  svg.addEventListener("click", (event) => { const c = of(event.target.closest(".f")); if (c) zoom(c); });
  svg.addEventListener("keydown", (event) => {
    const c = of(event.target.closest(".f"));
    const shown = cells.filter((o) => !o.el.classList.contains("gone"));
    const row = shown.filter((o) => c && o.y === c.y);
    const down = () => go(shown.find((o) => o.y === c.y + 18 && within(o, c)));
    const up = () => go(shown.find((o) => o.y === c.y - 18 && within(c, o)));
    const act = {
      Enter: () => zoom(c), Escape: () => zoom(cells[0]),
      ArrowRight: () => go(row[row.indexOf(c) + 1]), ArrowLeft: () => go(row[row.indexOf(c) - 1]),
      ArrowDown: turned ? up : down, ArrowUp: turned ? down : up,
    }[event.key];
    if (c && act) { act(); event.preventDefault(); }
  });
  const at = (wanted) => cells.find((c) => wanted.endsWith(label(c)) && path(c) === wanted);
  flames.set(svg, {
    state: () => ({
      zoom: zoomed === cells[0] ? null : path(zoomed), words: input.value, turned, searching: document.activeElement === input,
      focus: svg.contains(document.activeElement) && of(document.activeElement) ? path(of(document.activeElement)) : null,
    }),
    restore: (kept) => {
      if (kept.turned) turn.click();
      const to = kept.zoom && at(kept.zoom);
      if (to) zoom(to);
      input.value = kept.words;
      if (kept.words) input.dispatchEvent(new Event("input"));
      if (kept.searching) input.focus();
      else if (kept.focus) go(at(kept.focus));
    },
  });
}
