<%def name="document(each)">
        <li class="${"relevant" if each.gain > 0 else "other"}"><span class="rank">${each.rank}</span><div><p dir="auto">${each.text or each.id}</p><small>${"relevant" if each.gain > 0 else "not relevant"}${f", gain {each.gain:g}" if each.gain not in (0, 1) else ""}${f", similarity {each.similarity:.3f}" if each.similarity is not None else ""} · <bdi>${words.shorten(each.id, 60)}</bdi></small></div></li>
</%def>
<section id="neighbors" aria-labelledby="neighbors-title">
  <h2 id="neighbors-title">Nearest documents</h2>
  <p class="about">\
% if neighbors.total > len(neighbors.queries):
The ${words.count(len(neighbors.queries))} ${"query" if len(neighbors.queries) == 1 else "queries"} with the lowest nDCG@10, of ${words.count(neighbors.total)}\
% else:
${"The only query" if neighbors.total == 1 else f"All {words.count(neighbors.total)} queries, the lowest nDCG@10 first"}\
% endif
, with the nearest of ${words.plural(neighbors.documents, "document")} of <bdi>${plan.dataset.name}</bdi>.</p>
% for at, query in enumerate(neighbors.queries):
  <details class="panel query"${" open" if at == 0 else ""}>
    <summary><span dir="auto">${query.text or query.id}</span> <small>nDCG@10 ${words.percent(query.ndcg)} · ${words.plural(query.relevant, "relevant document")}</small></summary>
    <ol class="nearest">
% for each in query.best:
${document(each)}
% endfor
    </ol>
% if query.missed:
    <p class="muted">Relevant, and further away:</p>
    <ol class="nearest">
% for each in query.missed:
${document(each)}
% endfor
    </ol>
% endif
  </details>
% endfor
</section>
