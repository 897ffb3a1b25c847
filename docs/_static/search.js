/* Show the text around the best match below each result. EXCERPTS is written when the site is built:
   for each page its sections, each with its anchor, its prose and its code. */
document.addEventListener("DOMContentLoaded", () => {
  const query = new URLSearchParams(window.location.search).get("q") || "";
  const all = query.toLowerCase().split(/\s+/).filter((word) => word.length > 1);
  const common = /^(an|and|are|can|do|does|for|how|in|is|it|many|of|on|or|the|to|what|which|with)$/;
  const rare = all.filter((word) => !common.test(word));
  const words = rare.length ? rare : all;
  const results = document.getElementById("search-results");
  if (!results || !words.length || typeof EXCERPTS === "undefined") return;

  const BEFORE = 90;
  const SHOWN = 260;

  /* Where an excerpt of the text finds the most words, and how many: at the first such place. */
  const bestMatch = (text) => {
    const lower = text.toLowerCase();
    let best = { place: -1, count: 0 };
    for (const word of words) {
      for (let place = lower.indexOf(word); place >= 0; place = lower.indexOf(word, place + 1)) {
        const start = Math.max(0, place - BEFORE);
        const near = lower.slice(start, start + SHOWN);
        const count = words.filter((other) => near.includes(other)).length;
        const earlier = count === best.count && place < best.place;
        if (count > best.count || earlier) best = { place, count };
      }
    }
    return best;
  };

  /* The text with the most words: the linked section first, then the rest of the page; prose before code. */
  const chosen = (sections, anchor) => {
    const at = Math.max(0, sections.findIndex(([name]) => name === anchor));
    const order = [...sections.slice(at), ...sections.slice(0, at)];
    let best = { text: order[0][1], count: 0 };
    for (const kind of [1, 2]) {
      for (const section of order) {
        const { count } = bestMatch(section[kind]);
        if (count > best.count) best = { text: section[kind], count };
      }
    }
    return best.text;
  };

  const excerpt = (text) => {
    let start = Math.max(0, bestMatch(text).place - BEFORE);
    if (start) start = text.indexOf(" ", start) + 1; // begin with a whole word
    const shown = text.slice(start, start + SHOWN);
    const paragraph = document.createElement("p");
    paragraph.className = "context";
    paragraph.append(start ? "… " : "");
    let rest = shown;
    while (rest) {
      const found = words.map((word) => [rest.toLowerCase().indexOf(word), word.length]);
      const hits = found.filter(([place]) => place >= 0).sort((a, b) => a[0] - b[0]);
      if (!hits.length) break;
      const [place, length] = hits[0];
      const mark = document.createElement("mark");
      mark.textContent = rest.slice(place, place + length);
      paragraph.append(rest.slice(0, place), mark);
      rest = rest.slice(place + length);
    }
    paragraph.append(rest, start + SHOWN < text.length ? " …" : "");
    return paragraph;
  };

  /* A page and its section with the same text are one result: the first of them. */
  const seen = new Set();
  const complete = () => {
    for (const item of results.querySelectorAll("li")) {
      const link = item.querySelector("a");
      if (!link || item.querySelector("p.context")) continue;
      const [page, anchor] = link.getAttribute("href").replace(/^\.\//, "").split("#");
      const sections = EXCERPTS[page.split("?")[0]];
      if (!sections) continue;
      const shown = excerpt(chosen(sections, anchor || ""));
      const key = `${page} ${shown.textContent}`;
      item.hidden = seen.has(key);
      seen.add(key);
      item.append(shown);
    }
  };
  new MutationObserver(complete).observe(results, { childList: true, subtree: true });
  complete();
});
