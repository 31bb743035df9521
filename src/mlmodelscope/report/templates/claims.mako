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
        <th scope="row">${words.METRIC_NAMES[each.metric]}</th>
        <td class="number">${each.published} %</td>
        <td class="number">${words.percent(each.measured.value, words.digits_of(each.measured))}<small>${words.percent_range(each.measured)}</small></td>
        <td><span class="tag">${each.tag}</span> <bdi>${each.sentence}</bdi>\
% if each.source:
 ${parts.source(each.source)}\
% endif
</td>
      </tr>
% endfor
% for each in unmeasured:
      <tr>
        <th scope="row"><bdi>${words.METRIC_NAMES.get(each.claim.metric, each.claim.metric)}</bdi></th>
        <td class="number">${each.claim.value} %</td>
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
