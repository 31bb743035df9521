/** What is looked at on a record's page, as its address says it. */
export interface Look {
  tab?: "samples" | "classes" | "environment";
  only?: "right" | "wrong" | "failed";
  q?: string;
  above?: number;
  below?: number;
  label?: number;
  answer?: number;
  sort?: "order" | "score" | "latency" | "quality";
  order?: "up";
  /** The sample that is open. */
  sample?: string;
}

const WORDS = {
  tab: ["samples", "classes", "environment"],
  only: ["right", "wrong", "failed"],
  sort: ["order", "score", "latency", "quality"],
  order: ["up"],
} as const;

export function readLook(search: Record<string, unknown>): Look {
  const found: Record<string, unknown> = {};
  for (const [name, known] of Object.entries(WORDS))
    if ((known as readonly unknown[]).includes(search[name])) found[name] = search[name];
  for (const name of ["q", "sample"] as const) {
    const said = typeof search[name] === "number" ? String(search[name]) : search[name];
    if (typeof said === "string" && said) found[name] = said;
  }
  for (const name of ["above", "below", "label", "answer"] as const) {
    const number = typeof search[name] === "string" && search[name] !== "" ? Number(search[name]) : search[name];
    if (typeof number === "number" && Number.isFinite(number)) found[name] = number;
  }
  return found as Look;
}

/** The same as the server is asked; what is sorted by comes with the highest first. */
export function questionOf(look: Look) {
  const { only, q, above, below, label, answer, sort, order } = look;
  return { only, q, above, below, label, answer, sort, descending: sort ? order !== "up" : undefined };
}

export function isNarrowed({ only, q, above, below, label, answer }: Look): boolean {
  return [only, q, above, below, label, answer].some((each) => each !== undefined);
}
