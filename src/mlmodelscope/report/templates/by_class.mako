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
<section id="accuracy" aria-labelledby="accuracy-title">
  <h2 id="accuracy-title">Accuracy</h2>
  <div class="${"split even" if curve_chart and sheet else "stack"}">
% if curve_chart:
    <div class="panel short">
      <h3>Precision and recall</h3>
      <figure>
        ${curve_chart | n}
        <figcaption>Precision (%) over recall (%) at an overlap of 0.50, the mean of all classes.</figcaption>
      </figure>
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
</section>
