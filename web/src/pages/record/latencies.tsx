import * as Plot from "@observablehq/plot";
import { useCallback, useMemo } from "react";
import type { Schemas } from "../../api/client";
import { reach, tick } from "../../lib/axis";
import { Chart } from "../../ui/chart";

export default function Latencies({ latency, name }: { latency: Schemas["LatencyRecord"]; name: string }) {
  const times = useMemo(() => latency.raw_ns.map((ns) => ({ ms: ns / 1e6 })), [latency]);
  const marks = useMemo(
    () =>
      (
        [
          ["median", latency.p50_s],
          ["90 %", latency.p90_s],
          ["99 %", latency.p99_s],
        ] as const
      ).map(([said, each]) => ({ said, ms: 1000 * each.value })),
    [latency],
  );
  const draw = useCallback(
    (width: number) => {
      const domain = reach([...times, ...marks].map((each) => each.ms));
      const bins = Plot.binX({ y: "count" }, { x: { value: "ms", domain, thresholds: 40 } });
      return Plot.plot({
        width,
        height: 240,
        marginTop: 46,
        x: { label: "milliseconds", domain, tickFormat: tick },
        y: { label: "runs", grid: true },
        marks: [
          Plot.rectY(times, { ...bins, fill: "var(--accent)" }),
          Plot.ruleX(marks, { x: "ms", stroke: "var(--warn)", strokeDasharray: "3,3" }),
          // Each on a line of its own: they are often close to one another.
          ...marks.map((mark, place) =>
            Plot.text([mark], { x: "ms", text: "said", frameAnchor: "top", dy: 12 * place - 34, fill: "var(--warn)" }),
          ),
          Plot.ruleY([0]),
        ],
      });
    },
    [times, marks],
  );
  return <Chart name={`latency-${name}`} data={times} draw={draw} />;
}
