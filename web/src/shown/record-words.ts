/** What a line about a record says, and what it is found by. */
import type { Schemas } from "../api/client";
import { spelled, written } from "../lib/measured";

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
  if (!row.headline) return "–";
  const { low, high, unit } = row.headline;
  const ends = low != null && high != null ? ` (${written(low, unit, 1)} – ${spelled(high, unit, 1)})` : "";
  return `${row.headline.title} ${spelled(row.headline.value, unit)}${ends}`;
}

/** Whether every word of a search is somewhere in the line. */
export function matches(row: Row, search: string): boolean {
  const text = [row.id, row.model, row.model_version, row.dataset, kindOf(row), row.status].join(" ").toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
