/** How the best number of a model on a dataset is told. */
import type { Schemas } from "../api/client";
import { spelled, written } from "../lib/measured";

type Result = Schemas["Result"];

/** `top-1 75.1 % (74.7 – 75.5 %)`. */
export function numberOf({ headline }: Pick<Result, "headline">): string {
  const { title, value, low, high, unit } = headline;
  const ends = low != null && high != null ? ` (${written(low, unit, 1)} – ${spelled(high, unit, 1)})` : "";
  return `${title} ${spelled(value, unit)}${ends}`;
}

/** `all 50,000` or `500 of 50,000`. */
export function samplesOf({ samples, total, whole }: Pick<Result, "samples" | "total" | "whole">): string {
  const count = samples.toLocaleString("en");
  if (whole) return `all ${count}`;
  return total ? `${count} of ${total.toLocaleString("en")}` : `${count}, a part`;
}

/** Which dataset, with its split where the record has one. */
export const datasetOf = ({ dataset, split }: Pick<Result, "dataset" | "split">): string =>
  split ? `${dataset}, ${split}` : dataset;
