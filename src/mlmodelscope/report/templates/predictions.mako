<section id="predictions" aria-labelledby="predictions-title">
  <h2 id="predictions-title">Predicted and true</h2>
  <p class="about">${words.plural(predictions.samples, "sample")} of <bdi>${plan.dataset.name}</bdi>\
% if predictions.is_several:
, ${words.plural(predictions.values, "number")} in all\
% endif
.\
% if len(predictions.points) + predictions.lost < predictions.values:
 ${words.count(len(predictions.points))} of the numbers are drawn, among them the largest errors.\
% endif
% if predictions.lost:
 ${words.plural(predictions.lost, "number")} cannot be drawn: too large, or not finite.\
% endif
</p>
% if predictions.points:
  <div class="${"split even" if predictions.has_residuals else "stack"}">
    <div class="panel short">
      <h3>Predicted over true</h3>
      <figure>
        ${predicted_chart | n}
        <figcaption>Predicted numbers over true ones${", with a dashed line where both are equal" if predictions.has_residuals else "; each has a scale of its own"}.</figcaption>
      </figure>
    </div>
% if predictions.has_residuals:
    <div class="panel short">
      <h3>Residuals</h3>
      <figure>
        ${residual_chart | n}
        <figcaption>Predicted less true numbers, over the true ones.</figcaption>
      </figure>
    </div>
% endif
  </div>
% endif
% if predictions.largest:
  <div class="panel">
    <h3>Largest errors</h3>
    <div class="scroll"><table class="largest">
      <thead><tr><th scope="col">Sample</th>\
% if predictions.is_several:
<th scope="col" class="number">Number</th>\
% endif
<th scope="col" class="number">True</th><th scope="col" class="number">Predicted</th><th scope="col" class="number">Error</th></tr></thead>
      <tbody>
% for each in predictions.largest:
        <tr><th scope="row"><bdi class="name">${words.shorten(each.sample, 120)}</bdi></th>\
% if predictions.is_several:
<td class="number">${each.place + 1}</td>\
% endif
<td class="number">${f"{each.truth:.6g}"}</td><td class="number">${f"{each.answer:.6g}"}</td><td class="number">${f"{each.residual:+.6g}"}</td></tr>
% endfor
      </tbody>
    </table></div>
  </div>
% elif pairs:
  <div class="panel">
    <h3>Pairs with the largest error</h3>
    <p class="about">The ${len(pairs)} worst of ${words.plural(worst.total, "sample")}. ${worst.about}</p>
    <div class="scroll"><table class="largest alike">
      <thead><tr><th scope="col">Texts</th><th scope="col" class="number">True</th><th scope="col" class="number">Predicted</th><th scope="col" class="number">Quality</th></tr></thead>
      <tbody>
% for each in pairs:
        <tr><th scope="row">\
% for _, content in each.own.texts:
<p dir="auto">${words.shorten(content, 200) or "(empty)"}</p>\
% endfor
% if not each.own.texts:
<bdi class="name">${words.shorten(each.id, 120)}</bdi>\
% endif
</th><td class="number">${words.shorten(each.truth or "–", 40)}</td><td class="number">${words.shorten(each.said or "–", 40)}</td><td class="number">${quality_words(each.quality)}</td></tr>
% endfor
      </tbody>
    </table></div>
  </div>
% endif
</section>
