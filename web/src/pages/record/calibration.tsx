import * as Plot from "@observablehq/plot";
import { useCallback, useMemo } from "react";
import { wilson } from "../../lib/wilson";
import { Chart } from "../../ui/chart";

interface Bin {
  low: number;
  high: number;
  count: number;
  confidence: number;
  accuracy: number;
}

/** Bars on the line: accurate as often as it says. The whiskers show how little a bin of few samples tells. */
export default function Calibration({ bins, name }: { bins: readonly Bin[]; name: string }) {
  const rows = useMemo(
    () =>
      bins.map((bin) => {
        const [least, most] = wilson(bin.accuracy, bin.count);
        return { ...bin, least, most, middle: (bin.low + bin.high) / 2 };
      }),
    [bins],
  );
  const draw = useCallback(
    (width: number) => {
      const seen = rows.filter((row) => row.count > 0);
      return Plot.plot({
        width,
        height: 260,
        marginTop: 40,
        x: { label: "confidence, %", domain: [0, 100], percent: true },
        y: { label: "accuracy, %", domain: [0, 100], percent: true, grid: true },
        marks: [
          Plot.rect(seen, {
            x1: "low",
            x2: "high",
            y1: 0,
            y2: "accuracy",
            fill: "var(--accent)",
            fillOpacity: 0.75,
            insetLeft: 1,
            insetRight: 1,
          }),
          Plot.line(
            [
              [0, 0],
              [1, 1],
            ],
            { stroke: "var(--warn)", strokeDasharray: "3,3" },
          ),
          Plot.ruleX(seen, { x: "middle", y1: "least", y2: "most", stroke: "var(--ink)", strokeWidth: 1.5 }),
          Plot.text(seen, {
            x: "middle",
            text: (row: Bin) => row.count.toLocaleString("en", { notation: "compact" }),
            frameAnchor: "top",
            dy: -12,
            fill: "var(--muted)",
            fontSize: width < 420 ? 8 : 10,
          }),
          Plot.ruleY([0]),
        ],
      });
    },
    [rows],
  );
  return (
    <>
      <Chart name={`confidence-${name}`} data={rows} draw={draw} />
      <p className="mt-3 text-xs text-muted">
        Above each bar: how many samples it stands for. Vertical lines: 95 % intervals of the accuracy. Dashed line:
        where confidence and accuracy are the same.
      </p>
    </>
  );
}
