/** Events of an evaluation in sentences: what it is doing now, and what it did. */
import type { Happening } from "../../api/events";
import { bytes, percent, plural } from "../../lib/format";
import { spelled } from "../../lib/measured";

const count = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) ? value : null);
/** In the unit that the event tells; older agents tell none, and their numbers are shares. */
const number = (value: unknown, event: Happening): string =>
  count(value) === null ? "–" : spelled(count(value)!, text(event.unit) || "share");
const text = (value: unknown): string => (typeof value === "string" ? value : "");

function downloading(event: Happening): string {
  const [done, of] = [count(event.done) ?? 0, count(event.of)];
  const size = of === null ? bytes(done) : done >= of ? bytes(of) : `${bytes(done)} of ${bytes(of)}`;
  return `${text(event.name) || "a file"}, ${size}`;
}

function progress(event: Happening): string {
  const [done, of, failed] = [count(event.done) ?? 0, count(event.of), count(event.failed)];
  if (typeof event.metrics === "object" && event.metrics !== null) return `${percent(done, 0)} of the training`;
  const word = event.parts ? "shard" : "sample";
  const share = of === null ? plural(done, word) : `${done.toLocaleString("en")} of ${plural(of, word)}`;
  return failed ? `${share}, ${failed.toLocaleString("en")} failed` : share;
}

const SENTENCES: Record<string, (event: Happening) => [string, string]> = {
  waiting: (event) => [
    "Queued",
    text(event.because)
      ? `${text(event.because)}; tries again in ${Math.ceil(count(event.pause_s) ?? 0)} s`
      : `${plural(count(event.agents) ?? 0, "agent")} can run it`,
  ],
  running: (event) => [
    "Started",
    `on ${text(event.agent)}${(count(event.attempt) ?? 1) > 1 ? `, attempt ${event.attempt}` : ""}`,
  ],
  downloading: (event) => ["Downloading", downloading(event)],
  building: (event) => ["Preparing", text(event.text)],
  note: (event) => ["Note", text(event.text)],
  opening: () => ["Opening", "the model; its latency is measured first, while nothing else runs"],
  measured: (event) => [
    "Latency",
    `measured in ${plural(count(event.runs) ?? 0, "run")} at batch size ${count(event.batch_size) ?? 1}`,
  ],
  resuming: (event) => ["Resuming", `${progress(event)} were done before`],
  progress: (event) => ["Progress", progress(event)],
  judged: (event) => [
    "Measured",
    `${number(event.measured, event)} where ${number(event.claimed, event)} is claimed; searching for the cause`,
  ],
  tried: (event) => [
    "Tried",
    `${plural(Array.isArray(event.variants) ? event.variants.length : 0, "variant")} on ${plural(count(event.samples) ?? 0, "sample")}`,
  ],
  verdict: (event) => ["Verdict", text(event.verdict)],
  sensed: () => ["Measured", "what each pitfall would cost"],
  finished: () => ["Finished", ""],
  failed: (event) => ["Failed", text(event.message)],
  cancelled: () => ["Cancelled", ""],
};

/** What happened, as a heading of a word and the rest of the sentence. */
export function sentenceOf(event: Happening): [string, string] {
  const known = SENTENCES[event.kind];
  return known ? known(event) : [event.kind, text(event.text) || text(event.message)];
}

/** Counts that only grow are one line: the latest of each run of them. */
export function story(events: readonly Happening[]): Happening[] {
  const told: Happening[] = [];
  for (const event of events) {
    const last = told.at(-1);
    const grows = ["progress", "downloading"].includes(event.kind);
    if (grows && last?.kind === event.kind && last.name === event.name) told.pop();
    told.push(event);
  }
  return told;
}

/** What goes on now: one sentence, from the first second on. */
export function doing(state: string, events: readonly Happening[]): string {
  const last = events.at(-1);
  if (state === "waiting") {
    const because = text(last?.because);
    return because ? `Queued again: ${because}` : "Queued: waiting for an agent that is free";
  }
  switch (last?.kind) {
    case "downloading":
      return `Downloading ${downloading(last)}`;
    case "building":
    case "note":
      return text(last.text);
    case "opening":
      return "Opening the model and measuring its latency";
    case "measured":
      return "Latency measured; starting on the samples";
    case "progress":
      return progress(last);
    case "resuming":
      return `Resuming: ${progress(last)} were done before`;
    case "judged":
    case "tried":
      return "Searching for the cause";
    default:
      return "Preparing: reading the manifests, checking files and the stack";
  }
}
