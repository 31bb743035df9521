<section id="latency" aria-labelledby="latency-title">
  <h2 id="latency-title">Latency</h2>
% if record.latency:
  <p class="about">${latency_sentence}</p>
  <div class="split">
    <figure class="panel">
      ${latency_chart | n}
      <figcaption>Duration of a call in ${words.time_unit(record.latency.p50_s.value)[1]}</figcaption>
    </figure>
    <div class="scroll" role="region" aria-labelledby="latency-title" tabindex="0">
    <table>
      <thead><tr><th scope="col"><span class="hidden">Number</span></th><th scope="col" class="number">Duration</th><th scope="col" class="number">95 % interval</th></tr></thead>
      <tbody>
% for name, number, interval in latency_rows:
        <tr><th scope="row">${name}</th><td class="number">${number}</td><td class="number muted">${interval}</td></tr>
% endfor
% if record.load_s is not None:
        <tr><th scope="row">loading the model</th><td class="number">${words.duration(record.load_s)}</td><td></td></tr>
% endif
      </tbody>
    </table>
    </div>
  </div>
% else:
  <p class="about">Latency was not measured.</p>
% endif
</section>
