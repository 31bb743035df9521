/** Where the cells of the heat map lie, and which colour they have: rows are pitfalls, cells are the values tried. */
import type { Schemas } from "../../api/client";

export type Cost = Schemas["Cost"];

export interface Row {
  pitfall: string;
  title: string;
  costs: Cost[];
}

/** The costliest pitfall first, and in it the costliest value. Values that make the same answers stay apart. */
export function rowsOf(costs: readonly Cost[]): Row[] {
  const rows = new Map<string, Row>();
  for (const cost of costs) {
    const row = rows.get(cost.pitfall) ?? { pitfall: cost.pitfall, title: cost.title, costs: [] };
    row.costs.push(cost);
    rows.set(cost.pitfall, row);
  }
  const found = [...rows.values()];
  for (const row of found) row.costs.sort((one, two) => one.difference - two.difference);
  return found.sort((one, two) => one.costs[0]!.difference - two.costs[0]!.difference);
}

/** How strong a colour is, from -1 (worst) to 1 (best); a small change is still seen beside a large one. */
export function strength(difference: number, largest: number): number {
  if (!largest || !difference) return 0;
  return Math.sign(difference) * Math.sqrt(Math.min(1, Math.abs(difference) / largest));
}

export interface Cell {
  cost: Cost;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Layout {
  height: number;
  heads: { row: Row; y: number }[];
  cells: Cell[];
}

const GAP = 3;
const CELL = { width: 128, height: 62 };

/** On a narrow page the name of a row stands above its cells, and cells go on in the next line. */
export function layout(rows: readonly Row[], width: number): Layout {
  const narrow = width < 640;
  const left = narrow ? 0 : 200;
  const across = Math.max(1, Math.floor((width - left + GAP) / (CELL.width + GAP)));
  const size = (width - left + GAP) / across - GAP;
  const heads: Layout["heads"] = [];
  const cells: Cell[] = [];
  let y = 0;
  for (const row of rows) {
    heads.push({ row, y });
    const top = narrow ? y + 22 : y;
    row.costs.forEach((cost, at) => {
      const line = Math.floor(at / across);
      const x = left + (at % across) * (size + GAP);
      cells.push({ cost, x, y: top + line * (CELL.height + GAP), width: size, height: CELL.height });
    });
    y = top + Math.ceil(row.costs.length / across) * (CELL.height + GAP) + 8;
  }
  return { height: y, heads, cells };
}

/** A text in at most two lines that fit; what is too long ends with dots. */
export function twoLines(text: string, fits: (line: string) => boolean): string[] {
  const words = text.replaceAll("`", "").split(" ");
  let first = words.shift()!;
  while (words.length && fits(`${first} ${words[0]}`)) first += ` ${words.shift()}`;
  return [first, ...(words.length ? [words.join(" ")] : [])].map((line) => shortened(line, fits));
}

function shortened(line: string, fits: (line: string) => boolean): string {
  if (fits(line)) return line;
  let end = line.length - 1;
  while (end > 1 && !fits(`${line.slice(0, end).trimEnd()}…`)) end -= 1;
  return `${line.slice(0, end).trimEnd()}…`;
}

/** Percentage points with a sign. */
export function points(share: number): string {
  const value = 100 * share;
  return Math.abs(value) < 0.005 ? "0" : `${value > 0 ? "+" : "−"}${Math.abs(value).toFixed(1)}`;
}
