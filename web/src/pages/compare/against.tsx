/** Accuracy against speed, bubbles as large as the models; the line joins those that no other one beats in both. */
import * as Plot from "@observablehq/plot";
import { useCallback, useMemo } from "react";
import type { Schemas } from "../../api/client";
import { reach, tick } from "../../lib/axis";
import { bytes, digits } from "../../lib/format";
import { ChartCard } from "../../ui/chart-card";
import { accuracyOf, type Point, points } from "./points";

interface Props {
  of: Schemas["OverviewTable"];
  speed: "latency" | "throughput";
  legend: { domain: string[]; range: string[] };
}

export function Against({ of, speed, legend }: Props) {
  const data = useMemo(() => points(of.rows, speed), [of, speed]);
  const unit = speed === "latency" ? "ms" : "samples/s";
  const title = speed === "latency" ? "Accuracy and online latency" : "Accuracy and maximum throughput";
  const measure = useMemo(() => accuracyOf(of.rows), [of]);
  const named = measure.symbol ? `${measure.title}, ${measure.symbol}` : measure.title;
  const draw = useCallback(
    (width: number) => plot(data, title, unit, named, legend, width),
    [data, title, unit, named, legend],
  );
  if (!data.length) return null;
  return (
    <ChartCard
      title={title}
      name={`accuracy-${speed}`}
      about={`${of.dataset}. Bubble: graph size. Bars: 95 % interval. Line: no other model is more accurate and faster.`}
      legend={legend}
      data={data}
      columns={[
        { title: "Model", cell: (row) => row.model },
        { title: "System", cell: (row) => row.system },
        { title: unit, right: true, cell: (row) => digits(row.speed) },
        { title: measure.title, right: true, cell: (row) => `${digits(row.accuracy)} ${measure.symbol}`.trim() },
        { title: "Graph", right: true, cell: (row) => bytes(row.size_bytes) },
      ]}
      draw={draw}
    />
  );
}

function plot(data: Point[], title: string, unit: string, accuracy: string, legend: Props["legend"], width: number) {
  const speeds = data.map((each) => each.speed);
  const heights = data.flatMap((each) => [each.accuracy, each.low ?? each.accuracy, each.high ?? each.accuracy]);
  const wide = Math.max(...speeds) > 5 * Math.min(...speeds);
  const front = data.filter((each) => each.on_front).sort((one, two) => one.speed - two.speed);
  const names = (each: Point) => `${each.model}\n${each.system}\n${bytes(each.size_bytes)}`;
  return Plot.plot({
    width,
    height: 320,
    marginLeft: 44,
    marginRight: 20,
    insetLeft: 44,
    insetRight: 60,
    insetTop: 18,
    ariaLabel: title,
    ariaDescription: `${accuracy} against ${unit}, ${data.length} points`,
    x: { label: unit, type: wide ? "log" : "linear", domain: reach(speeds), tickFormat: tick, grid: true, nice: true },
    y: { label: accuracy, domain: reach(heights), tickFormat: tick, grid: true, nice: true },
    r: { range: [5, 16], domain: [0, Math.max(...data.map((each) => each.size_bytes ?? 0), 1)] },
    color: { type: "categorical", ...legend },
    marks: [
      Plot.ruleX(data, {
        x: "speed",
        y1: "low",
        y2: "high",
        stroke: "system",
        strokeOpacity: 0.45,
      }),
      front.length > 1
        ? Plot.line(front, { x: "speed", y: "accuracy", stroke: "var(--muted)", strokeDasharray: "4 3" })
        : null,
      Plot.dot(data, {
        x: "speed",
        y: "accuracy",
        r: (each: Point) => each.size_bytes ?? 0,
        fill: "system",
        fillOpacity: 0.75,
        stroke: "var(--card)",
        title: names,
        tip: true,
      }),
      Plot.text(data, {
        x: "speed",
        y: "accuracy",
        text: "model",
        dy: -20,
        fill: "currentColor",
        fontSize: 11,
      }),
    ],
  });
}
