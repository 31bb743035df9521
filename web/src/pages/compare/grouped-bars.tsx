/** Two bars for each thing, one under the other, so that long names have room. */
import * as Plot from "@observablehq/plot";
import { useCallback, useMemo } from "react";
import { digits } from "../../lib/format";
import { colours } from "../../lib/series";
import { cut } from "../../lib/svg";
import { ChartCard } from "../../ui/chart-card";
import type { Bar } from "./layer-rows";

interface Props {
  title: string;
  name: string;
  data: Bar[];
  names: [string, string];
}

export function GroupedBars({ title, name, data, names }: Props) {
  const legend = useMemo(() => colours(names), [names]);
  const draw = useCallback(
    (width: number) => {
      const things = [...new Set(data.map((each) => each.what))];
      return Plot.plot({
        width,
        height: 34 + things.length * 52,
        marginTop: 24,
        marginLeft: 8,
        marginRight: 60,
        ariaLabel: title,
        ariaDescription: `Milliseconds of ${names.join(" and ")}, two bars for each`,
        x: { axis: null, label: "ms" },
        y: { axis: null, domain: names, padding: 0.1 },
        fy: { domain: things, axis: null, padding: 0.42 },
        color: { type: "categorical", ...legend },
        marks: [
          Plot.barX(data, {
            x: "ms",
            y: "side",
            fy: "what",
            fill: "side",
            rx: 2,
            title: (each: Bar) => `${each.what}\n${each.side}: ${digits(each.ms)} ms`,
            tip: true,
          }),
          Plot.text(data, {
            x: "ms",
            y: "side",
            fy: "what",
            text: (each: Bar) => (each.ms ? `${digits(each.ms)} ms` : "–"),
            textAnchor: "start",
            dx: 4,
            fontSize: 10,
            fill: "currentColor",
          }),
          Plot.text(things, {
            fy: (thing: string) => thing,
            text: (thing: string) => cut(thing, width - 20),
            frameAnchor: "top-left",
            dy: -14,
            fontSize: 11,
            fill: "currentColor",
          }),
        ],
      });
    },
    [data, legend, names, title],
  );
  if (!data.length) return null;
  return (
    <ChartCard
      title={title}
      name={name}
      legend={legend}
      data={data}
      columns={[
        { title: "Layer", cell: (row) => <span className="block min-w-36 [overflow-wrap:anywhere]">{row.what}</span> },
        { title: "Of", cell: (row) => row.side },
        { title: "ms", right: true, cell: (row) => digits(row.ms) },
      ]}
      draw={draw}
    />
  );
}
