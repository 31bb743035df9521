/** What a line about a record says, and what it is found by. */
import type { Schemas } from "../api/client";
import { spelled, written } from "../lib/measured";

type Row = Schemas["RecordSummary"];

/** Its kind, the scenario of a bench, and that it was made on the way to something else. */
export function kindOf(row: Row): string {
  return [row.kind, row.scenario, row.made_for && `for ${row.made_for}`].filter(Boolean).join(", ");
}

export const datasetOf = (row: Row): string =>
  row.samples ? `${row.dataset}, ${row.samples.toLocaleString("en")} samples` : row.dataset;

/** The number that counts, with its interval; what has none says how it ended. */
export function resultOf(row: Row): string {
  if (row.status !== "finished") return row.status;
  return row.headline ? numberOf(row.headline) : "–";
}

export function numberOf({ title, value, low, high, unit }: Schemas["Headline"]): string {
  const ends = low != null && high != null ? ` (${written(low, unit, 1)} – ${spelled(high, unit, 1)})` : "";
  return `${title} ${spelled(value, unit)}${ends}`;
}
