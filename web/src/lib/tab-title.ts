/** The title of the browser's tab: what the page is about, and before it how far the jobs are that run. */
const SITE = "MLModelScope";
let words = "";
let mark = "";

function show(): void {
  const title = words ? `${words} – ${SITE}` : SITE;
  document.title = mark ? `${mark} ${title}` : title;
}

export function setWords(said: string): void {
  words = said;
  show();
}

export function setMark(said: string): void {
  mark = said;
  show();
}

interface Job {
  state: string;
  progress?: { done: number; of?: number | null } | null;
}

/** Of all that run together; those that cannot be counted yet are at their beginning. */
export function markOf(jobs: readonly Job[]): string {
  const open = jobs.filter((job) => job.state === "running" || job.state === "waiting");
  if (!open.length) return "";
  const shares = open.map(({ progress }) => (progress?.of ? Math.min(1, Math.max(0, progress.done / progress.of)) : 0));
  const share = shares.reduce((one, two) => one + two, 0) / open.length;
  return `${Math.floor(100 * share)} %`;
}
