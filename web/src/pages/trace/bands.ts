/** Where the rows of a timeline lie on the canvas: rows of a level and lane together, under their name. */
import type { Schemas } from "../../api/client";

type Row = Schemas["TimelineRow"];

export const ROW = 18;
export const GAP = 2;
export const HEAD = 18;
export const AXIS = 24;

export interface Band {
  name: string;
  level: string;
  top: number;
  spans: number;
}

export interface Layout {
  bands: Band[];
  /** Top of each row that is shown, by its number. */
  tops: Map<number, number>;
  height: number;
}

const NAMES: Record<string, string> = {
  application: "Application",
  model: "Model and its steps",
  framework: "Layers",
  library: "Library calls and kernels",
  hardware: "Hardware",
};
export const LEVELS = ["application", "model", "framework", "library", "hardware"] as const;
export type Level = (typeof LEVELS)[number];

export function levelName(level: string): string {
  return NAMES[level] ?? level;
}

export function layOut(rows: readonly Row[], level?: string): Layout {
  const deepest = level ? LEVELS.indexOf(level as Level) : LEVELS.length - 1;
  const bands: Band[] = [];
  const tops = new Map<number, number>();
  let top = AXIS;
  let last = "";
  rows.forEach((row, place) => {
    if (LEVELS.indexOf(row.level as Level) > deepest) return;
    const key = `${row.level} ${row.lane}`;
    if (key !== last) {
      top += bands.length ? 6 : 0;
      const name = row.lane ? `${levelName(row.level)}, ${row.lane}` : levelName(row.level);
      bands.push({ name, level: row.level, top, spans: 0 });
      top += HEAD;
      last = key;
    }
    bands.at(-1)!.spans += row.spans;
    tops.set(place, top);
    top += ROW + GAP;
  });
  return { bands, tops, height: top + 6 };
}

/** Which row is at a height; null between them. */
export function rowAt({ tops }: Layout, y: number): number | null {
  for (const [place, top] of tops) if (y >= top && y < top + ROW + GAP) return place;
  return null;
}
