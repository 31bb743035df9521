/** Values of an analysis' table for people, by what their column says they are. */
import type { Schemas } from "../../api/client";
import { bytes, digits, percent, time } from "../../lib/format";

const LARGE: [number, string][] = [
  [1e15, "P"],
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

export function large(value: number): string {
  const [size, letter] = LARGE.find(([each]) => Math.abs(value) >= each) ?? [1, ""];
  return `${digits(value / size)} ${letter}`.trimEnd();
}

export function cell({ kind, unit }: Schemas["AnalysisColumn"], value: unknown): string {
  if (value == null) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.join("×");
  if (typeof value !== "number") return String(value);
  switch (kind) {
    case "time_ns":
      return time(value);
    case "bytes":
      return bytes(value);
    case "share":
      return percent(value, 1);
    case "count":
      return value.toLocaleString("en");
    case "rate":
      return `${large(value)}${unit}`;
    default:
      return unit ? `${digits(value)} ${unit}` : digits(value);
  }
}
