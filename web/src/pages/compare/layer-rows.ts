/** What the charts of layers draw, as plain rows. */
import type { Schemas } from "../../api/client";

type Layers = Schemas["LayersApart"];
type Names = [string, string];

export interface Piece {
  side: string;
  layer: string;
  kind: string;
  from_ms: number;
  to_ms: number;
}

export function pieces(of: Layers, names: Names): Piece[] {
  return of.runs.flatMap((run, place) =>
    run.layers.map((layer) => ({
      side: names[place]!,
      layer: layer.name,
      kind: layer.kind,
      from_ms: layer.start_ns / 1e6,
      to_ms: layer.end_ns / 1e6,
    })),
  );
}

export interface Bar {
  what: string;
  side: string;
  ms: number;
}

export function byKind(of: Layers, names: Names, count = 10): Bar[] {
  const both = [...of.kinds].sort((one, two) => two.first_ns + two.second_ns - one.first_ns - one.second_ns);
  return both.slice(0, count).flatMap((each) => bars(each.kind, each.first_ns, each.second_ns, names));
}

export function most(of: Layers, names: Names, count = 8): Bar[] {
  const apart = of.layers.filter((each) => each.difference_ns);
  apart.sort((one, two) => Math.abs(two.difference_ns) - Math.abs(one.difference_ns));
  return apart.slice(0, count).flatMap((each, place) => {
    const known = [...new Set([each.first, each.second].filter((name) => name !== null))].join(" / ");
    return bars(`${place + 1}. ${known}`, each.first_ns ?? 0, each.second_ns ?? 0, names);
  });
}

function bars(what: string, first: number, second: number, names: Names): Bar[] {
  return [
    { what, side: names[0], ms: first / 1e6 },
    { what, side: names[1], ms: second / 1e6 },
  ];
}
