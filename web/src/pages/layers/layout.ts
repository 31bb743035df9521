/** Places for the nodes of a graph whose edges go forward: in ranks from above to below, with few crossings. */

export interface Placed {
  /** Middle of each node, by its place. */
  x: number[];
  rank: number[];
  /** For each edge the points that it passes, ranks between its ends. */
  bends: { x: number; rank: number }[][];
  width: number;
  ranks: number;
}

const NODE = 176;
const BEND = 18;
const SWEEPS = 4;
/** Edges that skip many ranks are drawn straight when there would be more points than this. */
const MOST_BENDS = 4000;

interface Cell {
  width: number;
  rank: number;
  up: number[];
  down: number[];
  x: number;
}

export function layout(count: number, edges: readonly { from: number; to: number }[]): Placed {
  const rank = ranksOf(count, edges);
  const cells: Cell[] = rank.map((each) => ({ width: NODE, rank: each, up: [], down: [], x: 0 }));
  const chains = edges.map((edge) => chain(cells, edge.from, edge.to));
  const rows: number[][] = Array.from({ length: Math.max(0, ...rank) + 1 }, () => []);
  cells.forEach((cell, place) => rows[cell.rank]!.push(place));
  untangle(rows, cells);
  for (const way of ["up", "down", "up"] as const) straighten(rows, cells, way);
  const left = Math.min(0, ...cells.map((cell) => cell.x - cell.width / 2));
  const right = Math.max(0, ...cells.map((cell) => cell.x + cell.width / 2));
  return {
    x: cells.slice(0, count).map((cell) => cell.x - left),
    rank,
    bends: chains.map((places) => places.map((place) => ({ x: cells[place]!.x - left, rank: cells[place]!.rank }))),
    width: right - left,
    ranks: rows.length,
  };
}

/** How many edges lie at most above each node. */
export function ranksOf(count: number, edges: readonly { from: number; to: number }[]): number[] {
  const rank = new Array<number>(count).fill(0);
  const sorted = [...edges].sort((one, two) => one.from - two.from);
  for (const { from, to } of sorted) rank[to] = Math.max(rank[to]!, rank[from]! + 1);
  return rank;
}

/** The bends that an edge needs in the ranks between its ends, as cells of their own. */
function chain(cells: Cell[], from: number, to: number): number[] {
  const found: number[] = [];
  let above = from;
  const isShort = cells.length > MOST_BENDS;
  for (let rank = cells[from]!.rank + 1; rank < cells[to]!.rank && !isShort; rank += 1) {
    const place = cells.length;
    cells.push({ width: BEND, rank, up: [], down: [], x: 0 });
    join(cells, above, place);
    found.push(place);
    above = place;
  }
  join(cells, above, to);
  return found;
}

function join(cells: Cell[], above: number, below: number): void {
  cells[above]!.down.push(below);
  cells[below]!.up.push(above);
}

/** Within its rank each cell comes to where its neighbors are, from above and from below in turn. */
function untangle(rows: number[][], cells: readonly Cell[]): void {
  const at = new Array<number>(cells.length).fill(0);
  const note = (row: readonly number[]) => row.forEach((place, index) => (at[place] = index));
  rows.forEach(note);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const way = sweep % 2 === 0 ? "up" : "down";
    for (const row of way === "up" ? rows : [...rows].reverse()) {
      const wanted = new Map(
        row.map((place) => [
          place,
          mean(
            cells[place]![way].map((each) => at[each]!),
            at[place]!,
          ),
        ]),
      );
      row.sort((one, two) => wanted.get(one)! - wanted.get(two)!);
      note(row);
    }
  }
}

/** Each cell comes as near to the middle of its neighbors as the order of its rank allows. */
function straighten(rows: readonly number[][], cells: readonly Cell[], way: "up" | "down"): void {
  for (const row of way === "up" ? rows : [...rows].reverse()) {
    const places: number[] = [];
    let edge = 0;
    for (const [index, place] of row.entries()) {
      const { width } = cells[place]!;
      edge += index ? width / 2 + cells[row[index - 1]!]!.width / 2 + BEND : 0;
      places.push(edge);
    }
    const wanted = row.map(
      (place, index) =>
        mean(
          cells[place]![way].map((each) => cells[each]!.x),
          cells[place]!.x,
        ) - places[index]!,
    );
    rising(wanted).forEach((value, index) => (cells[row[index]!]!.x = value + places[index]!));
  }
}

/** The rising numbers that are nearest to these, by the sum of squares. */
export function rising(values: readonly number[]): number[] {
  const pools: { sum: number; count: number }[] = [];
  for (const value of values) {
    let pool = { sum: value, count: 1 };
    for (let last = pools.at(-1); last && last.sum / last.count > pool.sum / pool.count; last = pools.at(-1)) {
      pool = { sum: pool.sum + last.sum, count: pool.count + last.count };
      pools.pop();
    }
    pools.push(pool);
  }
  return pools.flatMap(({ sum, count }) => new Array<number>(count).fill(sum / count));
}

const mean = (values: readonly number[], otherwise: number): number =>
  values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : otherwise;
