/** A bench as pictures: latency by percentile, what each run of a scenario reached, and how a cold start is spent. */
import * as Plot from "@observablehq/plot";
import { useCallback, useMemo } from "react";
import type { Schemas } from "../../api/client";
import { tick } from "../../lib/axis";
import { Chart } from "../../ui/chart";
import { Legend } from "../../ui/chart-card";
import type { Interval } from "./numbers";

type Load = Schemas["LoadRecord"];
const LEFT = 56;

export function PercentileChart({ load, name }: { load: Load; name: string }) {
  const rows = useMemo(
    () =>
      (Object.entries(load.percentiles_s) as [string, Interval][]).map(([percentile, each]) => ({
        percentile,
        ms: 1000 * each.value,
        low: 1000 * each.low,
        high: 1000 * each.high,
      })),
    [load],
  );
  const draw = useCallback(
    (width: number) =>
      Plot.plot({
        width,
        height: Math.max(140, 34 * rows.length + 50),
        marginLeft: LEFT,
        x: { label: "latency, milliseconds (95 % interval)", tickFormat: tick, grid: true, zero: true },
        y: { label: null, domain: rows.map((row) => row.percentile) },
        marks: [
          Plot.ruleX([0]),
          Plot.ruleY(rows, { y: "percentile", x1: "low", x2: "high", stroke: "var(--accent)", strokeWidth: 4 }),
          Plot.dot(rows, { y: "percentile", x: "ms", r: 4, fill: "var(--ink)" }),
        ],
      }),
    [rows],
  );
  return <Chart name={`percentiles-${name}`} data={rows} draw={draw} />;
}

/** What the runs differ in: the batch of a sweep, the arrivals of a search for the highest rate, else their number. */
const BY: { [kind: string]: { title: string; of: (run: Load, place: number) => number } } = {
  batch: { title: "batch size", of: (run) => run.batch_size },
  rate: { title: "queries that arrived in a second", of: (run) => run.rate_qps ?? 0 },
  run: { title: "run", of: (_, place) => place + 1 },
};

function kindOf(runs: readonly Load[]): string {
  if (new Set(runs.map((run) => run.batch_size)).size > 1) return "batch";
  const rates = new Set(runs.map((run) => run.rate_qps));
  return rates.size > 1 && !rates.has(null) && !rates.has(undefined) ? "rate" : "run";
}

export function RunsChart({ runs, name }: { runs: readonly Load[]; name: string }) {
  const by = BY[kindOf(runs)]!;
  const rows = useMemo(
    () =>
      runs
        .map((run, place) => ({
          at: by.of(run, place),
          samples_per_s: run.samples_per_s,
          p50_ms: toMs(run.percentiles_s.p50),
          p99_ms: toMs(run.percentiles_s.p99),
        }))
        .sort((one, two) => one.at - two.at),
    [runs, by],
  );
  const common = useCallback(
    (width: number) => ({
      width,
      height: 200,
      marginLeft: LEFT,
      marginTop: 28,
      x: { label: by.title, type: "point" as const, domain: [...new Set(rows.map((row) => row.at))], tickFormat: tick },
    }),
    [rows, by],
  );
  const throughput = useCallback(
    (width: number) =>
      Plot.plot({
        ...common(width),
        y: { label: "samples a second", grid: true, zero: true, tickFormat: tick },
        marks: [
          Plot.ruleY([0]),
          Plot.line(rows, { x: "at", y: "samples_per_s", stroke: "var(--accent)" }),
          Plot.dot(rows, { x: "at", y: "samples_per_s", fill: "var(--accent)" }),
        ],
      }),
    [rows, common],
  );
  const latency = useCallback(
    (width: number) =>
      Plot.plot({
        ...common(width),
        y: { label: "milliseconds", grid: true, zero: true, tickFormat: tick },
        marks: [
          Plot.ruleY([0]),
          ...(["p50_ms", "p99_ms"] as const).flatMap((which, at) => {
            const known = rows.filter((row) => row[which] !== null);
            const stroke = PAIR.range[at];
            return [
              Plot.line(known, { x: "at", y: which, stroke }),
              Plot.dot(known, { x: "at", y: which, fill: stroke }),
            ];
          }),
        ],
      }),
    [rows, common],
  );
  return (
    <div className="mb-4 grid gap-6 lg:grid-cols-2">
      <div>
        <h3 className="mb-2 text-sm font-medium">Throughput by {by.title}</h3>
        <Chart name={`throughput-${name}`} data={rows} draw={throughput} />
      </div>
      <div>
        <h3 className="mb-2 text-sm font-medium">Latency by {by.title}</h3>
        <Legend {...PAIR} />
        <Chart name={`latency-by-run-${name}`} data={rows} draw={latency} />
      </div>
    </div>
  );
}

const PAIR = { domain: ["median", "99th percentile"], range: ["var(--accent)", "var(--warn)"] };
const toMs = (each: { value: number } | undefined): number | null => (each ? 1000 * each.value : null);

const PARTS = { domain: ["start", "load", "first call"], range: ["var(--muted)", "var(--accent)", "var(--warn)"] };

export function ColdChart({ starts, name }: { starts: readonly Schemas["ColdStart"][]; name: string }) {
  const rows = useMemo(
    () =>
      starts.flatMap((start, place) =>
        ([start.start_s, start.load_s, start.first_s] as const).map((seconds, part) => ({
          process: place + 1,
          part: PARTS.domain[part]!,
          seconds,
        })),
      ),
    [starts],
  );
  const draw = useCallback(
    (width: number) =>
      Plot.plot({
        width,
        height: Math.max(120, 30 * starts.length + 50),
        marginLeft: LEFT,
        color: PARTS,
        x: { label: "seconds", grid: true, tickFormat: tick },
        y: { label: "process", tickFormat: tick, type: "band" },
        marks: [Plot.barX(rows, { x: "seconds", y: "process", fill: "part" }), Plot.ruleX([0])],
      }),
    [rows, starts],
  );
  return (
    <div className="mb-4">
      <Legend {...PARTS} />
      <Chart name={`cold-${name}`} data={rows} draw={draw} />
    </div>
  );
}
