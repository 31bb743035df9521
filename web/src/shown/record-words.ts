/** What a line about a record says, and what it is found by. */
import type { Schemas } from "../api/client";
import { percent } from "../lib/format";

type Row = Schemas["RecordSummary"];
export const KINDS = ["evaluation", "bench", "profile", "training"] as const;

/** Its kind, the scenario of a bench, and that it was made on the way to something else. */
export function kindOf(row: Row): string {
  return [row.kind, row.scenario, row.made_for && `for ${row.made_for}`].filter(Boolean).join(", ");
}

export const datasetOf = (row: Row): string =>
  row.samples ? `${row.dataset}, ${row.samples.toLocaleString("en")} samples` : row.dataset;

/** The number that counts, with its interval; what has none says how it ended. */
export function resultOf(row: Row): string {
  if (row.status !== "finished") return row.status;
  if (row.top1 == null) return "–";
  const ends = row.top1_low != null && row.top1_high != null;
  return ends
    ? `${percent(row.top1)} (${(100 * row.top1_low!).toFixed(1)} – ${percent(row.top1_high, 1)})`
    : percent(row.top1);
}

/** Whether every word of a search is somewhere in the line. */
export function matches(row: Row, search: string): boolean {
  const text = [row.id, row.model, row.model_version, row.dataset, kindOf(row), row.status].join(" ").toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
