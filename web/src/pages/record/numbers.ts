/** The numbers of a record, whatever its task is: each with its interval, where it has one. */
import type { Schemas } from "../../api/client";
import { digits } from "../../lib/format";
import { spelled, written } from "../../lib/measured";

export interface Interval {
  value: number;
  low: number;
  high: number;
  confidence?: number;
}

export interface Shown {
  name: string;
  value: string;
  beside?: string;
  /** The interval alone: `15.8 – 22.4 %`. */
  span?: string;
}

export function shownNumbers(metrics: Record<string, Schemas["MeasuredNumber"]>): Shown[] {
  return Object.entries(metrics).map(([key, number]) => ({
    name: called(number.title || key),
    value: spelled(number.value, number.unit),
    span: endsOf(number),
    beside: between(number) ?? (number.better === "lower" ? "lower is better" : undefined),
  }));
}

function endsOf({ low, high, unit }: Schemas["MeasuredNumber"]): string | undefined {
  if (low == null || high == null) return undefined;
  const places = high - low < 0.01 ? 2 : 1;
  return `${written(low, unit, places)} – ${spelled(high, unit, places)}`;
}

/** Both ends of a number's interval, where it has one. */
export function between({ low, high, confidence, unit }: Schemas["MeasuredNumber"]): string | undefined {
  if (low == null || high == null) return undefined;
  const sure = Math.round(100 * (confidence ?? 0.95));
  const wide = high - low < 0.01 ? 2 : 1;
  return `${sure} % between ${written(low, unit, wide)} and ${spelled(high, unit, wide)}`;
}

/** `mean_iou` as people say it. */
export function called(key: string): string {
  const words = key.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A time in seconds with its interval, in a unit that fits all three. */
export function spanOf({ value, low, high }: Interval): Shown["beside"] {
  const [size, unit] = unitOf(value);
  return `${digits(low / size)} – ${digits(high / size)} ${unit}`;
}

export function seconds(value: number | null | undefined): string {
  if (value == null) return "–";
  const [size, unit] = unitOf(value);
  return `${digits(value / size)} ${unit}`;
}

function unitOf(value: number): [number, string] {
  return value >= 1 ? [1, "s"] : value >= 1e-3 ? [1e-3, "ms"] : [1e-6, "µs"];
}
