/** Where the cells of the heat map lie, and which colour they have: rows are pitfalls, cells are the values tried. */
import type { Schemas } from "../../api/client";
import { plural } from "../../lib/format";
import { spelled, unitOf } from "../../lib/measured";

export type Cost = Schemas["Cost"];

/** Which way a number gets better. */
export type Better = "higher" | "lower";

/** A change, positive where it is for the better. */
export const gain = (difference: number, better: Better): number => (better === "lower" ? -difference : difference);

export interface Row {
  pitfall: string;
  title: string;
  costs: Cost[];
}

/** The costliest pitfall first, and in it the costliest value. Values that make the same answers stay apart. */
export function rowsOf(costs: readonly Cost[], better: Better = "higher"): Row[] {
  const rows = new Map<string, Row>();
  for (const cost of costs) {
    const row = rows.get(cost.pitfall) ?? { pitfall: cost.pitfall, title: cost.title, costs: [] };
    row.costs.push(cost);
    rows.set(cost.pitfall, row);
  }
  const found = [...rows.values()];
  const worseFirst = (one: Cost, two: Cost) => gain(one.difference, better) - gain(two.difference, better);
  for (const row of found) row.costs.sort(worseFirst);
  return found.sort((one, two) => worseFirst(one.costs[0]!, two.costs[0]!));
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
const CELL = { width: 128, height: 76 };

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

/** A change with its sign: percentage points of a share, decibels or a bare number as they are. */
export function change(difference: number, unit: string): string {
  const { symbol, factor } = unitOf(unit);
  const value = factor * difference;
  const [least, places] = symbol === "%" ? [0.005, 1] : symbol ? [0.0005, 3] : [0.00005, 4];
  return Math.abs(value) < least ? "0" : `${value > 0 ? "+" : "−"}${Math.abs(value).toFixed(places)}`;
}

/** What stands largest in a cell. Not one other answer is more than a number that stays the same. */
export const headline = (cost: Cost, unit: string): string =>
  cost.idle ? "same answers" : change(cost.difference, unit);

/** How sure the change is, or how many answers are other ones where the number is the same by chance. */
export function spread(cost: Cost, unit: string): string {
  if (cost.idle) return `all ${cost.samples.toLocaleString("en")}`;
  const [low, high] = [change(cost.difference_low, unit), change(cost.difference_high, unit)];
  return low === high ? `${plural(cost.flips, "answer")} changed` : `${low} to ${high}`;
}

/** A number of its own unit; one without a unit, such as SSIM, differs in digits that are else cut off. */
export const told = (value: number, unit: string): string =>
  unitOf(unit).symbol ? spelled(value, unit) : value.toFixed(4);

/** How likely a change is by chance; 0 is what is left of less than a computer can tell. */
export const chance = (p: number): string => (p >= 0.01 ? p.toFixed(2) : p > 0 ? p.toExponential(1) : "<1e-15");

/** What changes are counted in. */
export function counted(unit: string): string {
  const { symbol } = unitOf(unit);
  return symbol === "%" ? "points" : symbol;
}
