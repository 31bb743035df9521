/** What the overview's charts draw, as plain rows. */
import type { Schemas } from "../../api/client";

type Row = Schemas["OverviewRow"];

/** What to call an entry's stack and machine, as far as these differ. */
export function systemOf(rows: readonly Row[]): (row: Row) => string {
  const one = new Set(rows.map((row) => row.machine)).size === 1;
  return (row) => (one ? row.stack : `${row.stack} on ${row.machine}`);
}

export interface Point {
  model: string;
  system: string;
  /** Milliseconds, or samples a second. */
  speed: number;
  top1_percent: number;
  low_percent: number | null;
  high_percent: number | null;
  size_bytes: number | null;
  on_front: boolean;
}

/** Samples of an accuracy, and of how many where they are not all. */
export function samples(of: Schemas["OverviewNumber"], total: number | null): string {
  const count = of.samples.toLocaleString("en");
  if (of.whole) return count;
  return total ? `${count} of ${total.toLocaleString("en")}` : `${count}, not all`;
}

/** Only rows whose accuracies are over the same samples. */
export function points(rows: readonly Row[], speed: "latency" | "throughput"): Point[] {
  const system = systemOf(rows);
  return rows.flatMap((row) => {
    const number = speed === "latency" ? row.latency_s : row.samples_per_s;
    if (!number || !row.top1 || !row.comparable) return [];
    const percent = (share: number | null) => (share == null ? null : 100 * share);
    return {
      model: row.model.replace(/@.*/, ""),
      system: system(row),
      speed: speed === "latency" ? 1000 * number.value : number.value,
      top1_percent: 100 * row.top1.value,
      low_percent: percent(row.top1.low),
      high_percent: percent(row.top1.high),
      size_bytes: row.size_bytes,
      on_front: speed === "latency" ? row.fastest : row.most,
    };
  });
}

export interface Cell {
  name: string;
  batch_size: number;
  speed_up: number;
  samples_per_s: number;
}

export function cells(rows: readonly Row[]): Cell[] {
  const swept = rows.filter((row) => row.sweep.length > 1);
  const system = systemOf(rows);
  const several = new Set(swept.map(system)).size > 1;
  return swept.flatMap((row) =>
    row.sweep.map((each) => ({ name: several ? `${row.model}, ${system(row)}` : row.model, ...each })),
  );
}
