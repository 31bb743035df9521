<section id="worst" aria-labelledby="worst-title">
  <h2 id="worst-title">Samples</h2>
  <p class="about">\
% if worst.total > len(worst.shown):
${f"The {len(worst.shown)} worst of {words.count(worst.total)} samples" if worst.has_quality else f"The first {len(worst.shown)} of {words.count(worst.total)} samples"}\
% else:
${"The only sample" if worst.total == 1 else f"All {worst.total} samples"}\
% endif
${f", the worst first. {worst.about}" if worst.has_quality else "."}</p>
% if worst.without_pictures:
  <p class="note">There are no pictures, because the dataset cannot be read any more: <bdi>${words.shorten(worst.without_pictures)}</bdi></p>
% endif
  <input type="checkbox" id="show-truth" class="layer-box" checked><label for="show-truth" class="layer-label of-truth">Truth</label>
  <input type="checkbox" id="show-answer" class="layer-box" checked><label for="show-answer" class="layer-label of-answer">Answer</label>
  <ol class="gallery seen-gallery">
% for each in worst.shown:
    <li class="tile">
% if each.chart:
      ${each.chart | n}
% else:
      <div class="blank"><span>no picture${f": {words.shorten(each.reason, 120)}" if each.reason else ""}</span></div>
% endif
      <dl class="said">
% if each.quality is not None:
        <div><dt>Quality</dt><dd><b>${quality_words(each.quality)}</b></dd></div>
% endif
        <div class="of-truth"><dt>Truth</dt><dd><bdi>${words.shorten(each.truth, 120) or "nothing"}</bdi></dd></div>
        <div class="of-answer"><dt>Answer</dt><dd><bdi>${words.shorten(each.said, 120) or "nothing"}</bdi>\
% if each.hidden:
 <small>and ${words.count(each.hidden)} below 0.3</small>\
% endif
</dd></div>
      </dl>
      <p class="sample" title="${each.id}"><bdi>${each.id}</bdi></p>
    </li>
% endfor
  </ol>
<%include file="failures.mako"/>
</section>
