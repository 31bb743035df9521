import * as Plot from "@observablehq/plot";
import { useCallback } from "react";
import { Chart } from "../../ui/chart";

interface Point {
  recall: number;
  precision: number;
}

/** The area below the line is the average precision. */
export default function PrecisionRecall({ points, name }: { points: readonly Point[]; name: string }) {
  const draw = useCallback(
    (width: number) =>
      Plot.plot({
        width,
        height: 240,
        marginTop: 28,
        x: { label: "recall, %", domain: [0, 100], percent: true },
        y: { label: "precision, %", domain: [0, 100], percent: true, grid: true },
        marks: [
          Plot.areaY(points, { x: "recall", y: "precision", fill: "var(--accent-soft)" }),
          Plot.lineY(points, { x: "recall", y: "precision", stroke: "var(--accent)", strokeWidth: 2 }),
          Plot.ruleY([0]),
        ],
      }),
    [points],
  );
  return <Chart name={`precision-recall-${name}`} data={points} draw={draw} />;
}
