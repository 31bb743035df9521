"use strict";
// Draws the spans. However many there are, a picture costs no more than its pixels: in each row, what is narrower than a
// pixel is drawn as one pixel and the rest of that pixel is skipped by a binary search.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const {words, levels, rows, tracks, samples} = data;  // samples: {span: [share of the lane's most, value in words]}
  const start = Float64Array.from(data.start), end = Float64Array.from(data.end);
  const canvas = document.getElementById("spans"), overview = document.getElementById("overview");
  const pen = canvas.getContext("2d"), small = overview.getContext("2d");
  const tip = document.getElementById("tip"), detail = document.getElementById("detail");
  const ROW = 22, RULER = 26, GAP = 18;
  const whole = Math.max(1, ...rows.map(row => row.length ? end[row[row.length - 1]] : 0));
  const tops = [];
  {
    const firsts = new Map(tracks.map(([name, first]) => [first, name]));
    let y = RULER;
    rows.forEach((_, row) => {
      if (firsts.has(row) && tracks.length > 1) y += GAP;
      tops.push(y);
      y += ROW;
    });
    canvas.style.height = `${y + 8}px`;
  }
  let from = 0, to = whole, chosen = -1, hovered = -1, matches = null, waiting = false, ink = {};

  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  function mix() {
    ink = {ink: style("--ink"), muted: style("--muted"), line: style("--line"), card: style("--card"), hit: style("--hit"),
      accent: style("--accent"), light: style("--accent-ink"), sans: style("--sans"),
      kinds: [0, 1, 2, 3, 4, 5, 6, 7].map(rank => style(`--k${rank}`)), levels: levels.map(level => style(`--l-${level}`))};
  }
  const name = span => words[data.name[span]];
  const fill = span => data.color[span] >= 0 ? ink.kinds[data.color[span]] : ink.levels[data.level[span]] || ink.muted;

  function spell(ns, digits = 3) {
    for (const [unit, scale] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]])
      if (Math.abs(ns) >= scale) return `${+(ns / scale).toPrecision(digits)} ${unit}`;
    return `${Math.round(ns)} ns`;
  }
  // The first place in a row whose span ends, or begins, after a moment; spans of a row follow one another.
  function search(row, times, moment) {
    let low = 0, high = row.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[row[middle]] > moment) high = middle; else low = middle + 1;
    }
    return low;
  }
  function fit(target, painter) {
    const ratio = window.devicePixelRatio || 1, width = target.clientWidth, height = target.clientHeight;
    if (target.width !== Math.round(width * ratio) || target.height !== Math.round(height * ratio)) {
      target.width = Math.round(width * ratio);
      target.height = Math.round(height * ratio);
    }
    painter.setTransform(ratio, 0, 0, ratio, 0, 0);
    painter.clearRect(0, 0, width, height);
    return [width, height];
  }
  function drawRow(painter, row, t0, t1, width, y, height, labels) {
    const scale = width / (t1 - t0);
    for (let at = search(row, end, t0); at < row.length && start[row[at]] < t1;) {
      const span = row[at], x0 = (start[span] - t0) * scale, x1 = (end[span] - t0) * scale;
      painter.globalAlpha = matches && !matches.has(data.name[span]) ? 0.18 : 1;
      painter.fillStyle = fill(span);
      const sample = samples[span], tall = sample ? Math.max(1, height * sample[0]) : height, top = y + height - tall;
      if (x1 - x0 < 1.5) {
        const pixel = Math.max(0, Math.floor(x0));
        painter.fillRect(pixel, top, 1, tall);
        at = Math.max(at + 1, search(row, start, t0 + (pixel + 1) / scale));
        continue;
      }
      const left = Math.max(x0, -2), right = Math.min(x1, width + 2), gap = x1 - x0 > 4 ? 1 : 0;
      if (labels && right - left > 6 && !sample) { painter.beginPath(); painter.roundRect(left, y, right - left - gap, height, 3); painter.fill(); }
      else painter.fillRect(left, top, Math.max(1, right - left - (sample ? 0 : gap)), tall);
      if (labels && right - left > 34) label(painter, span, Math.max(left, 0), Math.min(right, width), y, height);
      at++;
    }
    painter.globalAlpha = 1;
  }
  const widths = new Map();
  function label(painter, span, left, right, y, height) {
    const text = samples[span] ? samples[span][1] : name(span), room = right - left - 12;
    if (!widths.has(text)) widths.set(text, painter.measureText(text).width);
    let shown = text;
    if (widths.get(text) > room) {
      const kept = Math.floor(text.length * room / widths.get(text)) - 1;
      if (kept < 3) return;
      shown = text.slice(0, kept) + "…";
    }
    painter.fillStyle = data.color[span] >= 0 ? ink.light : ink.ink;
    painter.fillText(shown, left + 6, y + height / 2 + 0.5);
    const rest = room - (shown === text ? widths.get(text) : room);
    const time = samples[span] ? "" : spell(end[span] - start[span]);
    if (time && rest > 12 + 7 * time.length) {
      painter.globalAlpha *= 0.62;
      painter.fillText(time, left + 6 + widths.get(text) + 8, y + height / 2 + 0.5);
    }
  }
  function ruler(width, height) {
    const rough = (to - from) / Math.max(2, width / 110), power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(each => each * power).find(each => each >= rough);
    const digits = Math.min(12, Math.max(1, Math.ceil(Math.log10(Math.max(to, 1) / step)) + 1));
    pen.fillStyle = ink.muted; pen.strokeStyle = ink.line; pen.lineWidth = 1;
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      const x = Math.round((t - from) * width / (to - from)) + 0.5;
      pen.beginPath(); pen.moveTo(x, RULER - 6); pen.lineTo(x, height); pen.stroke();
      pen.fillText(t === 0 ? "0" : spell(t, digits), x + 5, 12);
    }
  }
  function outline(span, color, width) {
    if (span < 0) return;
    const row = rowOf.get(span), scale = width / (to - from);
    const x0 = (start[span] - from) * scale, x1 = Math.max(x0 + 2, (end[span] - from) * scale);
    if (x1 < 0 || x0 > width) return;
    pen.strokeStyle = color; pen.lineWidth = 2;
    pen.strokeRect(Math.max(x0, -4), tops[row], Math.min(x1, width + 8) - Math.max(x0, -4) - 1, ROW - 3);
  }
  const rowOf = new Map();
  rows.forEach((row, number) => row.forEach(span => rowOf.set(span, number)));

  function draw() {
    waiting = false;
    const [width, height] = fit(canvas, pen);
    pen.font = `12px ${ink.sans}`; pen.textBaseline = "middle";
    ruler(width, height);
    if (tracks.length > 1) {
      pen.fillStyle = ink.muted;
      for (const [text, first] of tracks) pen.fillText(text, 6, tops[first] - 9);
    }
    rows.forEach((row, number) => drawRow(pen, row, from, to, width, tops[number], ROW - 3, true));
    outline(hovered, ink.ink, width);
    outline(chosen, ink.hit, width);
    const [wide, high] = fit(overview, small), thin = Math.max(2, Math.min(7, (high - 8) / rows.length));
    rows.forEach((row, number) => { if (4 + number * thin < high) drawRow(small, row, 0, whole, wide, 4 + number * thin, Math.max(1, thin - 1), false); });
    const x0 = from / whole * wide, x1 = to / whole * wide;
    small.fillStyle = ink.card; small.globalAlpha = 0.6;
    small.fillRect(0, 0, x0, high); small.fillRect(x1, 0, wide - x1, high);
    small.globalAlpha = 1; small.strokeStyle = ink.accent; small.lineWidth = 1.5;
    small.strokeRect(x0 + 0.75, 0.75, Math.max(3, x1 - x0) - 1.5, high - 1.5);
  }
  function redraw() {
    if (!waiting) { waiting = true; requestAnimationFrame(draw); }
  }
  function show(t0, t1) {
    const span = Math.min(whole, Math.max(10, t1 - t0));
    from = Math.min(Math.max(0, t0), whole - span);
    to = from + span;
    tip.hidden = true;
    redraw();
  }
  function zoom(factor, share = 0.5) {
    const at = from + (to - from) * share, span = Math.min(whole, Math.max(10, (to - from) * factor));
    show(at - span * share, at - span * share + span);
  }
  function pan(share) { const step = (to - from) * share; show(from + step, to + step); }
  function focus(span) { const room = Math.max(5, (end[span] - start[span]) * 0.06); show(start[span] - room, end[span] + room); }

  function under(event) {
    const box = canvas.getBoundingClientRect(), y = event.clientY - box.top, x = event.clientX - box.left;
    const number = tops.findIndex(top => y >= top && y < top + ROW);
    if (number < 0) return -1;
    const row = rows[number], moment = from + x / box.width * (to - from), near = 3 * (to - from) / box.width;
    const at = search(row, end, moment - near);
    for (let each = at; each < Math.min(at + 2, row.length); each++)
      if (start[row[each]] <= moment && end[row[each]] >= moment) return row[each];
    return at < row.length && start[row[at]] <= moment + near ? row[at] : -1;
  }
  function point(event) {
    const span = under(event);
    if (span !== hovered) { hovered = span; redraw(); }
    tip.hidden = span < 0;
    if (span < 0) return;
    tip.replaceChildren(text("b", name(span)), text("span", `${samples[span] ? samples[span][1] + " · " : ""}${spell(end[span] - start[span])} · ${levels[data.level[span]]}`));
    const box = canvas.parentElement.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    tip.style.left = `${Math.max(4, Math.min(x + 14, box.width - tip.offsetWidth - 8))}px`;
    tip.style.top = `${y + 18 + tip.offsetHeight > box.height ? Math.max(0, y - tip.offsetHeight - 10) : y + 18}px`;
  }
  function text(tag, content) { const made = document.createElement(tag); made.textContent = content; return made; }
  function choose(span) {
    chosen = span;
    detail.hidden = span < 0;
    redraw();
    if (span < 0) return;
    const path = [];
    for (let at = data.parent[span]; at >= 0; at = data.parent[at]) path.unshift(name(at));
    const said = data.said[span] >= 0 ? JSON.parse(words[data.said[span]]) : {};
    const facts = [["on the timeline", spell(end[span] - start[span], 4)], ["begins at", spell(start[span], 6)], ["level", levels[data.level[span]]]];
    if ("measured_ns" in said) facts.splice(1, 0, ["measured in its own run", spell(said.measured_ns, 4)]);
    const parent = data.parent[span];
    if (parent >= 0 && end[parent] > start[parent])
      facts.push([`of ${name(parent)}`, `${(100 * (end[span] - start[span]) / (end[parent] - start[parent])).toFixed(1)} %`]);
    for (const [key, value] of Object.entries(said)) {
      if (key === "measured_ns") continue;
      if (key === "shapes") facts.push(["shapes", value.map(shape => shape.join("×")).join(", ")]);
      else if (key === "memory_bytes") facts.push(["memory", `${(value / 1024).toLocaleString("en", {maximumFractionDigits: 1})} KiB`]);
      else facts.push([key, typeof value === "object" ? JSON.stringify(value) : String(value)]);
    }
    const list = document.createElement("dl");
    for (const [key, value] of facts) { const pair = document.createElement("div"); pair.append(text("dt", key), text("dd", value)); list.append(pair); }
    const line = text("p", path.join(" › ")); line.className = "path";
    detail.replaceChildren(text("h3", name(span)), line, list);
  }

  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / box.width);
    else zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.004), (event.clientX - box.left) / box.width);
  }, {passive: false});
  let held = null;
  canvas.addEventListener("pointerdown", event => { held = {x: event.clientX, from, to, moved: false}; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", event => {
    if (!held) return point(event);
    const step = (held.x - event.clientX) / canvas.clientWidth * (held.to - held.from);
    if (Math.abs(held.x - event.clientX) > 3) held.moved = true;
    if (held.moved) show(held.from + step, held.to + step);
  });
  canvas.addEventListener("pointerup", event => { if (held && !held.moved) choose(under(event)); held = null; });
  canvas.addEventListener("pointercancel", () => { held = null; });
  canvas.addEventListener("pointerleave", () => { hovered = -1; tip.hidden = true; redraw(); });
  canvas.addEventListener("dblclick", event => { const span = under(event); if (span >= 0) focus(span); });
  canvas.addEventListener("keydown", event => {
    const keys = {ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15), "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6),
      "0": () => show(0, whole), Escape: () => choose(-1), Enter: () => { if (chosen >= 0) focus(chosen); },
      ArrowUp: () => { if (chosen >= 0 && data.parent[chosen] >= 0) choose(data.parent[chosen]); },
      ArrowDown: () => { const below = chosen < 0 ? 0 : data.parent.indexOf(chosen); if (below >= 0) choose(below); }};
    if (keys[event.key] && !event.ctrlKey && !event.metaKey) { event.preventDefault(); keys[event.key](); }
  });
  const drag = event => { const share = (event.clientX - overview.getBoundingClientRect().left) / overview.clientWidth; const half = (to - from) / 2; show(share * whole - half, share * whole + half); };
  overview.addEventListener("pointerdown", event => { overview.setPointerCapture(event.pointerId); drag(event); });
  overview.addEventListener("pointermove", event => { if (event.buttons) drag(event); });
  document.getElementById("in").addEventListener("click", () => zoom(0.5));
  document.getElementById("out").addEventListener("click", () => zoom(2));
  document.getElementById("all").addEventListener("click", () => show(0, whole));
  document.getElementById("find").addEventListener("input", event => {
    const wanted = event.target.value.trim().toLowerCase(), used = new Set(data.name);
    matches = wanted ? new Set([...used].filter(word => words[word].toLowerCase().includes(wanted))) : null;
    let count = 0, spent = 0;
    if (matches) data.name.forEach((word, span) => { if (matches.has(word)) { count++; spent += end[span] - start[span]; } });
    document.getElementById("found").textContent = matches ? `${count.toLocaleString("en")} spans, ${spell(spent)}` : "";
    redraw();
  });
  new ResizeObserver(redraw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { mix(); redraw(); });
  mix();
  // Opening the model takes longer than using it: what is looked for first is a batch or three.
  const batches = rows.length > 1 ? rows[1].filter(span => name(span) === "batch") : [];
  if (batches.length) show(start[batches[0]], end[batches[Math.min(2, batches.length - 1)]]); else redraw();
})();
