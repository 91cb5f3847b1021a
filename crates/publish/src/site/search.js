// The search of a site. The index is part of the page, so it needs no server and no request. A result contains every
// word. Matches in the title come first, then matches at the start of a word; equal results keep the order of the
// index.
"use strict";

{
  const SHOWN = 100;
  const field = document.querySelector("#words");
  const status = document.querySelector("#count");
  const list = document.querySelector("#found");
  const index = JSON.parse(document.querySelector("#index").textContent);
  const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const all = index.map((entry, at) => ({ entry, at, title: plain(entry.title), text: plain(`${entry.kind} ${entry.day} ${entry.text}`) }));

  /** Returns how well a word fits; 0 if it does not occur. */
  function fit(word, item) {
    if (item.title.includes(word)) return item.title.split(/[^\p{L}\p{N}]+/u).some((w) => w.startsWith(word)) ? 8 : 4;
    const at = item.text.indexOf(word);
    if (at < 0) return 0;
    return at === 0 || /\s/.test(item.text[at - 1]) ? 2 : 1;
  }

  function line({ entry }) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = entry.url;
    link.textContent = entry.title;
    const head = document.createElement("p");
    head.append(link);
    const about = document.createElement("p");
    about.className = "soft";
    about.textContent = [entry.kind, entry.day, entry.says].filter(Boolean).join(" · ");
    item.append(head, about);
    return item;
  }

  function find() {
    const words = plain(field.value).split(/\s+/).filter(Boolean);
    if (!words.length) {
      list.replaceChildren();
      status.textContent = `${index.length} pages can be found.`;
      return;
    }
    const found = [];
    for (const item of all) {
      let sum = 0;
      if (words.every((word) => { const f = fit(word, item); sum += f; return f > 0; })) found.push({ item, sum });
    }
    found.sort((a, b) => b.sum - a.sum || a.item.at - b.item.at);
    list.replaceChildren(...found.slice(0, SHOWN).map((f) => line(f.item)));
    const more = found.length > SHOWN ? `, the first ${SHOWN} are shown` : "";
    status.textContent = `${found.length} of ${index.length} pages have all of the words${more}.`;
  }

  const asked = () => {
    try { return decodeURIComponent(location.hash.replace(/^#q=/, "")); } catch { return ""; }
  };
  if (location.hash.startsWith("#q=")) field.value = asked();
  field.addEventListener("input", () => {
    find();
    try { history.replaceState(null, "", field.value ? `#q=${encodeURIComponent(field.value)}` : "#"); } catch { /* the address is a convenience */ }
  });
  window.addEventListener("hashchange", () => {
    if (!location.hash.startsWith("#q=") || asked() === field.value) return;
    field.value = asked();
    find();
  });
  document.querySelector("#search").hidden = false;
  find();
}
