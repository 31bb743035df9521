<%namespace name="parts" file="parts.mako"/>
<section id="mistakes" aria-labelledby="mistakes-title">
  <h2 id="mistakes-title">Wrong answers</h2>
% if mistakes.total:
  <p class="about">\
% if mistakes.total > len(mistakes.shown):
The ${len(mistakes.shown)} of ${words.count(mistakes.total)} wrong answers with the highest scores, highest first.\
% else:
${"The only wrong answer." if mistakes.total == 1 else f"All {mistakes.total} wrong answers, the highest score first."}\
% endif
 The right class is marked where it is among the first five.</p>
% if mistakes.without_pictures:
  <p class="note">There are no pictures, because the dataset cannot be read any more: <bdi>${words.shorten(mistakes.without_pictures)}</bdi></p>
% endif
  <ol class="gallery">
% for each in mistakes.shown:
    <li class="tile">
% if each.thumbnail.uri:
      <img src="${each.thumbnail.uri}" alt="${each.label}, taken for ${each.answers[0].name if each.answers else "nothing"}" class="${"tiny" if each.thumbnail.tiny else "photo"}">
% elif not mistakes.without_pictures and not each.own:
      <div class="blank"><span>no picture${f": {words.shorten(each.thumbnail.reason, 120)}" if each.thumbnail.reason else ""}</span></div>
% endif
<%include file="own.mako" args="own=each.own"/>
      <p class="truth" title="${each.label}"><span>It is</span> <bdi>${each.label}</bdi></p>
      <ol class="answers">
% for answer in each.answers:
        <li class="${"right" if answer.right else "wrong"}">
% if answer.right:
          <span class="hidden">The right class:</span>
% endif
          <span class="text"><bdi title="${answer.name}">${answer.name}</bdi><b>${answer.score}</b></span>
% if answer.share is not None:
          ${parts.bar(answer.share)}
% endif
        </li>
% endfor
      </ol>
      <p class="sample" title="${each.id}"><bdi>${each.id}</bdi></p>
    </li>
% endfor
  </ol>
% elif not any(headline.values()):
  <p class="about">Not known: ${next((record.refused[name] for name in headline if name in record.refused), "no data")}</p>
% else:
  <p class="about">There is none.</p>
% endif
<%include file="failures.mako"/>
</section>
