/** Two profiles, layer by layer: a run of each on one scale, and which kinds and layers make the difference. */
import * as Plot from "@observablehq/plot";
import { Link } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import type { Schemas } from "../../api/client";
import { digits, time } from "../../lib/format";
import { colours, series } from "../../lib/series";
import { cut } from "../../lib/svg";
import { Card } from "../../ui/parts";
import { ChartCard } from "../../ui/chart-card";
import { Table } from "../../ui/table";
import { GroupedBars } from "./grouped-bars";
import { byKind, most, type Piece, pieces } from "./layer-rows";

type Names = [string, string];

export function Layers({ of, names }: { of: Schemas["LayersApart"]; names: Names }) {
  const kinds = useMemo(() => byKind(of, names), [of, names]);
  const largest = useMemo(() => most(of, names), [of, names]);
  return (
    <>
      <Card
        title="Layer by layer"
        aside={
          <Link to="/traces/compare" search={{ left: of.runs[0]?.trace, right: of.runs[1]?.trace }}>
            both timelines
          </Link>
        }
      >
        <p className="text-lg">
          The layers of the second take {of.ratio == null ? "–" : digits(of.ratio)} times as long: {time(of.first_ns)}{" "}
          and {time(of.second_ns)}.
        </p>
        <p className="mt-1 text-sm text-muted">
          Layers are paired by {of.paired_by}; each time is the median of a few profiled runs.
        </p>
      </Card>
      <Runs of={of} names={names} />
      <div className="grid gap-6 *:min-w-0 lg:grid-cols-2">
        <GroupedBars title="Time by kind of layer" name="layer-kinds" data={kinds} names={names} />
        <GroupedBars title="Layers that make most of the difference" name="layers-apart" data={largest} names={names} />
      </div>
      <Card title="All layers" aside={`${of.total} pairs`}>
        <div className="max-h-[32rem] overflow-y-auto">
          <Table
            name="All layers"
            rows={of.layers.map((layer, place) => ({ ...layer, place }))}
            identity={(row) => String(row.place)}
            columns={[
              {
                title: "First",
                cell: (row) => <span className="block min-w-36 [overflow-wrap:anywhere]">{row.first ?? "–"}</span>,
              },
              {
                title: "Second",
                cell: (row) => <span className="block min-w-36 [overflow-wrap:anywhere]">{row.second ?? "–"}</span>,
              },
              { title: "Kind", cell: (row) => row.kind },
              { title: "Time, first", right: true, cell: (row) => time(row.first_ns) },
              { title: "Time, second", right: true, cell: (row) => time(row.second_ns) },
              {
                title: "Difference",
                right: true,
                cell: (row) => `${row.difference_ns > 0 ? "+" : ""}${time(row.difference_ns)}`,
              },
            ]}
          />
        </div>
      </Card>
    </>
  );
}

function Runs({ of, names }: { of: Schemas["LayersApart"]; names: Names }) {
  const data = useMemo(() => pieces(of, names), [of, names]);
  const legend = useMemo(() => commonest(data), [data]);
  const draw = useCallback(
    (width: number) =>
      Plot.plot({
        width,
        height: 250,
        marginLeft: 12,
        marginTop: 14,
        ariaLabel: "One run of each, layer behind layer",
        ariaDescription: "Layers as pieces of two bars on one scale of milliseconds, colored by kind",
        x: { label: "time in layers, ms", grid: true },
        y: { type: "band", domain: names, label: null, axis: null, padding: 0.5 },
        color: { type: "categorical", ...legend, unknown: series(7) },
        marks: [
          Plot.rect(data, {
            x1: "from_ms",
            x2: "to_ms",
            y: "side",
            fill: "kind",
            insetRight: data.length < 400 ? 0.5 : 0,
            title: (each: Piece) => `${each.layer}\n${each.kind}, ${digits(each.to_ms - each.from_ms)} ms`,
            tip: true,
          }),
          Plot.text(names, {
            y: (name: string) => name,
            frameAnchor: "left",
            textAnchor: "start",
            dy: -34,
            fontSize: 12,
            text: (name: string) => cut(name, width - 24, 12),
            fill: "currentColor",
          }),
        ],
      }),
    [data, names, legend],
  );
  return (
    <ChartCard
      title="One run of each, layer behind layer"
      name="layer-runs"
      legend={legend}
      data={data}
      columns={[
        { title: "Of", cell: (row) => row.side },
        { title: "Layer", cell: (row) => <span className="block min-w-36 [overflow-wrap:anywhere]">{row.layer}</span> },
        { title: "Kind", cell: (row) => row.kind },
        { title: "From, ms", right: true, cell: (row) => row.from_ms.toFixed(3) },
        { title: "To, ms", right: true, cell: (row) => row.to_ms.toFixed(3) },
      ]}
      draw={draw}
    />
  );
}

/** The kinds that take most time have colours; the others share one. */
function commonest(data: readonly Piece[]): { domain: string[]; range: string[] } {
  const spent = new Map<string, number>();
  for (const { kind, from_ms, to_ms } of data) spent.set(kind, (spent.get(kind) ?? 0) + to_ms - from_ms);
  return colours(
    [...spent]
      .sort((one, two) => two[1] - one[1])
      .map(([kind]) => kind)
      .slice(0, 7),
  );
}
