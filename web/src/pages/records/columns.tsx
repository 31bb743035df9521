/** What the table of records can show; which of it is chosen stands in the address. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Schemas } from "../../api/client";
import { digits, time } from "../../lib/format";
import { kindOf, resultOf } from "../../shown/record-words";
import { Badge } from "../../ui/parts";
import { When } from "../../ui/when";
import type { Sort } from "./search";

export type Row = Schemas["RecordSummary"];

export interface Shown {
  key: string;
  title: string;
  sort?: Sort;
  right?: boolean;
  cell: (row: Row) => ReactNode;
}

export const COLUMNS: readonly Shown[] = [
  {
    key: "model",
    title: "Model",
    sort: "model",
    cell: (row) => (
      <Link to="/records/$id" params={{ id: row.id }} className="font-medium" title={row.id}>
        {row.model} <span className="font-normal text-muted">{row.model_version}</span>
      </Link>
    ),
  },
  {
    key: "dataset",
    title: "Dataset",
    sort: "dataset",
    cell: (row) => (
      <>
        {row.dataset}
        {row.split && <span className="text-muted">:{row.split}</span>}
      </>
    ),
  },
  { key: "result", title: "Result (95 % interval)", sort: "result", cell: resultOf },
  {
    key: "samples",
    title: "Samples",
    sort: "samples",
    right: true,
    cell: (row) => (
      <span title={row.subset ?? undefined}>
        {row.samples.toLocaleString("en")}
        {row.subset && <span className="text-muted"> (part)</span>}
      </span>
    ),
  },
  { key: "failed", title: "Failed", sort: "failed", right: true, cell: (row) => row.failed.toLocaleString("en") },
  {
    key: "latency",
    title: "Latency, p50",
    sort: "latency",
    right: true,
    cell: (row) => (row.latency_s == null ? "–" : time(row.latency_s * 1e9)),
  },
  {
    key: "throughput",
    title: "Samples per second",
    sort: "throughput",
    right: true,
    cell: (row) => (row.samples_per_s == null ? "–" : digits(row.samples_per_s)),
  },
  { key: "kind", title: "Kind", cell: kindOf },
  { key: "task", title: "Task", cell: (row) => row.task?.replaceAll("_", " ") ?? "–" },
  { key: "framework", title: "Framework", cell: (row) => row.framework ?? "–" },
  { key: "stack", title: "Stack", sort: "stack", cell: (row) => row.stack ?? "–" },
  { key: "machine", title: "Machine", sort: "machine", cell: (row) => row.machine ?? "–" },
  {
    key: "duration",
    title: "Duration",
    sort: "duration",
    right: true,
    cell: (row) => (row.took_s == null ? "–" : time(row.took_s * 1e9)),
  },
  { key: "owner", title: "Requested by", cell: (row) => row.owner },
  {
    key: "tags",
    title: "Tags",
    cell: (row) => (
      <span className="flex flex-wrap gap-1">
        {row.pinned_by && <Badge tone="accent">pinned</Badge>}
        {row.tags?.map((tag) => (
          <Badge key={tag}>{tag}</Badge>
        ))}
        {row.notes > 0 && <Badge>{row.notes === 1 ? "1 note" : `${row.notes} notes`}</Badge>}
      </span>
    ),
  },
  { key: "when", title: "When", sort: "created", right: true, cell: (row) => <When at={row.created_at} /> },
];

export const USUAL = ["model", "dataset", "result", "samples", "latency", "kind", "tags", "when"];

/** The columns that an address names, in their own order; the model is always there, since it leads to the record. */
export function chosenColumns(text: string | undefined): readonly Shown[] {
  const wanted = text === undefined ? USUAL : text.split(",");
  return COLUMNS.filter(({ key }) => key === "model" || wanted.includes(key));
}

/** What the address says of it; nothing for the usual ones. */
export function spelledColumns(keys: readonly string[]): string | undefined {
  const found = COLUMNS.filter(({ key }) => keys.includes(key)).map(({ key }) => key);
  return found.join() === USUAL.join() ? undefined : found.join();
}
