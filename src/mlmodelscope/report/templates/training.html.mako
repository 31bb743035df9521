<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>Training of ${plan.model.name} – MLModelScope</title>
<style>${style | n}</style>
</head>
<body>
<a class="skip" href="#curve">Skip to the curve</a>
<div class="page">
<%include file="head.mako"/>
<main>
<section id="curve" aria-labelledby="curve-title">
  <h2 id="curve-title">Curve</h2>
% if not charts:
  <p class="about">The training reported nothing on its way.</p>
% endif
% for name, chart in charts.items():
  <div class="panel"><h3>${name}</h3>${chart | n}</div>
% endfor
</section>
<section id="numbers" aria-labelledby="numbers-title">
  <h2 id="numbers-title">Numbers</h2>
  <div class="panel">
    <table class="facts-table"><tbody>
% for name, text in numbers:
      <tr><th scope="row"><bdi>${name}</bdi></th><td><bdi>${text}</bdi></td></tr>
% endfor
    </tbody></table>
  </div>
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
