/** How many times as fast each batch size is as the smallest one. */
import * as Plot from "@observablehq/plot";
import { useCallback, useMemo } from "react";
import type { Schemas } from "../../api/client";
import { digits } from "../../lib/format";
import { cut } from "../../lib/svg";
import { ChartCard } from "../../ui/chart-card";
import { type Cell, cells } from "./points";

export function HeatMap({ of }: { of: Schemas["OverviewTable"] }) {
  const data = useMemo(() => cells(of.rows), [of]);
  const draw = useCallback((width: number) => plot(data, width), [data]);
  if (!data.length) return null;
  return (
    <ChartCard
      title="Throughput over batch size"
      name="speed-up"
      about={`${of.dataset}. Times as many samples a second as with the smallest batch.`}
      data={data}
      columns={[
        { title: "Model", cell: (row) => row.name },
        { title: "Batch", right: true, cell: (row) => row.batch_size },
        { title: "Samples/s", right: true, cell: (row) => digits(row.samples_per_s) },
        { title: "Speed-up", right: true, cell: (row) => `× ${digits(row.speed_up)}` },
      ]}
      draw={draw}
    />
  );
}

function plot(data: Cell[], width: number) {
  const names = [...new Set(data.map((each) => each.name))];
  const most = Math.max(...data.map((each) => each.speed_up));
  const least = Math.min(...data.map((each) => each.speed_up));
  const strength = (each: Cell) => 0.08 + (0.52 * (each.speed_up - least)) / (most - least || 1);
  const narrow = width < 520;
  return Plot.plot({
    width,
    height: 46 + names.length * (narrow ? 60 : 38),
    marginLeft: narrow ? 10 : Math.min(260, 30 + 7 * Math.max(...names.map((name) => name.length))),
    marginTop: 26,
    marginBottom: 20,
    ariaLabel: "Speed-up over batch size",
    ariaDescription: `${names.length} models, batch sizes in columns; numbers are times the smallest batch`,
    x: { type: "band", label: "batch size", axis: "top", tickSize: 0 },
    y: {
      type: "band",
      label: null,
      domain: names,
      axis: narrow ? null : "left",
      tickSize: 0,
      padding: narrow ? 0.45 : 0.1,
    },
    marks: [
      Plot.cell(data, {
        x: "batch_size",
        y: "name",
        fill: "var(--accent)",
        fillOpacity: strength,
        inset: 1.5,
        rx: 4,
        title: (each: Cell) =>
          `${each.name}, batch ${each.batch_size}\n${digits(each.samples_per_s)} samples/s, × ${digits(each.speed_up)}`,
        tip: true,
      }),
      Plot.text(data, {
        x: "batch_size",
        y: "name",
        text: (each: Cell) => digits(each.speed_up),
        fill: "currentColor",
        fontSize: 12,
      }),
      narrow
        ? Plot.text(names, {
            y: (name: string) => name,
            text: (name: string) => cut(name, width - 20),
            frameAnchor: "left",
            dy: -24,
            dx: 2,
            textAnchor: "start",
            fontSize: 11,
            fill: "currentColor",
          })
        : null,
    ],
  });
}
