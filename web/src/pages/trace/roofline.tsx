/** Layers or kernels under the machine's roof: left of the ridge memory holds them up, right of it arithmetic. */
import * as Plot from "@observablehq/plot";
import { useCallback, useMemo } from "react";
import type { Schemas } from "../../api/client";
import { digits, time } from "../../lib/format";
import { colours } from "../../lib/series";
import { ChartCard } from "../../ui/chart-card";
import { large } from "./cells";

interface Mark {
  name: string;
  type: string;
  time_ns: number;
  intensity: number;
  gflops_per_s: number;
  /** Why it lies above the roof; empty below it. */
  faster: string;
}

const FASTER: Record<string, string> = {
  cache: "its bytes came from a cache",
  "above the roof": "faster than the best that was measured",
};

export function Roofline({
  analysis,
  peak,
}: {
  analysis: Schemas["TraceAnalysis"];
  peak: Schemas["MachinePeak"] | null;
}) {
  const data = useMemo(() => marks(analysis), [analysis]);
  const legend = useMemo(() => commonest(data), [data]);
  const draw = useCallback(
    (width: number) => plot(data, peak, legend, analysis.title, width),
    [data, peak, legend, analysis.title],
  );
  if (!data.length) return null;
  return (
    <ChartCard
      title={analysis.title}
      name={`roofline-${analysis.id}`}
      about={analysis.notes.join("; ")}
      legend={legend}
      data={data}
      columns={[
        { title: "Name", cell: (row) => <span className="block min-w-36 [overflow-wrap:anywhere]">{row.name}</span> },
        { title: "Type", cell: (row) => row.type },
        { title: "Time", right: true, cell: (row) => time(row.time_ns) },
        { title: "flop/byte", right: true, cell: (row) => digits(row.intensity) },
        { title: "Speed", right: true, cell: (row) => `${large(1e9 * row.gflops_per_s)}flop/s` },
        { title: "Above the roof", cell: (row) => row.faster },
      ]}
      draw={draw}
    />
  );
}

function marks({ columns, rows }: Schemas["TraceAnalysis"]): Mark[] {
  const at = (name: string) => columns.findIndex((column) => column.name === name);
  const names = ["name", "group", "time_ns", "intensity", "flops_per_s", "bound"];
  const [name, type, spent, intensity, speed, bound] = names.map(at);
  return rows
    .map((row) => ({
      name: String(row[name!]),
      type: String(row[type!]),
      time_ns: Number(row[spent!]),
      intensity: Number(row[intensity!]),
      gflops_per_s: Number(row[speed!]) / 1e9,
      faster: FASTER[String(row[bound!])] ?? "",
    }))
    .filter((each) => each.intensity > 0 && each.gflops_per_s > 0);
}

/** Types that take most time have colours of their own; kernels are often of a hundred names. */
function commonest(data: readonly Mark[]): { domain: string[]; range: string[] } {
  const spent = new Map<string, number>();
  for (const { type, time_ns } of data) spent.set(type, (spent.get(type) ?? 0) + time_ns);
  return colours(
    [...spent]
      .sort((one, two) => two[1] - one[1])
      .map(([type]) => type)
      .slice(0, 6),
  );
}

function plot(
  data: Mark[],
  peak: Schemas["MachinePeak"] | null,
  legend: { domain: string[]; range: string[] },
  title: string,
  width: number,
) {
  const across = data.map((each) => each.intensity);
  const low = Math.min(...across, peak?.intensity ?? Infinity) / 2;
  const high = Math.max(...across, peak?.intensity ?? 0) * 2;
  const roof = peak
    ? [low, peak.intensity, high].map((x) => ({ x, y: Math.min(x * peak.bytes_per_s, peak.flops_per_s) / 1e9 }))
    : [];
  const dots = {
    x: "intensity",
    y: "gflops_per_s",
    r: "time_ns",
    title: (each: Mark) =>
      `${each.name}\n${each.type}, ${time(each.time_ns)}\n${large(1e9 * each.gflops_per_s)}flop/s at ${digits(each.intensity)} flop/byte${each.faster && `\n${each.faster}`}`,
    tip: true,
  };
  return Plot.plot({
    width,
    height: 380,
    marginLeft: 56,
    ariaLabel: title,
    ariaDescription: "Speed in billions of operations a second against operations for each byte, both logarithmic",
    x: { type: "log", label: "operations for each byte", domain: [low, high], grid: true },
    y: { type: "log", label: "Gflop/s", grid: true },
    r: { range: [2.5, 14] },
    color: { type: "categorical", ...legend, unknown: "var(--series-h)" },
    marks: [
      Plot.line(roof, { x: "x", y: "y", stroke: "currentColor", strokeWidth: 2 }),
      Plot.dot(
        data.filter((each) => !each.faster),
        { ...dots, fill: "type", fillOpacity: 0.65, stroke: "var(--card)", strokeWidth: 0.5 },
      ),
      // Hollow, because no roof that was measured is theirs.
      Plot.dot(
        data.filter((each) => each.faster),
        { ...dots, fill: "type", fillOpacity: 0.08, stroke: "type", strokeDasharray: "3 2" },
      ),
    ],
  });
}
