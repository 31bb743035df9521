<%def name="facts(rows)">
    <table class="facts-table"><tbody>
% for name, text in rows:
      <tr><th scope="row"><bdi>${name}</bdi></th><td><bdi>${text}</bdi></td></tr>
% endfor
    </tbody></table>
</%def>
<section id="again" aria-labelledby="again-title">
  <h2 id="again-title">Run it again</h2>
  <pre class="command" tabindex="0" aria-label="Command"><code>${command}</code></pre>
% if timing:
  <p class="about">Latency was measured with <code>${timing}</code>, which is said in Python, not on the command line.</p>
% endif
  <p class="about">Plan <code class="digest">${record.plan_digest}</code><br>
  Seed ${plan.seed}; seed of the choice of samples ${plan.dataset.subset.seed}. The plan says all that the answers depend on.</p>
  <div class="split even">
    <div class="panel"><h3>Software</h3>${facts(software)}
% if record.stack:
      <details><summary>All ${words.plural(len(record.stack.packages), "package")} of the stack</summary>
      <p class="packages">${", ".join(f"{name} {version}" for name, version in sorted(record.stack.packages.items()))}</p>
      </details>
% endif
    </div>
    <div class="panel"><h3>Machine</h3>${facts(machine)}</div>
  </div>
  <h3 id="files-title">Files</h3>
  <ul class="files">
% for file in files:
    <li>
      <b>${file.role}</b>
      <code class="digest">sha256:${file.sha256}</code>
% if file.url.startswith(("https://", "http://")):
      <a href="${file.url}" rel="noopener noreferrer nofollow">${file.url}</a>
% else:
      <span><bdi>${file.url}</bdi></span>
% endif
    </li>
% endfor
  </ul>
  <details><summary>The complete plan</summary>
    <pre class="plan" tabindex="0" aria-label="Plan as JSON"><code>${plan_json}</code></pre>
  </details>
</section>
