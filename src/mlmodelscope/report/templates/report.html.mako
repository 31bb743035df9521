<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ${f"script-src 'sha256-{script_hash}'; " if script else ""}img-src data:; media-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>${plan.model.name} on ${plan.dataset.name} – MLModelScope</title>
<style>${style | n}</style>
</head>
<body>
<a class="skip" href="#numbers">Skip to the numbers</a>
<div class="page">
<%include file="head.mako"/>
<main>
<%include file="numbers.mako"/>
<%include file="claims.mako"/>
<%include file="latency.mako"/>
% if sheet or curve_chart or qualities_chart:
<%include file="by_class.mako"/>
% else:
<%include file="accuracy.mako"/>
% endif
% if predictions:
<%include file="predictions.mako"/>
% endif
% if neighbors:
<%include file="neighbors.mako"/>
% endif
% if worst:
<%include file="worst.mako"/>
% else:
<%include file="mistakes.mako"/>
% endif
<%include file="pipeline.mako"/>
<%include file="reproduction.mako"/>
</main>
<footer>
Written by MLModelScope ${record.worker_version} from record <code>${record.id}</code>. This file is complete in itself:
it loads nothing from anywhere and ${"its only script moves the line between two pictures" if script else "runs no script"}.
</footer>
</div>
% if script:
<script>${script | n}</script>
% endif
</body>
</html>
