<section id="pipeline" aria-labelledby="pipeline-title">
  <h2 id="pipeline-title">Pipeline</h2>
  <p class="about">In this order, for every sample. Shown is what differs from the defaults.</p>
  <ol class="flow">
% for block in blocks:
    <li class="block of-${block.kind}" title="${block.meaning}">
      <b>${block.name}</b>
% if block.shown:
      <dl>
% for each in block.shown:
        <div><dt>${each.name}</dt><dd>${each.value}</dd></div>
% endfor
      </dl>
% endif
    </li>
% endfor
  </ol>
  <details><summary>Every parameter and what it means</summary>
    <div class="scroll" role="region" aria-label="Parameters" tabindex="0">
    <table>
      <thead><tr><th scope="col">Step</th><th scope="col">Parameter</th><th scope="col">Value</th><th scope="col">Meaning</th></tr></thead>
% for block in blocks:
      <tbody>
% if not block.parameters:
        <tr><th scope="row">${block.name}</th><td colspan="2" class="muted">no parameters</td><td class="muted">${block.meaning}</td></tr>
% endif
% for each in block.parameters:
        <tr>
% if loop.first:
          <th scope="rowgroup" rowspan="${len(block.parameters)}">${block.name}</th>
% endif
          <td>${each.name}</td><td class="value">${each.value}</td><td class="muted">${each.meaning}</td>
        </tr>
% endfor
      </tbody>
% endfor
    </table>
    </div>
  </details>
</section>
