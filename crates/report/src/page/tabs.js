// Shows the parts of a page as tabs, and unpacks charts, long tables and files when a reader opens them. Without this
// script all parts are shown one below the other.

// A block keeps these names out of the global scope, because a server's page has a script of its own.
{
/** Returns the text of a template, which is gzip in base64. */
async function unpacked(template) {
  const bytes = Uint8Array.from(atob(template.content.textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

const parsed = (html) => {
  const made = document.createElement("template");
  made.innerHTML = html;
  return made.content;
};

const drawn = new WeakMap();

/** Returns the charts of a panel, unpacked once and not yet part of the document. */
function chartsOf(panel) {
  const template = panel.querySelector(":scope > template.charts, :scope > section > template.charts");
  if (!drawn.has(panel)) drawn.set(panel, template ? unpacked(template).then((html) => [...parsed(html).children]) : Promise.resolve([]));
  return drawn.get(panel);
}

/** Draws the charts of an open panel, except those inside a closed fold. */
async function draw(panel) {
  const seen = (place) => !place.closest("details:not([open])");
  if (![...panel.querySelectorAll("[data-chart]")].some(seen)) return;
  try {
    const charts = await chartsOf(panel);
    for (const place of [...panel.querySelectorAll("[data-chart]")].filter(seen)) {
      const chart = charts[place.dataset.chart];
      if (!chart) continue;
      place.replaceWith(chart);
      enliven(chart.parentElement);
    }
  } catch (error) {
    for (const place of panel.querySelectorAll("[data-chart]")) place.textContent = `This browser cannot draw the chart (${error.message}); its numbers are in the tables and files.`;
  }
}

/** Unpacks the packed rows of a table into it. */
async function fill(row) {
  const rows = parsed(`<table><tbody>${await unpacked(row.querySelector("template"))}</tbody></table>`);
  row.replaceWith(...rows.querySelectorAll("tr"));
}

const panels = [...document.querySelectorAll("main > .panel")];
const tabs = panels.map((panel) => document.querySelector(`nav.tabs a[href="#${panel.id}"]`));

/** Opens a panel and draws its content. */
function open(panel) {
  const at = panels.indexOf(panel);
  if (at < 0) return Promise.resolve();
  panels.forEach((p, i) => {
    p.hidden = i !== at;
    tabs[i].setAttribute("aria-selected", String(i === at));
    tabs[i].tabIndex = i === at ? 0 : -1;
  });
  return Promise.all([draw(panel), ...[...panel.querySelectorAll("tr.packed")].map(fill)]);
}

/** Returns the element with an id; if packed rows contain it, they are unpacked first. */
async function find(id) {
  const waiting = [...document.querySelectorAll("tr.packed")].find((row) => id.startsWith(row.dataset.holds));
  if (!document.getElementById(id) && waiting) await fill(waiting);
  return document.getElementById(id);
}

/** Shows the element with an id: opens its panel and the folds around it. */
async function reveal(id) {
  const target = await find(id);
  if (!target) return;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  const panel = target.closest(".panel");
  if (panel?.hidden) await open(panel);
  if (target !== panel) target.scrollIntoView();
}

/** Returns the trials behind a number, from a list or from a bit set that starts at the first. */
function behind(link) {
  if (link.dataset.trials) return link.dataset.trials.split(" ").map(Number);
  const bytes = atob(link.dataset.bits);
  const from = Number(link.dataset.from);
  return [...bytes].flatMap((c, i) => [...Array(8).keys()].filter((k) => c.charCodeAt(0) >> k & 1).map((k) => from + 8 * i + k));
}

/** Lets links within the page open their target, and highlights every trial behind a clicked number. */
function watchLinks() {
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link || link.matches("[role=tab]")) return;
    const id = decodeURIComponent(link.getAttribute("href").slice(1));
    if (!document.getElementById(id)) {
      event.preventDefault();
      if (await find(id)) location.hash = id;
    } else open(document.getElementById(id).closest(".panel"));
    if (!link.matches("a.from")) return;
    for (const row of document.querySelectorAll("tr.lit")) row.classList.remove("lit");
    for (const n of behind(link)) document.getElementById(`trial-${n}`)?.classList.add("lit");
  });
  const go = () => reveal(decodeURIComponent(location.hash.slice(1)) || panels[0]?.id || "");
  addEventListener("hashchange", go);
  addEventListener("popstate", go);
  document.addEventListener("toggle", (event) => {
    // A fold that is open from the start also fires this event, even in a hidden panel.
    const panel = event.target.closest?.(".panel:not([hidden])");
    if (event.target.open && panel) draw(panel);
  }, true);
}

/** Turns the list of contents into a list of tabs. */
function watchTabs() {
  const list = document.querySelector("nav.tabs ul");
  if (!list || panels.length < 2) return;
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Parts of the page");
  for (const item of list.children) item.setAttribute("role", "presentation");
  const choose = (i) => {
    history.pushState(null, "", `#${panels[i].id}`);
    open(panels[i]);
  };
  tabs.forEach((tab, i) => {
    tab.id = `${panels[i].id}-tab`;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panels[i].id);
    panels[i].setAttribute("role", "tabpanel");
    panels[i].setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", (event) => {
      event.preventDefault();
      choose(i);
    });
    tab.addEventListener("keydown", (event) => {
      const n = tabs.length;
      const to = { ArrowRight: (i + 1) % n, ArrowLeft: (i + n - 1) % n, Home: 0, End: n - 1, " ": i }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      choose(to);
      tabs[to].focus();
    });
  });
  open(panels[0]);
}

/** Turns files inside the page into download buttons. */
function watchFiles() {
  for (const file of document.querySelectorAll("span.file")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = `${file.dataset.label}: ${file.dataset.name}`;
    const template = file.querySelector("template");
    button.addEventListener("click", async () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([await unpacked(template)], { type: file.dataset.name.endsWith(".json") ? "application/json" : "text/csv" }));
      link.download = file.dataset.name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    });
    file.replaceChildren(button);
  }
}

watchTabs();
watchLinks();
watchFiles();
for (const row of document.querySelectorAll("tr.packed")) if (!row.closest(".panel")) fill(row);
if (location.hash) reveal(decodeURIComponent(location.hash.slice(1)));
}
