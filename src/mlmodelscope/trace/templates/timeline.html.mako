<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-${script_hash}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<title>${resource.get("model.name", "Trace")} – timeline – MLModelScope</title>
<style>${style | n}</style>
</head>
<body>
<a class="skip" href="#layers">Skip to the layers</a>
<div class="page timeline-page">
<header>
  <div class="brand">
    <svg width="30" height="16" viewBox="0 0 30 16" aria-hidden="true"><path d="M1 2v12M29 2v12M1 8h28"/><circle cx="17" cy="8" r="5"/></svg>
    <span>MLModelScope</span>
    <span class="status">timeline</span>
  </div>
  <h1><span class="who">${resource.get("model.name", "Trace")}<span class="version">@${resource.get("model.version", "")}</span></span></h1>
  <dl class="facts">
    <div><dt>Date</dt><dd>${began}</dd></div>
    <div><dt>Record</dt><dd><code>${resource.get("record", "–")}</code></dd></div>
    <div><dt>Predictor</dt><dd>${resource.get("predictor", "–")}</dd></div>
    <div><dt>Machine</dt><dd>${resource.get("host.cpu", "–")}</dd></div>
  </dl>
</header>
<main>
<section id="numbers" aria-label="Numbers">
  <div class="cards tiles">
% if run_ns is not None:
    <div class="card"><h2>Model, unprofiled</h2><p class="figure">${spell(run_ns).split(" ")[0]}<small>${spell(run_ns).split(" ")[1]}</small></p><p class="under">framework call in a batch, median of ${len(batches)}</p></div>
% endif
% if sums is not None:
    <div class="card"><h2>Layers’ sum</h2><p class="figure">${f"{100 * sums.of_unprofiled:.1f}"}<small>%</small></p><p class="under">${spell(sums.layers_ns)} of ${spell(sums.unprofiled_ns)} unprofiled</p></div>
% endif
% for each in trace.overheads:
    <div class="card"><h2>${each.level.capitalize()} level costs</h2><p class="figure">${f"{100 * each.share:+.1f}".replace("-", "−")}<small>%</small></p><p class="under">${each.compared} ${spell(each.without_ns)} → ${spell(each.with_ns)}${f"; 95 % between {100 * each.low:+.1f} % and {100 * each.high:+.1f} %".replace("-", "−") if each.low is not None and each.high is not None else ""}</p></div>
% endfor
% for name, said in counters:
    <div class="card"><h2>${name.capitalize()}, at the median</h2><p class="under">${said}</p></div>
% endfor
    <div class="card"><h2>Spans</h2><p class="figure">${f"{len(trace.spans):,}"}</p><p class="under">${", ".join(levels)}</p></div>
  </div>
</section>
<section id="timeline" aria-labelledby="timeline-title">
  <div class="bar-line">
    <h2 id="timeline-title">Timeline</h2>
    <div class="tools">
      <label class="find"><span class="hidden">Find spans by name</span><input id="find" type="search" placeholder="Find spans" autocomplete="off" spellcheck="false"></label>
      <span id="found" class="muted" role="status"></span>
      <button id="out" type="button" title="Zoom out (−)">−</button><button id="in" type="button" title="Zoom in (+)">+</button><button id="all" type="button" title="Show all (0)">All</button>
    </div>
  </div>
  <figure class="panel canvas-panel">
    <canvas id="overview" height="44" aria-hidden="true"></canvas>
    <canvas id="spans" tabindex="0" role="img" aria-label="Timeline of ${f"{len(trace.spans):,}"} spans. Arrow keys move, plus and minus zoom, zero shows all; the tables below have the same numbers."></canvas>
    <div id="tip" hidden></div>
  </figure>
  <ul class="legend levels">
% for level in levels:
    <li class="l-${level}"><b>${level}</b></li>
% endfor
% for kind in kinds[:7]:
    <li class="k${color[kind.kind]}">${kind.kind}</li>
% endfor
% if len(kinds) > 7:
    <li class="k7">other types</li>
% endif
  </ul>
  <p class="about keys">Wheel zooms, dragging moves, a double click fills the window with a span. Upper levels have the times that they take undisturbed; what is inside is scaled into them.</p>
  <aside id="detail" class="panel" aria-live="polite" hidden></aside>
</section>
% if layers:
<section id="layers" aria-labelledby="layers-title">
  <h2 id="layers-title">Layers</h2>
  <div class="split layers-split">
    <div class="panel">
      <h3>By type</h3>
      <div class="scroll">
      <table class="kinds">
        <thead><tr><th>type</th><th class="number">layers</th><th class="number">time</th><th class="number">share</th></tr></thead>
        <tbody>
% for row in kinds:
          <tr><th scope="row"><i class="dot k${color[row.kind]}"></i>${row.kind}</th><td class="number">${row.count}</td><td class="number">${spell(row.time_ns)}</td><td class="number">${f"{100 * row.share:.1f}"} %</td></tr>
          <tr class="under-row" aria-hidden="true"><td colspan="4"><span class="bar"><i class="k${color[row.kind]}" style="width:${f"{100 * row.share:.2f}"}%"></i></span></td></tr>
% endfor
        </tbody>
      </table>
      </div>
    </div>
    <div class="panel">
      <h3>By time</h3>
      <div class="scroll tall">
      <table class="by-time">
        <thead><tr><th class="number">#</th><th>layer</th><th>type</th><th>shape</th><th class="number">memory</th><th class="number">time</th><th class="number">share</th></tr></thead>
        <tbody>
% for row in layers:
          <tr><td class="number muted">${row.index}</td><th scope="row"><bdi class="name">${row.name}</bdi></th><td><i class="dot k${color[row.kind]}"></i>${row.kind}</td><td class="muted">${"×".join(map(str, row.shapes[0])) if row.shapes else ""}</td><td class="number muted">${f"{row.memory_bytes / 1024:,.0f} KiB" if row.memory_bytes is not None else ""}</td><td class="number">${spell(row.time_ns)}</td><td class="number">${f"{100 * row.share:.1f}"} %<span class="bar" aria-hidden="true"><i class="k${color[row.kind]}" style="width:${f"{100 * row.share / most:.1f}"}%"></i></span></td></tr>
% endfor
        </tbody>
      </table>
      </div>
% if left_out:
      <p class="under">${left_out} more in the CSV file: <code>mlmodelscope trace export ${resource.get("record", "")} -o trace.csv</code></p>
% endif
    </div>
  </div>
</section>
% endif
</main>
<footer>
Written by MLModelScope ${version}. Trace <code>${trace.id}</code>. This file is complete in itself: it loads nothing from
anywhere, and its one script only draws. Software: ${resource.get("stack", "–")}.
</footer>
</div>
<script type="application/json" id="data">${data | n}</script>
<script>${script | n}</script>
</body>
</html>
