/** Latencies of all records over one another: how often each took how long. */
import * as Plot from "@observablehq/plot";
import { useCallback, useMemo } from "react";
import type { Schemas } from "../../api/client";
import { digits, percent } from "../../lib/format";
import { colours } from "../../lib/series";
import { ChartCard } from "../../ui/chart-card";

interface Bin {
  record: string;
  from_ms: number;
  to_ms: number;
  share: number;
}

export function Spread({ comparison }: { comparison: Schemas["Comparison"] }) {
  const { latencies, records } = comparison;
  const data = useMemo(() => bins(comparison), [comparison]);
  const legend = useMemo(() => colours(records.map((each) => each.name)), [records]);
  const grows = latencies?.logarithmic ?? false;
  const draw = useCallback((width: number) => plot(data, grows, legend, width), [data, grows, legend]);
  if (!latencies) return null;
  const longer = latencies.items.filter((each) => each.longer > 0);
  return (
    <ChartCard
      title="Latencies"
      name="latencies"
      about={
        longer.length
          ? `The slowest few are not drawn; the longest took ${digits(1000 * Math.max(...longer.map((each) => each.longest_s)))} ms.`
          : "Share of the calls that took so long."
      }
      legend={legend}
      data={data}
      columns={[
        { title: "Record", cell: (row) => row.record },
        { title: "From, ms", right: true, cell: (row) => digits(row.from_ms) },
        { title: "To, ms", right: true, cell: (row) => digits(row.to_ms) },
        { title: "Share", right: true, cell: (row) => percent(row.share, 1) },
      ]}
      draw={draw}
    />
  );
}

function bins({ latencies, records }: Schemas["Comparison"]): Bin[] {
  const named = new Map(records.map((each) => [each.id, each.name]));
  return (latencies?.items ?? []).flatMap((each) =>
    each.shares.map((share, place) => ({
      record: named.get(each.record) ?? each.record,
      from_ms: 1000 * latencies!.edges_s[place]!,
      to_ms: 1000 * latencies!.edges_s[place + 1]!,
      share,
    })),
  );
}

function plot(data: Bin[], grows: boolean, legend: { domain: string[]; range: string[] }, width: number) {
  return Plot.plot({
    width,
    height: 260,
    marginLeft: 48,
    ariaLabel: "Latencies of the records, laid over one another",
    ariaDescription: "Share of the calls against milliseconds",
    x: { label: "ms", type: grows ? "log" : "linear" },
    y: { label: "share of the calls", percent: true, grid: true },
    color: { type: "categorical", ...legend },
    marks: [
      Plot.rect(data, { x1: "from_ms", x2: "to_ms", y1: 0, y2: "share", fill: "record", fillOpacity: 0.28 }),
      Plot.line(data, {
        x: "from_ms",
        y: "share",
        stroke: "record",
        strokeWidth: 1.5,
        curve: "step-after",
        title: (each: Bin) =>
          `${each.record}\n${digits(each.from_ms)} … ${digits(each.to_ms)} ms: ${percent(each.share, 1)}`,
        tip: true,
      }),
      Plot.ruleY([0]),
    ],
  });
}
