/** What is chosen on the table of records, as its address has it; the server filters and sorts. */
import { days } from "../../lib/days";

export const FILTERS = ["kind", "task", "dataset", "stack", "machine", "tag"] as const;
export const NAMES = [
  ...["q", "model", "owner", "pinned", "intermediate", "since", "until"],
  ...FILTERS,
  ...["sort", "order", "start", "columns"],
] as (keyof Look)[];
export const SORTS = {
  created: "Date",
  model: "Model",
  dataset: "Dataset",
  result: "Result",
  latency: "Latency",
  throughput: "Throughput",
  samples: "Samples",
  failed: "Failed",
  duration: "Duration",
  stack: "Stack",
  machine: "Machine",
} as const;
export type Sort = keyof typeof SORTS;
export const AT_ONCE = 50;

export interface Look {
  q?: string;
  model?: string;
  owner?: string;
  pinned?: string;
  intermediate?: string;
  since?: string;
  until?: string;
  kind?: string;
  task?: string;
  dataset?: string;
  stack?: string;
  machine?: string;
  tag?: string;
  sort?: string;
  order?: string;
  start?: string;
  columns?: string;
}

export const sortOf = (look: Look): Sort => (look.sort && look.sort in SORTS ? (look.sort as Sort) : "created");

/** Names rise and numbers fall unless the address says otherwise. */
const NAMED: readonly Sort[] = ["model", "dataset", "stack", "machine"];
export const isDescending = (look: Look): boolean =>
  look.order ? look.order === "down" : !NAMED.includes(sortOf(look));

/** The address after a click on a column: its usual order first, then the other one. */
export function sortedBy(look: Look, sort: Sort): Look {
  const isSame = sortOf(look) === sort;
  const order = isSame ? (isDescending(look) ? "up" : "down") : undefined;
  return { ...look, sort: sort === "created" ? undefined : sort, order, start: undefined };
}

/** What the server is asked; days are whole days of whoever looks. */
export function question(look: Look) {
  const start = Number(look.start);
  return {
    ...Object.fromEntries(
      (["q", "model", "owner", ...FILTERS] as const).filter((name) => look[name]).map((name) => [name, look[name]]),
    ),
    pinned: look.pinned ? look.pinned === "yes" : undefined,
    intermediate: look.intermediate === "show" ? undefined : false,
    ...days(look.since, look.until),
    sort: sortOf(look),
    descending: isDescending(look),
    start: Number.isInteger(start) && start > 0 ? start : 0,
    limit: AT_ONCE,
  };
}
