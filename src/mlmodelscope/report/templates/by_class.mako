<%namespace name="parts" file="parts.mako"/>
<%def name="class_table(rows)">
      <div class="scroll">
      <table class="classes measured">
        <thead><tr><th scope="col">Class</th><th scope="col" class="wide"><span class="hidden">Bar</span></th>\
% for column in sheet.columns:
<th scope="col" class="number">${column.title}</th>\
% endfor
</tr></thead>
        <tbody>
% for row in rows:
          <tr><th scope="row" title="${row.name}"><bdi class="name">${row.name}</bdi></th><td class="wide">${parts.bar(max(0.0, min(1.0, row.values[sheet.main] or 0.0)))}</td>\
% for column, value in zip(sheet.columns, row.values):
<td class="number${" muted" if column.is_count else ""}">${spelled(column, value)}</td>\
% endfor
</tr>
% endfor
        </tbody>
      </table>
      </div>
</%def>
<%def name="taken_table(rows)">
      <div class="scroll">
      <table class="pairs">
        <thead><tr><th scope="col">What it is</th><th scope="col">What was answered</th><th scope="col" class="wide"><span class="hidden">Bar</span></th><th scope="col" class="number">${taken.unit}</th></tr></thead>
        <tbody>
% for each in rows:
          <tr><td title="${each.label}"><bdi class="name">${each.label}</bdi></td><td title="${each.answer}"><bdi class="name">${each.answer}</bdi></td><td class="wide">${parts.bar(each.count / taken.pairs[0].count)}</td><td class="number">${words.count(each.count)}</td></tr>
% endfor
        </tbody>
      </table>
      </div>
</%def>
<section id="accuracy" aria-labelledby="accuracy-title">
  <h2 id="accuracy-title">Accuracy</h2>
  <div class="${"split even" if (curve_chart or qualities_chart) and sheet and len(sheet.columns) < 5 else "stack"}">
% if curve_chart or qualities_chart:
    <div class="stack">
% endif
% if curve_chart:
    <div class="panel short">
      <h3>Precision and recall</h3>
      <figure>
        ${curve_chart | n}
        <figcaption>Precision (%) over recall (%) at an overlap of 0.50, the mean of all classes.</figcaption>
      </figure>
% if len(class_curves) > 1:
      <details class="curves"><summary>The curve of each class</summary>
% for name, share, chart in class_curves:
        <details name="class-curve"><summary><bdi>${words.shorten(name, 60)}</bdi> <span class="muted">AP50 ${share}</span></summary><figure>${chart | n}</figure></details>
% endfor
      </details>
% endif
    </div>
% endif
% if qualities_chart:
    <div class="panel short">
      <h3>Quality of samples</h3>
      <figure>
        ${qualities_chart | n}
        <figcaption>Number of samples by quality (%).${f" {worst.about}" if worst and worst.about else ""}</figcaption>
      </figure>
    </div>
% endif
% if curve_chart or qualities_chart:
    </div>
% endif
% if sheet:
    <div class="panel">
      <h3>Classes</h3>
      <p class="about">${sheet.about}</p>
      ${class_table(sheet.classes[:10])}
% if len(sheet.classes) > 10:
      <details><summary>The next ${words.plural(len(sheet.classes[10:200]), "class")}</summary>
      ${class_table(sheet.classes[10:200])}
% if len(sheet.classes) > 200:
      <p class="muted">All ${words.count(len(sheet.classes))} are in the JSON report.</p>
% endif
      </details>
% endif
    </div>
% endif
  </div>
% if taken is not None:
  <div class="panel">
    <h3>What is taken for what</h3>
% if taken.pairs:
    <p class="about">${taken.about}</p>
    ${taken_table(taken.pairs[:10])}
% if len(taken.pairs) > 10:
    <details><summary>The next ${words.plural(len(taken.pairs) - 10, "pair")}</summary>
    ${taken_table(taken.pairs[10:])}
    </details>
% endif
% else:
    <p class="about">Nothing: no class was taken for another.</p>
% endif
  </div>
% endif
</section>
