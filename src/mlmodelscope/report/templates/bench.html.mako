<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>${plan.model.name} under load – MLModelScope</title>
<style>${style | n}</style>
</head>
<body>
<a class="skip" href="#numbers">Skip to the numbers</a>
<div class="page">
<%include file="head.mako"/>
<main>
<section id="numbers" aria-labelledby="numbers-title">
  <h2 id="numbers-title">Numbers</h2>
  <p class="about">Scenario ${bench.scenario}. ${verdict}</p>
  <div class="panel">
    <table class="facts-table"><tbody>
% for name, value, between in rows:
% if between:
      <tr><th scope="row"><bdi>${name}</bdi></th><td><bdi>${value}</bdi></td><td>${between}</td></tr>
% else:
      <tr><th scope="row"><bdi>${name}</bdi></th><td colspan="2"><bdi>${value}</bdi></td></tr>
% endif
% endfor
    </tbody></table>
  </div>
% if run_rows:
  <div class="panel scroll" role="region" aria-label="Runs" tabindex="0">
    <table>
      <thead><tr>
% for name in run_head:
        <th scope="col">${name}</th>
% endfor
      </tr></thead>
      <tbody>
% for row in run_rows:
      <tr>
% for cell in row:
        <td>${cell}</td>
% endfor
      </tr>
% endfor
      </tbody>
    </table>
  </div>
% endif
</section>
<section id="latency" aria-labelledby="latency-title">
  <h2 id="latency-title">Latency</h2>
% if chart:
  <p class="about">From when a query was due to its answer: waiting counts.</p>
  <div class="panel">${chart | n}</div>
% else:
  <p class="about">There is no distribution to show.</p>
% endif
</section>
<%include file="reproduction.mako"/>
</main>
<footer>
Written by MLModelScope ${record.worker_version} from record <code>${record.id}</code>. This file is complete in itself:
it loads nothing from anywhere and runs no script.
</footer>
</div>
</body>
</html>
