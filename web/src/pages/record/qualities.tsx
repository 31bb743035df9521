import * as Plot from "@observablehq/plot";
import { useCallback, useMemo } from "react";
import { Chart } from "../../ui/chart";

/** How many samples have which quality. */
export default function Qualities({ counts, name }: { counts: readonly number[]; name: string }) {
  const bins = useMemo(
    () => counts.map((samples, at) => ({ from: at / counts.length, to: (at + 1) / counts.length, samples })),
    [counts],
  );
  const draw = useCallback(
    (width: number) =>
      Plot.plot({
        width,
        height: 240,
        marginTop: 28,
        x: { label: "quality, %", domain: [0, 100], percent: true },
        y: { label: "samples", grid: true },
        marks: [
          Plot.rect(bins, { x1: "from", x2: "to", y1: 0, y2: "samples", fill: "var(--accent)", inset: 0.5 }),
          Plot.ruleY([0]),
        ],
      }),
    [bins],
  );
  return <Chart name={`quality-${name}`} data={bins} draw={draw} />;
}
