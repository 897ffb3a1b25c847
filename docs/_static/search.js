/* Show the text around the first match below each result. EXCERPTS is written when the site is built:
   for each page its sections, each with its anchor, its prose and its code. */
document.addEventListener("DOMContentLoaded", () => {
  const query = new URLSearchParams(window.location.search).get("q") || "";
  const words = query.toLowerCase().split(/\s+/).filter((word) => word.length > 1);
  const results = document.getElementById("search-results");
  if (!results || !words.length || typeof EXCERPTS === "undefined") return;

  const firstMatch = (text) => {
    const lower = text.toLowerCase();
    const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
    return places.length ? Math.min(...places) : -1;
  };

  /* The linked section first, then the rest of the page; prose before code. */
  const chosen = (sections, anchor) => {
    const at = Math.max(0, sections.findIndex(([name]) => name === anchor));
    const order = [...sections.slice(at), ...sections.slice(0, at)];
    for (const kind of [1, 2]) {
      const found = order.find((section) => firstMatch(section[kind]) >= 0);
      if (found) return found[kind];
    }
    return order[0][1];
  };

  const excerpt = (text) => {
    let start = Math.max(0, firstMatch(text) - 90);
    if (start) start = text.indexOf(" ", start) + 1; // begin with a whole word
    const shown = text.slice(start, start + 260);
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
    paragraph.append(rest, start + 260 < text.length ? " …" : "");
    return paragraph;
  };

  const complete = () => {
    for (const item of results.querySelectorAll("li")) {
      const link = item.querySelector("a");
      if (!link || item.querySelector("p.context")) continue;
      const [page, anchor] = link.getAttribute("href").replace(/^\.\//, "").split("#");
      const sections = EXCERPTS[page.split("?")[0]];
      if (sections) item.append(excerpt(chosen(sections, anchor || "")));
    }
  };
  new MutationObserver(complete).observe(results, { childList: true, subtree: true });
  complete();
});
