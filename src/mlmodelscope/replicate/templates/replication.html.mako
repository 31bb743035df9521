<%namespace name="parts" file="parts.mako"/>
<%def name="candidate_table(rows)">
    <table class="candidates">
      <thead><tr><th scope="col">Pitfall</th><th scope="col">Variant</th><th scope="col" class="number">Number</th><th scope="col" class="number">95 %</th>${"".join(f'<th scope="col" class="number" title="{meaning}">{title}</th>' for title, meaning in changed) | n}<th scope="col" class="number">Samples</th><th scope="col"><span class="hidden">Drawing</span></th></tr></thead>
      <tbody>
% for row in rows:
        <tr class="${"is-cause" if row.is_cause else "dropped" if row.seen < verdict.samples else ""}">
          <th scope="row"><bdi>${row.pitfalls}</bdi></th>
          <td class="variant"><bdi>${row.words}</bdi>${" " if row.is_cause else ""}\
% if row.is_cause:
<span class="tag cause-tag">explains it</span>\
% endif
% if row.alike:
<small>the same answers: <bdi>${words.shorten(row.alike, 160)}</bdi></small>\
% endif
</td>
          <td class="number">${row.expected}</td><td class="number muted">${row.deviation}</td>
          <td class="number">${row.gained}</td><td class="number">${row.lost}</td>
          <td class="number muted">${words.count(row.seen)}</td>
          <td class="drawn">${row.plot | n}</td>
        </tr>
% endfor
      </tbody>
    </table>
</%def>
<%def name="answer_list(title, lines)">
        <div>
          <h4>${title}</h4>
% if lines:
          <ol class="answers">
% for line in lines:
            <li class="${"right" if line.is_right else "wrong"}">
% if line.is_right:
              <span class="hidden">The right class:</span>
% endif
              <span class="text"><bdi title="${line.name}">${line.name}</bdi><b>${line.score}</b></span>
              ${parts.bar(line.share)}
            </li>
% endfor
          </ol>
% else:
          <p class="muted">The sample failed.</p>
% endif
        </div>
</%def>
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>${verdict.kind}: ${plan.model.name} on ${plan.dataset.name} – MLModelScope</title>
<style>${style | n}</style>
</head>
<body>
<a class="skip" href="#verdict">Skip to the verdict</a>
<div class="page">
<header>
  <div class="brand">
    <svg width="30" height="16" viewBox="0 0 30 16" aria-hidden="true"><path d="M1 2v12M29 2v12M1 8h28"/><circle cx="17" cy="8" r="5"/></svg>
    <span>MLModelScope</span>
    <span class="status">replication</span>
  </div>
  <h1>
    <span class="who">${plan.model.name}<span class="version">@${plan.model.version}</span></span>
    <span class="on">on</span>
    <span class="who">${plan.dataset.name}<span class="version">@${plan.dataset.version}</span></span>
  </h1>
</header>
<main>
<section id="verdict" class="verdict of-${verdict.kind.replace(" ", "-")}" aria-labelledby="verdict-title">
  <div class="said">
    <h2 id="verdict-title">${verdict.kind.capitalize()}</h2>
    <p>${sentence}</p>
% for line in other_claims:
    <p class="other">${line}</p>
% endfor
% for line in search:
    <p class="found${" item" if line.startswith("- ") else ""}">${line.removeprefix("- ")}</p>
% endfor
  </div>
  <dl class="trio">
    <div><dt>Claimed</dt><dd>${verdict.claim.text}<small>${symbol}</small></dd></div>
    <div><dt>Measured</dt><dd>${measured}<small>${symbol}</small></dd></div>
    <div><dt>Gap</dt><dd>${gap}<small>${apart}</small></dd></div>
  </dl>
  <figure>
    ${plot | n}
    <figcaption>\
% if is_certain:
All ${words.count(verdict.samples)} samples of the claim's dataset were measured: the number has no uncertainty. \
% else:
The bar is the 95 % interval, ${interval}. \
% endif
The stripe is what may be measured and still be what was claimed.</figcaption>
  </figure>
</section>
<nav aria-label="Sections">
% for anchor, name in sections:
  <a href="#${anchor}">${name}</a>
% endfor
</nav>
% if causes:
<section id="cause" aria-labelledby="cause-title">
  <h2 id="cause-title">${causes_title}</h2>
% for cause in causes:
  <article class="panel cause">
    <header>
      <h3>${cause.title}</h3>
      <p class="words"><bdi>${cause.words}</bdi></p>
    </header>
% if cause.edits:
    <ul class="edit" aria-label="What the edit changes">
% for sign, line in cause.edits:
      <li class="${"plus" if sign == "+" else "minus"}"><span>${sign}</span><code>${line}</code></li>
% endfor
    </ul>
% endif
% for title, explanation, papers in cause.pages:
    <div class="explanation">
% if len(cause.pages) > 1:
      <h4>${title}</h4>
% endif
      ${explanation | n}
% if papers:
      <p class="muted">Shown in the ${papers | n}.</p>
% endif
    </div>
% endfor
  </article>
% endfor
</section>
% endif
% if inside:
<section id="inside" aria-labelledby="inside-title">
  <h2 id="inside-title">Inside the model</h2>
% for part in inside:
  <h3>${part.title}</h3>
  <p class="about">${part.about}</p>
% for drawn in part.plots:
  <div class="panel">${drawn | n}</div>
% endfor
% endfor
</section>
% endif
% if evidence is not None:
<section id="evidence" aria-labelledby="evidence-title">
  <h2 id="evidence-title">Evidence</h2>
  <p class="about">${flips_sentence}\
% if cards:
 Shown is what the model sees, the most telling first: the tensors that it gets, drawn with one scale, that of the plan with the edit. Differences are stretched until the largest is white.\
% endif
</p>
% if evidence.without_pictures:
  <p class="note">Nothing could be looked at: <bdi>${words.shorten(evidence.without_pictures)}</bdi></p>
% endif
  <ol class="exhibits">
% for card in cards:
    <li class="panel exhibit">
      <header>
        <h3>\
% if card.flip.label is not None:
<span class="muted">It is</span> <bdi>${card.flip.label}</bdi>\
% else:
<bdi>${card.flip.sample}</bdi>\
% endif
</h3>
        <span class="tag kind-${card.flip.kind.replace(" ", "-")}">${card.flip.spelled}</span>
      </header>
      <div class="shots n${len(card.shots)}">
% for shot in card.shots:
        <figure>
% if shot.uri:
          <img src="${shot.uri}" alt="${card.flip.label or card.flip.sample}: ${shot.title}" class="${"tiny" if shot.is_tiny else ""}">
% else:
          <div class="blank"><span>no picture${f": {words.shorten(shot.reason, 120)}" if shot.reason else ""}</span></div>
% endif
          <figcaption>${shot.title}</figcaption>
        </figure>
% endfor
      </div>
% if card.overlays:
      <div class="shots n2 overlays">
% for title, overlay_chart, said in card.overlays:
        <figure>
          ${overlay_chart | n}
          <figcaption>${title}\
% if said:
<br><bdi>${words.shorten(said, 80)}</bdi>\
% endif
</figcaption>
        </figure>
% endfor
      </div>
% endif
% if card.changes:
% for what, change in card.changes:
      <p class="caption">${what} <b>${change}</b></p>
% endfor
% if card.is_outlined:
      <p class="caption">The truth is dashed or outlined.</p>
% endif
% else:
      <div class="sides">
${answer_list("As the manifest says", card.before)}
${answer_list("With the edit", card.after)}
      </div>
% endif
      <p class="caption">${card.caption}</p>
      <p class="sample" title="${card.flip.sample}"><bdi>${card.flip.sample}</bdi></p>
    </li>
% endfor
  </ol>
% if listed:
  <details><summary>The other ${words.plural(len(listed), "sample")} with another answer</summary>
    <div class="scroll" role="region" aria-label="Samples with another answer" tabindex="0">
    <table class="flips">
      <thead><tr><th scope="col">Sample</th><th scope="col">It is</th><th scope="col">As the manifest says</th><th scope="col">With the edit</th><th scope="col"></th></tr></thead>
      <tbody>
% for flip in listed:
        <tr><td><code><bdi>${flip.sample}</bdi></code></td><td><bdi>${flip.label or "–"}</bdi></td>\
% for answer in both_ways(flip, evidence):
<td><bdi>${answer}</bdi></td>\
% endfor
<td class="muted">${flip.spelled}</td></tr>
% endfor
      </tbody>
    </table>
    </div>
% if left_out:
    <p class="muted">${words.count(left_out)} more are in the JSON.</p>
% endif
  </details>
% endif
</section>
% endif
% if first_rows:
<section id="candidates" aria-labelledby="candidates-title">
  <h2 id="candidates-title">What was tried</h2>
  <p class="about">Each variant is one small edit of the plan. The stripe is the claim, the thin line the number as the manifest says, the dot what the variant would measure on all samples, as far as is known. Variants that could not reach the claim any more were dropped (grey) before they had seen all samples.\
% if cost:
 The search over <b>${words.plural(len(first_rows) + len(more_rows), "variant")}</b> took <b>${cost} evaluations</b> of the dataset: \
${", ".join(f"{words.plural(variants, 'variant')} on {words.plural(samples, 'sample')}" for samples, variants in rounds)}.\
% endif
</p>
  <div class="panel scroll" role="region" aria-labelledby="candidates-title" tabindex="0">
${candidate_table(first_rows)}
% if more_rows:
    <details><summary>The other ${words.plural(len(more_rows), "variant")}</summary>
${candidate_table(more_rows)}
    </details>
% endif
  </div>
</section>
% endif
<section id="again" aria-labelledby="again-title">
  <h2 id="again-title">Run it again</h2>
  <pre class="command" tabindex="0" aria-label="Command"><code>${command}</code></pre>
  <p class="about">Plan <code class="digest">${record.plan_digest}</code>. The record <code>${record.id}</code> has it in full: <code>mlmodelscope report ${record.id}</code>.</p>
</section>
</main>
<footer>
Written by MLModelScope ${record.worker_version} from record <code>${record.id}</code>. This file is complete in itself:
it loads nothing from anywhere and runs no script.
</footer>
</div>
</body>
</html>
