<header>
  <div class="brand">
    <svg width="30" height="16" viewBox="0 0 30 16" aria-hidden="true"><path d="M1 2v12M29 2v12M1 8h28"/><circle cx="17" cy="8" r="5"/></svg>
    <span>MLModelScope</span>
    <span class="status">${"training" if record.training else "evaluation"} ${record.status}</span>
  </div>
  <h1>
    <span class="who">${plan.model.name}<span class="version">@${plan.model.version}</span></span>
    <span class="on">on</span>
    <span class="who">${plan.dataset.name}<span class="version">@${plan.dataset.version}</span></span>
  </h1>
  <p class="lede">${lede}</p>
  <dl class="facts">
    <div><dt>Date</dt><dd><time datetime="${record.created_at.isoformat()}">${f"{record.created_at:%d %B %Y, %H:%M}".lstrip("0")} UTC</time></dd></div>
    <div><dt>Record</dt><dd><code>${record.id}</code></dd></div>
    <div><dt>Predictor</dt><dd>${predictor}</dd></div>
    <div><dt>Machine</dt><dd>${record.machine.cpu}, ${words.plural(record.machine.cores, "core")}</dd></div>
  </dl>
% if record.notes:
  <aside class="note" aria-label="Notes">
    <h2>Before you believe the numbers</h2>
    <ul>
% for note in record.notes:
      <li><bdi>${words.shorten(note)}</bdi></li>
% endfor
    </ul>
  </aside>
% endif
  <nav aria-label="Sections">
% for anchor, name in sections:
    <a href="#${anchor}">${name}</a>
% endfor
  </nav>
</header>
