/** What the overview's charts draw, as plain rows. */
import type { Schemas } from "../../api/client";
import { unitOf } from "../../lib/measured";

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
  /** In the unit that people write it in. */
  accuracy: number;
  low: number | null;
  high: number | null;
  size_bytes: number | null;
  on_front: boolean;
}

/** Samples of an accuracy, and of how many where they are not all. */
export function samples(of: Schemas["OverviewNumber"], total: number | null): string {
  const count = of.samples.toLocaleString("en");
  if (of.whole) return count;
  return total ? `${count} of ${total.toLocaleString("en")}` : `${count}, not all`;
}

/** What the accuracies of a table are called, and what they are counted in. */
export function accuracyOf(rows: readonly Row[]): { title: string; unit: string | null | undefined; symbol: string } {
  const found = rows.find((row) => row.accuracy)?.accuracy;
  return { title: found?.title ?? "accuracy", unit: found?.unit, symbol: unitOf(found?.unit).symbol };
}

/** Only rows whose accuracies are over the same samples. */
export function points(rows: readonly Row[], speed: "latency" | "throughput"): Point[] {
  const system = systemOf(rows);
  return rows.flatMap((row) => {
    const number = speed === "latency" ? row.latency_s : row.samples_per_s;
    if (!number || !row.accuracy || !row.comparable) return [];
    const { factor } = unitOf(row.accuracy.unit);
    const times = (value: number | null) => (value == null ? null : factor * value);
    return {
      model: row.model.replace(/@.*/, ""),
      system: system(row),
      speed: speed === "latency" ? 1000 * number.value : number.value,
      accuracy: factor * row.accuracy.value,
      low: times(row.accuracy.low),
      high: times(row.accuracy.high),
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
