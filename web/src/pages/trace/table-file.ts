/** A table with its raw numbers, as a file. */
import type { Schemas } from "../../api/client";

export function csv({ columns, rows }: Pick<Schemas["TraceAnalysis"], "columns" | "rows">): string {
  const field = (value: unknown): string => {
    const text = value == null ? "" : Array.isArray(value) ? JSON.stringify(value) : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [columns.map((column) => column.name), ...rows].map((row) => row.map(field).join(","));
  return `${lines.join("\n")}\n`;
}

export function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
