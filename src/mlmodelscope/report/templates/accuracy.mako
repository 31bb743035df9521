<%namespace name="parts" file="parts.mako"/>
<%def name="class_rows(rows)">
% for each in rows:
        <tr><th scope="row" title="${each.name}"><bdi class="name">${each.name}</bdi></th><td class="wide">${parts.bar(each.share)}</td><td class="number">${words.percent(each.share, 0)}</td><td class="number muted">${words.count(each.right)} / ${words.count(each.seen)}</td></tr>
% endfor
</%def>
<%def name="class_table(rows)">
      <div class="scroll">
      <table class="classes">
        <thead class="hidden"><tr><th scope="col">Class</th><th scope="col">Bar</th><th scope="col">Accuracy</th><th scope="col">Right of all</th></tr></thead>
        <tbody>
${class_rows(rows)}
        </tbody>
      </table>
      </div>
</%def>
<%def name="pair_table(rows)">
      <div class="scroll">
      <table class="pairs${"" if confusions[0].count > 1 else " even"}">
        <thead><tr><th scope="col">What it is</th><th scope="col">What was answered</th><th scope="col" class="wide"><span class="hidden">Bar</span></th><th scope="col" class="number">Times</th></tr></thead>
        <tbody>
% for each in rows:
          <tr><td title="${each.label}"><bdi class="name">${each.label}</bdi></td><td title="${each.answer}"><bdi class="name">${each.answer}</bdi></td><td class="wide">${parts.bar(each.count / confusions[0].count)}</td><td class="number">${words.count(each.count)}</td></tr>
% endfor
        </tbody>
      </table>
      </div>
</%def>
<%def name="pair_panel(shown)">
    <div class="panel">
      <h3>What is taken for what</h3>
% if confusions:
      ${pair_table(confusions[:shown])}
% if len(confusions) > shown:
      <details><summary>The next ${words.plural(len(confusions) - shown, "pair")}</summary>
      ${pair_table(confusions[shown:])}
      </details>
% endif
% elif "confusion" not in record.details:
      <p class="refused">Not computed: ${record.refused.get("confusion", "no data")}</p>
% else:
      <p class="about">Nothing: no answer was wrong.</p>
% endif
    </div>
</%def>
<section id="accuracy" aria-labelledby="accuracy-title">
  <h2 id="accuracy-title">Accuracy</h2>
  <div class="split even">
    <div class="panel ${"" if calibration else "short"}">
      <h3>Calibration</h3>
% if calibration:
      <p class="about">Expected calibration error <b>${words.percent(calibration["ece"])}</b>: how far confidence and accuracy lie apart on average.</p>
      <figure>
        ${reliability_chart | n}
        <figcaption>Share of right answers (%) by confidence (%). Dashed: as it should be. Thin lines: 95 % intervals. Below: number of samples.</figcaption>
      </figure>
% else:
      <p class="refused">Not computed: ${record.refused.get("calibration", "no data")}</p>
% endif
    </div>
    <div class="stack">
    <div class="panel">
      <h3>Classes</h3>
% if classes:
      <p class="about">${classes_sentence}</p>
% if classes_few:
      ${classes_chart | n}
      <ul class="legend">
% for name, number in classes_split:
        <li class="s${loop.index}">${name} <b>${words.count(number)}</b></li>
% endfor
      </ul>
% else:
      ${class_table(classes[:10])}
% endif
<% more = classes[0 if classes_few else 10:100] %>
% if more:
      <details><summary>${"All" if len(more) == len(classes) else "The worst" if classes_few else "The next"} ${words.plural(len(more), "class")}</summary>
      ${class_table(more)}
% if len(classes) > 100:
      <p class="muted">All ${words.count(len(classes))} are in the JSON report.</p>
% endif
      </details>
% endif
% else:
      <p class="refused">Not computed: ${record.refused.get("per_class", "no data")}</p>
% endif
    </div>
% if classes_few:
${pair_panel(4)}
% endif
    </div>
  </div>
% if not classes_few:
${pair_panel(10)}
% endif
</section>
