/** Numbers that were answered over those that are true, or how far they are off. */
import * as Plot from "@observablehq/plot";
import { useCallback, useMemo } from "react";
import type { Schemas } from "../../api/client";
import { reach, tick } from "../../lib/axis";
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
      const line = reach(ends);
      const drawn = kind === "predicted" ? "answer" : "residual";
      const isAlike = kind === "predicted" && found.has_residuals;
      const across = isAlike ? line : reach(rows.map(({ truth }) => truth));
      const zero = kind === "residual" ? [0] : [];
      const upward = isAlike ? line : reach([...zero, ...rows.map((each) => each[drawn])]);
      return Plot.plot({
        width,
        height: 280,
        marginTop: 28,
        marginLeft: 56,
        x: { label: "true", domain: across, tickFormat: tick, nice: true, grid: true },
        y: {
          label: kind === "predicted" ? "predicted" : "predicted less true",
          domain: upward,
          tickFormat: tick,
          nice: true,
          grid: true,
        },
        marks: [
          isAlike
            ? Plot.line(line, { x: (each) => each, y: (each) => each, stroke: "var(--muted)", strokeDasharray: "4,4" })
            : null,
          kind === "residual" ? Plot.ruleY([0], { stroke: "var(--muted)", strokeDasharray: "4,4" }) : null,
          Plot.dot(rows, {
            x: "truth",
            y: drawn,
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
