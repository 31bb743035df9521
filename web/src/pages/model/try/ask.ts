/** The question to the server, and what happens until there is an answer. */
import { headers, Problem, type Schemas } from "../../../api/client";
import { type Happening, parse } from "../../../api/events";
import type { Given } from "./given";

export interface Chosen {
  model: string;
  version?: string;
  stack?: string;
  agent?: string;
}

export async function ask(
  chosen: Chosen,
  given: Given,
  trust: boolean,
  tell: (words: string) => void,
  signal: AbortSignal,
): Promise<Schemas["Prediction"]> {
  for await (const event of askEvents(chosen, { input: await inputOf(given) }, trust, signal)) {
    if (event.kind === "answer") return event as unknown as Schemas["Prediction"];
    if (event.kind !== "piece") tell(wordsOf(event));
  }
  throw Problem.gone();
}

/** What happens, one by one, with the answer as the last of them; whatever goes wrong is a Problem. */
export async function* askEvents(
  chosen: Chosen,
  about: Pick<Schemas["PredictionRequest"], "input"> & Partial<Schemas["PredictionRequest"]>,
  trust: boolean,
  signal: AbortSignal,
): AsyncGenerator<Happening> {
  const body = {
    model: chosen.version ? `${chosen.model}@${chosen.version}` : chosen.model,
    ...about,
    where: { stack: chosen.stack, agent: chosen.agent },
    trust,
  };
  let response: Response;
  try {
    response = await fetch("/api/v1/predictions", {
      method: "POST",
      headers: { ...headers(), "Content-Type": "application/json", Accept: "text/event-stream" },
      body: JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw Problem.gone();
  }
  if (!response.ok || !response.body) throw Problem.of(response.status, await response.json().catch(() => null));
  for await (const event of parse(response.body)) {
    if (event.kind === "problem") throw Problem.of(Number(event.status), event);
    yield event;
    if (event.kind === "answer") return;
  }
  throw new Problem(0, "CutOff", "The connection was lost before there was an answer.", "Ask again.");
}

export function wordsOf(event: Happening): string {
  const share =
    typeof event.done === "number" && typeof event.of === "number" && event.of > 0 ? event.done / event.of : null;
  const part = share === null ? "" : `, ${Math.floor(100 * share)} %`;
  if (event.kind === "taken") return `${String(event.agent)} looks at it`;
  if (event.kind === "downloading") return `Downloading ${String(event.name ?? "the model")}${part}`;
  if (event.kind === "building") return "Building the stack; this takes minutes, once";
  return event.kind === "opening" ? "Opening the model" : "Asking";
}

async function inputOf(given: Given): Promise<Schemas["Input"]> {
  if (given.kind === "url") return { url: given.url };
  if (given.kind === "text") return { text: given.text };
  return { base64: await base64(given.blob, given.name) };
}

function base64(blob: Blob, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(new Problem(0, "Unreadable", `${name} cannot be read.`));
    reader.readAsDataURL(blob);
  });
}
