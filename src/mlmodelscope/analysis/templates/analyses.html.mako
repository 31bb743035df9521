<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-${script_hash}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<title>${model} – analyses – MLModelScope</title>
<style>${style | n}</style>
</head>
<body>
<a class="skip" href="#${analyses[0].id if analyses else "missing"}">Skip to the first analysis</a>
<div class="page analyses-page">
<header>
  <div class="brand">
    <svg width="30" height="16" viewBox="0 0 30 16" aria-hidden="true"><path d="M1 2v12M29 2v12M1 8h28"/><circle cx="17" cy="8" r="5"/></svg>
    <span>MLModelScope</span>
    <span class="status">analyses</span>
  </div>
  <h1><span class="who">${model}</span></h1>
  <dl class="facts">
% for label, value in facts:
    <div><dt>${label}</dt><dd>${value}</dd></div>
% endfor
  </dl>
  <nav aria-label="Analyses">
% for each in analyses:
    <a href="#${each.id}"><b>${each.id}</b> ${each.title}</a>
% endfor
% if missing:
    <a href="#missing">What is missing</a>
% endif
  </nav>
</header>
<main>
% if cards:
<section id="numbers" aria-label="Numbers">
  <div class="cards tiles">
% for label, figure, under in cards:
    <div class="card"><h2>${label}</h2><p class="figure">${figure.replace("\u00a0", " ").partition(" ")[0]}<small>${figure.replace("\u00a0", " ").partition(" ")[2]}</small></p><p class="under">${under}</p></div>
% endfor
  </div>
</section>
% endif
% for each in analyses:
<section id="${each.id}" class="analysis" aria-labelledby="${each.id}-title">
  <div class="bar-line">
    <h2 id="${each.id}-title"><span class="id">${each.id}</span>${each.title}</h2>
% if len(each.plots) > 1:
    <div class="switch" role="group" aria-label="What the plot shows">
% for place, name in enumerate(each.plots):
      <button type="button" data-plot="${place}" aria-pressed="${"true" if place == 0 else "false"}">${name}</button>
% endfor
    </div>
% endif
  </div>
% for note in each.notes:
  <p class="about">${note[0].upper()}${note[1:]}${"" if note.endswith("…") else "."}</p>
% endfor
% for place, plot in enumerate(each.plots.values()):
  <figure class="panel plot-panel"${" hidden" if place else "" | n}>${plot | n}</figure>
% endfor
% if each.table.rows:
  <div class="panel table-panel">
    <div class="scroll tall" tabindex="0" role="region" aria-label="Table: ${each.table.title}">
    <table class="sortable">
      <caption class="hidden">${each.table.title}</caption>
      <thead><tr>
% for column in each.table.columns:
        <th scope="col"${' class="number"' if column.is_number else "" | n} aria-sort="none"><button type="button">${column.title}</button></th>
% endfor
      </tr></thead>
      <tbody>
% for row in each.table.rows[:most]:
      <tr>\
% for column, value in zip(each.table.columns, row):
<td${' class="number"' if column.is_number else "" | n} data-v="${sort_key(column, value)}">\
% if column.kind == "share" and value is not None:
${spelled(column, value)}<span class="bar" aria-hidden="true"><i style="width:${f"{max(0.0, min(100.0, 100 * value)):.1f}"}%"></i></span>\
% elif column.is_number:
${spelled(column, value)}\
% else:
<bdi class="name" title="${spelled(column, value)}">${spelled(column, value)}</bdi>\
% endif
</td>\
% endfor
</tr>
% endfor
      </tbody>
    </table>
    </div>
% if len(each.table.rows) > most:
    <p class="under">${len(each.table.rows) - most} more rows in the CSV file.</p>
% endif
  </div>
% endif
</section>
% endfor
% if missing:
<section id="missing" aria-labelledby="missing-title">
  <h2 id="missing-title">What is missing</h2>
  <div class="panel"><div class="scroll"><table>
    <thead><tr><th></th><th>analysis</th><th>why</th><th>what would give it</th></tr></thead>
    <tbody>
% for each in missing:
    <tr><td><b>${each.id}</b></td><td>${each.title}</td><td>${each.why}</td><td>${"" if each.command is None else ""}<code>${each.command or ""}</code></td></tr>
% endfor
    </tbody>
  </table></div></div>
</section>
% endif
</main>
<footer>
Written by MLModelScope ${version}. This file is complete in itself: it loads nothing from anywhere, and its one script
only sorts tables, switches plots and shows names under the pointer.
</footer>
</div>
<div id="tip" role="presentation" hidden></div>
<script>${script | n}</script>
</body>
</html>
