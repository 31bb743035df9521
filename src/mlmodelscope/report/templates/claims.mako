<%namespace name="parts" file="parts.mako"/>
% if comparisons or unmeasured:
<section id="claims" aria-labelledby="claims-title">
  <h2 id="claims-title">Published numbers</h2>
  <div class="scroll" role="region" aria-labelledby="claims-title" tabindex="0">
  <table class="claims">
    <thead><tr><th scope="col">Metric</th><th scope="col" class="number">Published</th><th scope="col" class="number">Measured</th><th scope="col">What can be said</th></tr></thead>
    <tbody>
% for each in comparisons:
      <tr>
        <th scope="row">${words.title(each.metric)}</th>
        <td class="number">${published(each)}</td>
        <td class="number">${words.measured_value(each.measured)}<small>${words.measured_range(each.measured)}</small></td>
        <td><span class="tag">${each.tag}</span> <bdi>${each.sentence}</bdi>\
% if each.source:
 ${parts.source(each.source)}\
% endif
</td>
      </tr>
% endfor
% for each in unmeasured:
      <tr>
        <th scope="row"><bdi>${words.title(each.claim.metric)}</bdi></th>
        <td class="number">${published_text(each.claim)}</td>
        <td class="number">–</td>
        <td>Nothing can be said: ${words.shorten(each.reason)}.\
% if each.claim.source:
 ${parts.source(each.claim.source)}\
% endif
</td>
      </tr>
% endfor
    </tbody>
  </table>
  </div>
</section>
% endif
