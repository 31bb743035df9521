import * as Plot from "@observablehq/plot";
import { useCallback, useMemo } from "react";
import type { Schemas } from "../../api/client";
import { reach, tick } from "../../lib/axis";
import { Chart } from "../../ui/chart";

export default function Curve({ points }: { points: readonly Schemas["CurvePoint"][] }) {
  const rows = useMemo(
    () =>
      points.flatMap((point) =>
        Object.entries(point.metrics).map(([metric, value]) => ({ seconds: point.wall_s, metric, value })),
      ),
    [points],
  );
  const draw = useCallback(
    (width: number) =>
      Plot.plot({
        width,
        height: 240,
        x: { label: "seconds", domain: reach(rows.map((each) => each.seconds)), tickFormat: tick },
        y: { domain: reach(rows.map((each) => each.value)), tickFormat: tick, grid: true },
        color: { legend: true },
        marks: [
          Plot.lineY(rows, { x: "seconds", y: "value", stroke: "metric" }),
          Plot.dot(rows, { x: "seconds", y: "value", fill: "metric", r: 2 }),
        ],
      }),
    [rows],
  );
  return <Chart name="training" data={rows} draw={draw} />;
}
