import * as Plot from "@observablehq/plot";
import { Chart } from "../../ui/chart";

export default function Latencies({ raw }: { raw: number[] }) {
  const times = raw.map((ns) => ({ ms: ns / 1e6 }));
  return (
    <Chart
      name="latency"
      data={times}
      draw={(width) =>
        Plot.plot({
          width,
          height: 220,
          x: { label: "ms" },
          y: { label: "runs", grid: true },
          marks: [
            Plot.rectY(times, { ...Plot.binX({ y: "count" }, { x: "ms", thresholds: 40 }), fill: "var(--accent)" }),
            Plot.ruleY([0]),
          ],
        })
      }
    />
  );
}
