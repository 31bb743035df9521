<section id="numbers" aria-labelledby="numbers-title">
  <h2 id="numbers-title" class="quiet">Key numbers</h2>
  <div class="cards">
% for name, number in headline.items():
    <article class="card wide">
      <h3>${words.headed(name)}</h3>
% if number is not None:
<% value, _, unit = words.measured_value(number).partition("\N{NO-BREAK SPACE}") %>
      <p class="figure">${value}<small>${unit}</small></p>
% if words.measured_range(number):
      <p class="beside">95 % interval<br><b>${words.measured_range(number)}</b></p>
% endif
      ${interval_charts.get(name, "") | n}
% else:
      <p class="figure none">–</p>
      <p class="refused">Not computed: ${words.shorten(record.refused.get(name, "no data"))}</p>
% endif
    </article>
% endfor
% for name, number in numbers.items():
    <article class="card">
      <h3>${words.headed(name)}</h3>
<% value, _, unit = words.measured_value(number).partition("\N{NO-BREAK SPACE}") %>
      <p class="figure">${value}<small>${unit}</small></p>
% if words.measured_range(number):
      <p class="under">95 % interval ${words.measured_range(number)}</p>
% endif
    </article>
% endfor
    <article class="card">
      <h3>Samples</h3>
      <p class="figure">${words.count(record.samples)}</p>
      <p class="under">\
% if record.failed:
<strong class="alarm">${words.count(record.failed)} failed</strong>, not in the accuracy\
% else:
none failed\
% endif
% if plan.dataset.subset.count is not None:
; chosen${f" from {words.count(plan.dataset.size)}" if plan.dataset.size else ""}\
 by seed ${plan.dataset.subset.seed}${", each class its share" if plan.dataset.subset.stratified else ""}\
% endif
</p>
    </article>
    <article class="card">
      <h3>Latency, median</h3>
% if record.latency:
<% number, _, unit = words.duration(record.latency.p50_s.value).partition("\N{NO-BREAK SPACE}") %>
      <p class="figure">${number}<small>${unit}</small></p>
      <p class="under">95 % interval ${words.duration_range(record.latency.p50_s)}, batch of ${record.latency.batch_size}\
% if record.latency.batch_size > 1:
; ${words.duration(record.latency.p50_s.value / record.latency.batch_size)} a sample\
% endif
</p>
% else:
      <p class="figure none">–</p>
      <p class="under">not measured</p>
% endif
    </article>
    <article class="card">
      <h3>Throughput</h3>
% if words.throughput(record):
      <p class="figure">${words.throughput(record)}<small>samples/s</small></p>
      <p class="under">whole pipeline, decoding included</p>
% else:
      <p class="figure none">–</p>
      <p class="under">not measured</p>
% endif
    </article>
  </div>
% if listed:
  <div class="panel measures">
    <h3>All measures</h3>
    <div class="scroll">
    <table>
      <thead><tr><th scope="col">Measure</th><th scope="col" class="number">Value</th><th scope="col" class="number">95 % interval</th><th scope="col" class="words">What it is</th></tr></thead>
      <tbody>
% for name, number in listed.items():
% if number is not None:
        <tr><th scope="row">${words.headed(name)}</th><td class="number">${words.measured_value(number)}</td><td class="number muted">${words.measured_range(number)}</td><td class="words muted">${about_measure(name)}</td></tr>
% endif
% endfor
      </tbody>
    </table>
    </div>
  </div>
% endif
</section>
