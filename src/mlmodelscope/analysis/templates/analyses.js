"use strict";
// Tables are sorted by the raw number of a cell; what is not known stays last either way.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const first = [...table.tBodies[0].rows];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const number = head.classList.contains("number");
    const now = head.getAttribute("aria-sort");
    const next = now === "none" ? (number ? "descending" : "ascending")
      : now === (number ? "descending" : "ascending") ? (number ? "ascending" : "descending") : "none";
    for (const each of heads) each.setAttribute("aria-sort", each === head ? next : "none");
    const rows = [...first];
    if (next !== "none") {
      const turn = next === "ascending" ? 1 : -1;
      const keys = new Map(rows.map((row) => [row, row.cells[column].dataset.v]));
      rows.sort((one, other) => {
        const a = keys.get(one), b = keys.get(other);
        if (a === "" || b === "") return (a === "") - (b === "");
        return turn * (number ? Number(a) - Number(b) : a.localeCompare(b, undefined, { numeric: true }));
      });
    }
    table.tBodies[0].append(...rows);
  }));
}
for (const section of document.querySelectorAll("section.analysis")) {
  const buttons = [...section.querySelectorAll(".switch button")];
  const plots = [...section.querySelectorAll(".plot-panel")];
  buttons.forEach((button, place) => button.addEventListener("click", () => {
    buttons.forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
    plots.forEach((plot, at) => { plot.hidden = at !== place; });
  }));
}
// A drawing's own titles come up late and vanish soon: they are taken out and shown beside the pointer.
const tip = document.getElementById("tip");
for (const title of document.querySelectorAll(".plot-panel svg title")) {
  const mark = title.parentNode;
  if (mark.tagName.toLowerCase() === "svg") continue;
  mark.dataset.tip = title.textContent;
  mark.setAttribute("aria-label", title.textContent);
  title.remove();
}
for (const panel of document.querySelectorAll(".plot-panel")) {
  panel.addEventListener("pointermove", (event) => {
    const mark = event.target.closest("[data-tip]");
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = mark.dataset.tip;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(8, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + "px";
    tip.style.top = (event.clientY + 18 + box.height < innerHeight ? event.clientY + 18 : event.clientY - box.height - 12) + "px";
  });
  panel.addEventListener("pointerleave", () => { tip.hidden = true; });
}
