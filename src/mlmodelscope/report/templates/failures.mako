% if record.failed:
  <h3 id="failed">${words.plural(record.failed, "failed sample").capitalize()}</h3>
  <div class="scroll" role="region" aria-labelledby="failed" tabindex="0">
  <table class="failures">
    <thead><tr><th scope="col">Sample</th><th scope="col">Reason</th></tr></thead>
    <tbody>
% for failure in record.failures:
      <tr><td><code><bdi>${words.shorten(failure.sample)}</bdi></code></td><td><bdi>${words.shorten(failure.reason)}</bdi></td></tr>
% endfor
    </tbody>
  </table>
  </div>
% if record.failed > len(record.failures):
  <p class="muted">These are the first ${len(record.failures)}; all are in the CSV report.</p>
% endif
% endif
