<section id="numbers" aria-labelledby="numbers-title">
  <h2 id="numbers-title" class="quiet">Key numbers</h2>
  <div class="cards">
% for name, shown in words.METRIC_NAMES.items():
<% number = record.metrics[name] %>
    <article class="card wide">
      <h3>${shown.capitalize()} accuracy</h3>
% if number is not None:
      <p class="figure">${f"{100 * number.value:.{words.digits_of(number)}f}"}<small>%</small></p>
      <p class="beside">95 % interval<br><b>${words.percent_range(number)}</b></p>
      ${interval_charts[name] | n}
% else:
      <p class="figure none">–</p>
      <p class="refused">Not computed: ${words.shorten(record.metrics.refused.get(name, "no data"))}</p>
% endif
    </article>
% endfor
% for name, number in record.metrics.more.items():
    <article class="card">
      <h3>${name}</h3>
      <p class="figure">${words.number_value(number)}</p>
% if words.number_range(number):
      <p class="under">95 % interval ${words.number_range(number)}</p>
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
</section>
