"use strict";
// The page says everything without this: here are only buttons that copy, and a slider that
// shows one level of the list at a time. Nothing from data is ever read as markup.
(() => {
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  const plain = (item) =>
    Array.from(item.childNodes, (node) => (node.className === "remark" ? "" : node.textContent));
  const textOf = (box) =>
    box.tagName === "UL"
      ? Array.from(box.querySelectorAll("li:not(.more)"), (item) => plain(item).join("").trim())
          .join("\n")
      : box.textContent;

  const copy = async (box, button) => {
    let done = true;
    try {
      await navigator.clipboard.writeText(textOf(box));
    } catch {
      getSelection().selectAllChildren(box);
      done = document.execCommand("copy");
    }
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    setTimeout(() => (button.textContent = "Copy"), 1600);
  };

  for (const box of document.querySelectorAll("[data-copy]")) {
    const button = make("button", { type: "button", className: "copy" }, "Copy");
    button.addEventListener("click", () => copy(box, button));
    const frame = make("div", { className: "copyable" });
    box.before(frame);
    frame.append(box, button);
  }

  const list = document.querySelector(".levels");
  const drawing = document.querySelector("svg.scree");
  if (!list || !drawing) return;
  const levels = Array.from(list.children);
  const number = (element, name) => Number(element.dataset[name]);
  const chosen = levels.findIndex((level) => level.classList.contains("chosen"));
  const first = number(levels[0], "left");
  const last = number(levels[levels.length - 1], "right");

  const slider = make("input", { type: "range", min: first, max: last, step: 0.1 });
  slider.setAttribute("aria-label", "Level of the flag");
  const where = make("output", { className: "where" });
  const step = (text, label, go) => {
    const button = make("button", { type: "button" }, text);
    button.setAttribute("aria-label", label);
    button.addEventListener("click", go);
    return button;
  };
  const back = step("← larger", "Larger space", () => show(at - 1));
  const on = step("smaller →", "Smaller space", () => show(at + 1));
  const home = step("the answer", "Level of the answer", () => show(chosen));
  home.hidden = chosen < 0;
  drawing.after(
    make("div", { className: "slider" }, slider),
    make("div", { className: "tools" }, back, on, home, where),
  );

  const draw = (tag, attributes) => {
    const shape = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const name in attributes) shape.setAttribute(name, attributes[name]);
    return shape;
  };
  const height = number(list, "base") - number(list, "top");
  const band = draw("rect", { y: list.dataset.top, height });
  const tread = draw("line", {});
  const cursor = draw("g", { class: "cursor" });
  cursor.append(band, tread);
  drawing.querySelector(".stair").before(cursor);

  let at = chosen < 0 ? levels.length - 1 : chosen;

  function show(index, place) {
    at = Math.min(Math.max(index, 0), levels.length - 1);
    const level = levels[at];
    const [left, right] = [number(level, "left"), number(level, "right")];
    levels.forEach((other, i) => other.classList.toggle("current", i === at));
    level.querySelector("details").open = true;
    const width = Math.max(right - left, 2);
    band.setAttribute("x", (left + right - width) / 2);
    band.setAttribute("width", width);
    for (const [name, value] of [["x1", left], ["x2", right]]) tread.setAttribute(name, value);
    for (const name of ["y1", "y2"]) tread.setAttribute(name, level.dataset.height);
    slider.value = place ?? level.dataset.stop;
    const stats = level.querySelectorAll(".stat");
    const said = Array.from(stats, (stat) => stat.textContent).join(", ");
    slider.setAttribute("aria-valuetext", said);
    where.textContent = `level ${at + 1} of ${levels.length}`;
    back.disabled = at === 0;
    on.disabled = at === levels.length - 1;
    home.disabled = at === chosen;
  }

  const levelAt = (x) => {
    const away = (level) => Math.max(number(level, "left") - x, x - number(level, "right"), 0);
    return levels.reduce((best, level, i) => (away(level) < away(levels[best]) ? i : best), 0);
  };

  slider.addEventListener("input", () => show(levelAt(Number(slider.value)), slider.value));
  slider.addEventListener("keydown", (event) => {
    const moves = {
      ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1,
      PageDown: at - 5, PageUp: at + 5, Home: 0, End: levels.length - 1,
    };
    if (!(event.key in moves) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    show(moves[event.key]);
  });
  const follow = (event) => {
    const box = drawing.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * drawing.viewBox.baseVal.width;
    if (event.type === "pointerdown" || event.buttons) show(levelAt(x));
  };
  drawing.addEventListener("pointerdown", follow);
  drawing.addEventListener("pointermove", follow);
  for (const level of levels) level.querySelector("summary").tabIndex = -1;
  list.parentElement.classList.add("live");
  show(at);
})();
