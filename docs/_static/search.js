/* Show the text around the first match below each result. EXCERPTS is written when the site is built. */
document.addEventListener("DOMContentLoaded", () => {
  const query = new URLSearchParams(window.location.search).get("q") || "";
  const words = query.toLowerCase().split(/\s+/).filter((word) => word.length > 1);
  const results = document.getElementById("search-results");
  if (!results || !words.length || typeof EXCERPTS === "undefined") return;

  const excerpt = (text) => {
    const lower = text.toLowerCase();
    const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
    const start = Math.max(0, Math.min(...(places.length ? places : [0])) - 90);
    const shown = text.slice(start, start + 260);
    const paragraph = document.createElement("p");
    paragraph.className = "context";
    paragraph.append(start ? "…" : "");
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
    paragraph.append(rest, start + 260 < text.length ? "…" : "");
    return paragraph;
  };

  const complete = () => {
    for (const item of results.querySelectorAll("li")) {
      const link = item.querySelector("a");
      if (!link || item.querySelector("p.context")) continue;
      const page = link.getAttribute("href").replace(/^\.\//, "").split(/[?#]/)[0];
      if (EXCERPTS[page]) item.append(excerpt(EXCERPTS[page]));
    }
  };
  new MutationObserver(complete).observe(results, { childList: true, subtree: true });
  complete();
});
