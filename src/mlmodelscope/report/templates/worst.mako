<%def name="marked(paragraphs, otherwise)">\
% for paragraph in paragraphs:
<p dir="auto">\
% for piece in paragraph:
% if piece.kind == "mark":
<mark>${piece.text}<small>${piece.note}</small></mark>\
% elif piece.kind == "note":
<small class="muted">(${piece.text})</small> \
% elif piece.kind == "del":
<del>${piece.text}</del>\
% elif piece.kind == "ins":
<ins>${piece.text}</ins>\
% else:
${piece.text}\
% endif
% endfor
</p>\
% endfor
% if not paragraphs:
<span class="muted">${otherwise}</span>\
% endif
</%def>
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
% if any(each.chart for each in worst.shown):
  <input type="checkbox" id="show-truth" class="layer-box" checked><label for="show-truth" class="layer-label of-truth">Truth</label>
  <input type="checkbox" id="show-answer" class="layer-box" checked><label for="show-answer" class="layer-label of-answer">Answer</label>
% endif
  <ol class="gallery seen-gallery">
% for each in worst.shown:
    <li class="tile">
% if each.pair:
      <div class="pair" style="--share: 50%">
        <img src="${each.pair.before}" alt="${each.id}: ${each.pair.before_title.lower()}"><img src="${each.pair.after}" alt="${each.id}: ${each.pair.after_title.lower()}" class="after">
        <input type="range" min="0" max="100" value="50" aria-label="${each.id}: line between ${each.pair.before_title.lower()} and ${each.pair.after_title.lower()}">
        <span class="ends" aria-hidden="true"><span>${each.pair.before_title}</span><span>${each.pair.after_title}</span></span>
      </div>
% elif each.chart:
      ${each.chart | n}
% elif not each.texts and not each.own:
      <div class="blank"><span>no picture${f": {words.shorten(each.reason, 120)}" if each.reason else ""}</span></div>
% endif
<%include file="own.mako" args="own=each.own"/>
% if each.asked:
<%include file="language.mako" args="asked=each.asked"/>
% endif
      <dl class="said">
% if each.quality is not None:
        <div><dt>Quality</dt><dd><b>${quality_words(each.quality)}</b></dd></div>
% endif
% for title, value in each.numbers:
        <div><dt>${title}</dt><dd>${value}</dd></div>
% endfor
% if each.texts:
        <div class="of-truth marked"><dt>Truth</dt><dd>${marked(each.texts[0], "not available any more")}</dd></div>
        <div class="of-answer marked"><dt>Answer</dt><dd>${marked(each.texts[1], "nothing")}</dd></div>
% elif not each.pair:
        <div class="of-truth"><dt>Truth</dt><dd>\
% if each.truth is None:
<span class="muted">not available any more</span>\
% else:
<bdi>${words.shorten(each.truth, 120) or "nothing"}</bdi>\
% endif
</dd></div>
        <div class="of-answer"><dt>Answer</dt><dd><bdi>${words.shorten(each.said, 120) or "nothing"}</bdi>\
% if each.hidden:
 <small>and ${words.count(each.hidden)} below 0.3</small>\
% endif
</dd></div>
% endif
      </dl>
% if each.legend:
      <ul class="colors" aria-label="Colors">
% for name, color in each.legend[:12]:
        <li><span style="background: ${color}" aria-hidden="true"></span><bdi>${words.shorten(name, 40)}</bdi></li>
% endfor
      </ul>
% endif
      <p class="sample" title="${each.id}"><bdi>${each.id}</bdi></p>
    </li>
% endfor
  </ol>
<%include file="failures.mako"/>
</section>
