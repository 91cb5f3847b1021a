// Checks the rules of WCAG 2.2 AA that a program can check on a page: contrast, names, headings,
// landmarks, ids, tables, focus of scrollable boxes, size of targets, reflow. Returns a sentence
// for each violation.
(() => {
  const wrong = [];
  const shown = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && e.getClientRects().length > 0;
  const where = (e) => `<${e.localName}${e.id ? ` id=${e.id}` : ""} class=${e.getAttribute("class") ?? ""}> "${(e.textContent ?? "").trim().slice(0, 40)}"`;
  const fail = (rule, e) => wrong.push(`${rule}: ${where(e)}`);
  const all = (selector) => [...document.querySelectorAll(selector)];

  // 1.4.3: contrast of text with its background.
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const colour = (text) => {
    if (!known.has(text)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      known.set(text, [r, g, b, a / 255]);
    }
    return known.get(text);
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const behind = (e) => {
    const layers = [];
    for (let at = e; at; at = at.parentElement) {
      const c = colour(getComputedStyle(at).backgroundColor);
      if (c[3] > 0) layers.push(c);
      if (c[3] === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const e = node.parentElement;
    if (!node.textContent.trim() || ["SCRIPT", "STYLE", "NOSCRIPT", "title", "desc"].includes(e.tagName) || !shown(e)) continue;
    const style = getComputedStyle(e);
    const back = behind(e.closest("svg")?.parentElement ?? e);
    const ink = over(colour(e.closest("svg") ? style.fill : style.color), back);
    const [a, b] = [light(ink), light(back)].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if ((a + 0.05) / (b + 0.05) < (large ? 3 : 4.5) - 0.005) fail(`contrast ${((a + 0.05) / (b + 0.05)).toFixed(2)}`, e);
  }

  // 2.4.4, 4.1.2: every link and control has a name.
  const name = (e) => e.getAttribute("aria-label") || (e.labels?.[0]?.textContent ?? "") || e.textContent || e.querySelector?.("title")?.textContent || "";
  const targets = all("a[href], button, input, select, summary, [role=button], [tabindex='0']").filter(shown);
  for (const e of targets) if (!name(e).trim()) fail("no name", e);
  for (const e of all("svg[role=img], svg.chart")) if (!e.querySelector("title")?.textContent && !e.getAttribute("aria-label") && !e.getAttribute("aria-labelledby")) fail("picture without a name", e);
  for (const e of all("[aria-labelledby], [aria-describedby]")) {
    const ids = `${e.getAttribute("aria-labelledby") ?? ""} ${e.getAttribute("aria-describedby") ?? ""}`.split(/\s+/).filter(Boolean);
    for (const id of ids) if (!document.getElementById(id)) fail(`refers to #${id}, which is not there`, e);
  }

  // 1.3.1, 2.4.1, 2.4.2, 3.1.1: language, title, landmarks, headings, ids, tables.
  if (!document.documentElement.lang) wrong.push("no language");
  if (!document.title.trim()) wrong.push("no title");
  if (all("main").length !== 1) wrong.push(`${all("main").length} main`);
  if (all("h1").length !== 1) wrong.push(`${all("h1").length} h1`);
  const navs = all("nav").map((n) => n.getAttribute("aria-label"));
  if (navs.some((n) => !n) || new Set(navs).size !== navs.length) wrong.push(`navigations have the same name: ${navs}`);
  let level = 0;
  for (const h of all("h1, h2, h3, h4, h5, h6")) {
    const own = Number(h.localName[1]);
    if (own > level + 1) fail(`heading after level ${level}`, h);
    level = own;
  }
  const ids = all("[id]").map((e) => e.id);
  for (const id of ids.filter((id, i) => ids.indexOf(id) !== i)) wrong.push(`id ${id} twice`);
  for (const t of all("table")) {
    if (!t.querySelector("caption") && !t.getAttribute("aria-label")) fail("table without a name", t);
    for (const th of t.querySelectorAll("th")) if (!th.scope) fail("header cell without a scope", th);
  }
  for (const list of all("ul, ol")) for (const child of list.children) if (child.localName !== "li") fail("not an item of a list", child);

  // 2.1.1: every scrollable box can be reached by keyboard.
  for (const e of all("body *")) {
    const style = getComputedStyle(e);
    const scrolls = /auto|scroll/.test(style.overflowX + style.overflowY) && (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1);
    if (scrolls && shown(e) && e.tabIndex < 0 && !e.querySelector("a[href], button, [tabindex='0']")) fail("scrolls and cannot be focused", e);
  }

  // 2.5.8: a target is 24 px wide and high, is part of a line of text, or has room around it.
  const boxes = targets.filter((e) => !e.matches("[role=region], .skip") && !e.closest("svg")).map((e) => ({ e, r: e.getBoundingClientRect() }));
  const middle = (r) => [r.left + r.width / 2, r.top + r.height / 2];
  for (const { e, r } of boxes) {
    if (r.width >= 24 && r.height >= 24) continue;
    const around = e.closest("p, li, dd, td, th, label, figcaption, caption");
    if (around && around.textContent.trim() !== e.textContent.trim()) continue;
    const [x, y] = middle(r);
    const close = boxes.find((o) => o.e !== e && Math.hypot(Math.max(o.r.left - x, 0, x - o.r.right), Math.max(o.r.top - y, 0, y - o.r.bottom)) < 12);
    if (close) fail(`target of ${Math.round(r.width)}x${Math.round(r.height)} px`, e);
  }

  // 1.4.10: only tables and charts, in boxes of their own, may be wider than the screen.
  const most = document.documentElement.scrollWidth;
  if (most > window.innerWidth) wrong.push(`${most} px on a screen of ${window.innerWidth}`);
  return [...new Set(wrong)];
})()
