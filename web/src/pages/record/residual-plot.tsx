/** Numbers that were answered over those that are true, or how far they are off. */
import * as Plot from "@observablehq/plot";
import { useCallback, useMemo } from "react";
import type { Schemas } from "../../api/client";
import { spelled } from "../../lib/parts";
import { Chart } from "../../ui/chart";

interface Props {
  found: Schemas["Residuals"];
  kind: "predicted" | "residual";
  name: string;
}

export default function ResidualPlot({ found, kind, name }: Props) {
  const rows = useMemo(() => {
    const named = new Set(found.largest.map(({ sample, place }) => `${place} ${sample}`));
    return found.points.map((each) => ({
      ...each,
      residual: each.answer - each.truth,
      is_far: named.has(`${each.place} ${each.sample}`),
    }));
  }, [found]);
  const draw = useCallback(
    (width: number) => {
      const ends = rows.flatMap(({ truth, answer }) => [truth, answer]);
      const line = [Math.min(...ends), Math.max(...ends)];
      const isAlike = kind === "predicted" && found.has_residuals;
      return Plot.plot({
        width,
        height: 280,
        marginTop: 28,
        marginLeft: 56,
        x: { label: "true", nice: true, grid: true },
        y: { label: kind === "predicted" ? "predicted" : "predicted less true", nice: true, grid: true },
        marks: [
          isAlike
            ? Plot.line(line, { x: (each) => each, y: (each) => each, stroke: "var(--muted)", strokeDasharray: "4,4" })
            : null,
          kind === "residual" ? Plot.ruleY([0], { stroke: "var(--muted)", strokeDasharray: "4,4" }) : null,
          Plot.dot(rows, {
            x: "truth",
            y: kind === "predicted" ? "answer" : "residual",
            r: (each) => (each.is_far ? 4.5 : 3),
            fill: (each) => (each.is_far ? "var(--series-b)" : "var(--accent)"),
            fillOpacity: 0.6,
            sort: "is_far",
            title: (each) => `${each.sample}: true ${spelled(each.truth)}, predicted ${spelled(each.answer)}`,
          }),
        ],
        r: { type: "identity" },
        color: { type: "identity" },
      });
    },
    [rows, kind, found.has_residuals],
  );
  return <Chart name={`${kind}-${name}`} data={rows} draw={draw} />;
}
