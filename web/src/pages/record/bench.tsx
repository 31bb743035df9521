/** How fast it was under load, and whether that can be believed. */
import { lazy, Suspense } from "react";
import type { Schemas } from "../../api/client";
import { bytes, digits, plural } from "../../lib/format";
import { Badge, Card, Fact, Facts, Figure, Waiting } from "../../ui/parts";
import { Table } from "../../ui/table";
import { type Interval, seconds, spanOf } from "./numbers";

type Load = Schemas["LoadRecord"];

const PercentileChart = lazy(() => import("./bench-charts").then((each) => ({ default: each.PercentileChart })));
const RunsChart = lazy(() => import("./bench-charts").then((each) => ({ default: each.RunsChart })));
const ColdChart = lazy(() => import("./bench-charts").then((each) => ({ default: each.ColdChart })));

export function Bench({ bench, name }: { bench: Schemas["BenchRecord"]; name: string }) {
  const measured = bench.measured;
  const median = measured?.percentiles_s.p50;
  const tail = measured?.percentiles_s.p99;
  const tokens = measured?.tokens;
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
        {measured && (
          <Figure
            name="Throughput"
            value={`${digits(bench.throughput?.value ?? measured.samples_per_s)} /s`}
            beside={
              bench.throughput
                ? `95 % in ${digits(bench.throughput.low)} – ${digits(bench.throughput.high)} samples a second`
                : "samples a second"
            }
          />
        )}
        {median && (
          <Figure
            name="Latency, median"
            value={seconds(median.value)}
            beside={`95 % in ${spanOf(median as Interval)}`}
          />
        )}
        {tail && (
          <Figure
            name="Latency, 99 of 100"
            value={seconds(tail.value)}
            beside={`95 % in ${spanOf(tail as Interval)}`}
          />
        )}
        {bench.sweep && <Figure name="Best batch size" value={bench.sweep.optimal_batch} beside={bench.sweep.ended} />}
        {tokens && tokens.written > 0 && (
          <Figure
            name="Tokens a second"
            value={digits(tokens.written_per_s)}
            beside={tokens.first_mean_s == null ? "" : `the first after ${seconds(tokens.first_mean_s)}, on average`}
          />
        )}
        {bench.rate && (
          <Figure
            name="Most queries a second"
            value={bench.rate.rate_qps == null ? "none" : digits(bench.rate.rate_qps)}
            beside={`${100 * bench.rate.percentile} % within ${[
              ...(bench.rate.bound_s == null ? [] : [seconds(bench.rate.bound_s)]),
              ...bench.bounds.map((bound) => `${bound.what} ${seconds(bound.bound_s)}`),
            ].join(", ")}`}
          />
        )}
      </div>
      <Stability of={bench.stability} />
      {measured && <Percentiles load={measured} name={name} />}
      <Card title="How it was measured" aside={bench.ended}>
        <Facts>
          <Fact name="Scenario">{bench.scenario}</Fact>
          <Fact name="A query is">{bench.end_to_end ? "the whole pipeline" : "the framework's call"}</Fact>
          <Fact name="Queries">{measured ? measured.queries.toLocaleString("en") : "–"}</Fact>
          <Fact name="Batch size">{measured?.batch_size ?? "–"}</Fact>
          <Fact name="Warm-up">{plural(bench.warm_up_queries, "query").replace("querys", "queries")}</Fact>
          <Fact name="Steady before">{bench.steady == null ? "–" : bench.steady ? "yes" : "no"}</Fact>
          <Fact name="Most memory">{bytes(measured?.peak_memory_bytes)}</Fact>
          <Fact name="Processor time">
            {measured?.cpu_s_per_sample == null ? "–" : `${seconds(measured.cpu_s_per_sample)} a sample`}
          </Fact>
          {measured?.rate_qps != null && <Fact name="Arrivals">{`${digits(measured.rate_qps)} a second`}</Fact>}
          {Object.entries(measured?.energy_j_per_sample ?? {}).map(([meter, joules]) => (
            <Fact key={meter} name={`Energy, ${meter}`}>{`${digits(joules)} J a sample`}</Fact>
          ))}
        </Facts>
      </Card>
      {bench.runs.length > 1 && <Runs runs={bench.runs} name={name} />}
      {bench.cold.length > 0 && <Cold starts={bench.cold} name={name} />}
    </>
  );
}

function Stability({ of }: { of: Schemas["Stability"] }) {
  const stable = of.verdict === "stable";
  return (
    <div className={`rounded-xl border border-line p-5 text-sm ${stable ? "bg-good-soft" : "bg-warn-soft"}`}>
      <p className={`font-medium ${stable ? "text-good" : "text-warn"}`}>
        {stable
          ? "The machine was quiet enough to believe these numbers."
          : "Unstable: these numbers are noisy, because"}
      </p>
      {of.because.length > 0 && (
        <ul className="mt-1 list-disc pl-5">
          {of.because.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Percentiles({ load, name }: { load: Load; name: string }) {
  const rows = Object.entries(load.percentiles_s) as [string, Interval][];
  return (
    <Card title="Latency by percentile" aside={`mean ${seconds(load.mean_s)}`}>
      {rows.length > 0 && (
        <Suspense fallback={<Waiting />}>
          <div className="mb-4">
            <PercentileChart load={load} name={name} />
          </div>
        </Suspense>
      )}
      <Table
        name="Latency by percentile"
        rows={rows}
        identity={([name]) => name}
        columns={[
          { title: "Percentile", cell: ([name]) => name },
          { title: "Latency", right: true, cell: ([, each]) => seconds(each.value) },
          { title: "95 % interval", right: true, cell: ([, each]) => spanOf(each) },
        ]}
      />
      {Object.entries(load.refused).map(([name, reason]) => (
        <p key={name} className="mt-2 text-sm text-muted">{`${name}: ${reason}`}</p>
      ))}
    </Card>
  );
}

function Runs({ runs, name }: { runs: readonly Load[]; name: string }) {
  return (
    <Card title="Runs">
      <Suspense fallback={<Waiting />}>
        <RunsChart runs={runs} name={name} />
      </Suspense>
      <Table
        name="Runs"
        rows={runs.map((run, place) => ({ ...run, place }))}
        identity={(run) => String(run.place)}
        columns={[
          { title: "Run", cell: (run) => run.place + 1 },
          { title: "Batch", right: true, cell: (run) => run.batch_size },
          { title: "Queries", right: true, cell: (run) => run.queries.toLocaleString("en") },
          { title: "Samples/s", right: true, cell: (run) => digits(run.samples_per_s) },
          { title: "Median", right: true, cell: (run) => seconds(run.percentiles_s.p50?.value) },
          { title: "p99", right: true, cell: (run) => seconds(run.percentiles_s.p99?.value) },
          {
            title: "Left over",
            right: true,
            cell: (run) => (run.unanswered ? <Badge tone="bad">{run.unanswered}</Badge> : "none"),
          },
        ]}
      />
    </Card>
  );
}

function Cold({ starts, name }: { starts: readonly Schemas["ColdStart"][]; name: string }) {
  return (
    <Card title="From nothing to the first answer">
      <Suspense fallback={<Waiting />}>
        <ColdChart starts={starts} name={name} />
      </Suspense>
      <Table
        name="Cold starts"
        rows={starts.map((start, place) => ({ ...start, place }))}
        identity={(start) => String(start.place)}
        columns={[
          { title: "Process", cell: (start) => start.place + 1 },
          { title: "Start", right: true, cell: (start) => seconds(start.start_s) },
          { title: "Load", right: true, cell: (start) => seconds(start.load_s) },
          { title: "First call", right: true, cell: (start) => seconds(start.first_s) },
          { title: "Second", right: true, cell: (start) => seconds(start.second_s) },
          { title: "Steady", right: true, cell: (start) => seconds(start.steady_s) },
        ]}
      />
    </Card>
  );
}
