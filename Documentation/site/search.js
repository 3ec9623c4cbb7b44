"use strict";

/* Searches what build.py wrote to search-index.js: [title, place, address, text] for each section and symbol.
   A script and no request, because a page that was opened from disk may not read other files. */

/** The entries that have all words of a query, best first: in the title, then in the text. */
function searchIndex(index, query, limit) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = [];
  if (words.length === 0) return hits;
  for (const entry of index) {
    const title = entry[0].toLowerCase(), text = (entry[1] + " " + entry[3]).toLowerCase();
    let score = 0;
    for (const word of words) {
      const at = title.indexOf(word);
      if (title === word) score += 100;
      else if (at === 0) score += 40;
      else if (at > 0) score += /[a-z0-9]/.test(title[at - 1]) ? 15 : 25;
      else if (text.includes(word)) score += 5;
      else { score = 0; break; }
    }
    if (score > 0) hits.push([score - title.length / 1000, entry]);
  }
  hits.sort((left, right) => right[0] - left[0]);
  return hits.slice(0, limit).map(hit => hit[1]);
}

/** The part of a text in which the first found word is. */
function excerpt(text, query) {
  const lower = text.toLowerCase();
  const places = query.toLowerCase().split(/\s+/).filter(Boolean).map(word => lower.indexOf(word)).filter(at => at >= 0);
  const start = Math.max(0, Math.min(...places, text.length) - 40);
  return (places.length > 0 && start > 0 ? "…" + text.slice(start) : text).slice(0, 160);
}

if (typeof document !== "undefined") {
  const root = document.currentScript.dataset.root;
  const input = document.getElementById("search"), found = document.getElementById("found");

  const show = () => {
    found.replaceChildren();
    found.hidden = input.value.trim() === "";
    if (found.hidden || !window.satchelIndex) return;
    for (const [title, place, address, text] of searchIndex(window.satchelIndex, input.value, 40)) {
      const link = document.createElement("a"), where = document.createElement("small");
      link.href = root + address;
      link.textContent = title;
      where.textContent = place + " — " + excerpt(text, input.value);
      link.append(where);
      found.append(link);
    }
    if (found.childElementCount === 0) found.textContent = "Nothing found.";
  };

  let isLoading = false;
  const load = () => {
    if (isLoading) return;
    isLoading = true;
    const script = document.createElement("script");
    script.src = root + "search-index.js";
    script.onload = show;
    document.head.append(script);
  };

  input.addEventListener("focus", load);
  input.addEventListener("input", () => { load(); show(); });
  input.addEventListener("keydown", event => {
    if (event.key === "Enter" && found.querySelector("a")) found.querySelector("a").click();
    if (event.key === "Escape") { input.value = ""; show(); }
  });
  document.addEventListener("keydown", event => {
    if (event.key === "/" && document.activeElement !== input) { event.preventDefault(); input.focus(); }
  });
  document.addEventListener("click", event => {
    if (!found.contains(event.target) && event.target !== input) found.hidden = true;
  });
}

if (typeof module !== "undefined") module.exports = { searchIndex, excerpt };
