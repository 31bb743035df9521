/** The numbers of a record, whatever its task is: each with its interval, where it has one. */
import { digits, percent } from "../../lib/format";

export interface Interval {
  value: number;
  low: number;
  high: number;
  confidence: number;
}

export interface Shown {
  name: string;
  value: string;
  beside?: string;
}

const NAMES: Record<string, string> = { top1: "Top-1 accuracy", top5: "Top-5 accuracy" };
const NOT_NUMBERS = ["calibration", "per_class", "confusion", "refused"];

export function isInterval(value: unknown): value is Interval {
  return (
    typeof value === "object" &&
    value !== null &&
    ["value", "low", "high"].every((key) => typeof (value as Record<string, unknown>)[key] === "number")
  );
}

export function shownNumbers(metrics: Record<string, unknown>): Shown[] {
  const found: Shown[] = [];
  for (const [key, value] of Object.entries(metrics)) {
    if (NOT_NUMBERS.includes(key)) continue;
    const name = NAMES[key] ?? called(key);
    if (isInterval(value)) found.push({ name, value: percent(value.value), beside: between(value) });
    else if (typeof value === "number")
      found.push({ name, value: value >= 0 && value <= 1 ? percent(value) : digits(value) });
  }
  const error = (metrics.calibration as { ece?: number } | null | undefined)?.ece;
  if (typeof error === "number")
    found.push({ name: "Calibration error", value: percent(error), beside: "0 % is best" });
  return found;
}

export function between({ low, high, confidence }: Interval): string {
  const sure = Math.round(100 * (confidence ?? 0.95));
  const wide = high - low < 0.01 ? 2 : 1;
  return `${sure} % between ${(100 * low).toFixed(wide)} and ${percent(high, wide)}`;
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
