import * as Plot from "@observablehq/plot";
import { useCallback } from "react";
import { Chart } from "../../ui/chart";

interface Bin {
  low: number;
  high: number;
  count: number;
  confidence: number;
  accuracy: number;
}

/** Bars on the line: it is right as often as it says; below the line: it is too sure of itself. */
export default function Calibration({ bins, name }: { bins: readonly Bin[]; name: string }) {
  const draw = useCallback(
    (width: number) =>
      Plot.plot({
        width,
        height: 240,
        marginTop: 28,
        x: { label: "how sure it was, %", domain: [0, 100], percent: true },
        y: { label: "how often it was right, %", domain: [0, 100], percent: true, grid: true },
        marks: [
          Plot.rect(bins, {
            x1: "low",
            x2: "high",
            y1: 0,
            y2: "accuracy",
            fill: "var(--accent)",
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
          Plot.ruleY([0]),
        ],
      }),
    [bins],
  );
  return <Chart name={`confidence-${name}`} data={bins} draw={draw} />;
}
