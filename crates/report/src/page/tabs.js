// The parts of a page as tabs, and what waits in them: charts, long tables and files are unpacked when they are looked
// at. Without this script all parts stand one below the other.

// Nothing of it is global: a server's page has a script of its own.
{
/** The text that a template keeps: gzip in base64. */
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

/** The charts of a panel, unpacked once and in no document yet. */
function chartsOf(panel) {
  const template = panel.querySelector(":scope > template.charts, :scope > section > template.charts");
  if (!drawn.has(panel)) drawn.set(panel, template ? unpacked(template).then((html) => [...parsed(html).children]) : Promise.resolve([]));
  return drawn.get(panel);
}

/** Draws the charts of an open panel that no closed fold hides. */
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

/** Puts the packed rows of a table into it. */
async function fill(row) {
  const rows = parsed(`<table><tbody>${await unpacked(row.querySelector("template"))}</tbody></table>`);
  row.replaceWith(...rows.querySelectorAll("tr"));
}

const panels = [...document.querySelectorAll("main > .panel")];
const tabs = panels.map((panel) => document.querySelector(`nav.tabs a[href="#${panel.id}"]`));

/** Opens a panel, and draws what is in it. */
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

/** What has an id; rows that wait for it are unpacked first. */
async function find(id) {
  const waiting = [...document.querySelectorAll("tr.packed")].find((row) => id.startsWith(row.dataset.holds));
  if (!document.getElementById(id) && waiting) await fill(waiting);
  return document.getElementById(id);
}

/** Shows what has an id: its panel, and the folds around it. */
async function reveal(id) {
  const target = await find(id);
  if (!target) return;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  const panel = target.closest(".panel");
  if (panel?.hidden) await open(panel);
  if (target !== panel) target.scrollIntoView();
}

/** The trials behind a number: named, or as bits from the first on. */
function behind(link) {
  if (link.dataset.trials) return link.dataset.trials.split(" ").map(Number);
  const bytes = atob(link.dataset.bits);
  const from = Number(link.dataset.from);
  return [...bytes].flatMap((c, i) => [...Array(8).keys()].filter((k) => c.charCodeAt(0) >> k & 1).map((k) => from + 8 * i + k));
}

/** Links within the page: they open what they lead to; a number lights up every trial behind it. */
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
    // A fold that is open from the start tells so, too, also in a panel that nobody looks at.
    const panel = event.target.closest?.(".panel:not([hidden])");
    if (event.target.open && panel) draw(panel);
  }, true);
}

/** The list of contents becomes a list of tabs. */
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

/** Files inside the page become buttons that download them. */
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
