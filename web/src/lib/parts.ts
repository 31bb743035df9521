/** What the samples of a record are: pictures, or something that is read, heard or looked up. */
import type { Schemas } from "../api/client";

export type Part = "image" | "audio" | "text" | "columns" | "array" | "document";
const PARTS: readonly string[] = ["image", "audio", "text", "columns", "array", "document"];

/** What the model's first input takes of a sample; null where only the dataset knows, as with functions. */
export function partOf(record: Schemas["Record"]): Part | null {
  const part = record.plan.inputs?.[0]?.part;
  return part && PARTS.includes(part) ? (part as Part) : null;
}

/** The beginning of a sample in a line. */
export function excerptOf(input: Schemas["SampleInput"]): string {
  if (input.sound) return input.sound.seconds == null ? "sound" : `${input.sound.seconds.toFixed(2)} s`;
  if (input.texts.length) return input.texts.map(({ text }) => shortened(text) || "(empty)").join(" · ");
  return input.cells
    .slice(0, 6)
    .map(({ column, value }) => `${shortened(column, 40)} ${shortened(value, 40)}`)
    .join(" · ");
}

function shortened(text: string, most = 160): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** Six digits that count, as the reports write them. */
export function spelled(value: number): string {
  return String(Number(value.toPrecision(6)));
}
