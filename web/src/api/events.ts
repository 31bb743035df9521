/** What happens to an evaluation, as it happens. The browser's own EventSource cannot send a token, so it is read here. */
import { headers, Problem } from "./client";

export interface Happening {
  number: number;
  at: string;
  kind: string;
  [more: string]: unknown;
}

const LAST = ["finished", "failed", "cancelled"];

/** Events one by one until the evaluation has ended; a connection that is lost is made again where it was. */
export async function* happenings(id: string, signal: AbortSignal): AsyncGenerator<Happening> {
  let last = 0;
  let pause = 500;
  while (!signal.aborted) {
    try {
      const response = await fetch(`/api/v1/evaluations/${encodeURIComponent(id)}/events`, {
        headers: { ...headers(), Accept: "text/event-stream", "Last-Event-ID": String(last) },
        signal,
      });
      if (response.status >= 400 && response.status < 500)
        throw Problem.of(response.status, await response.json().catch(() => null));
      if (response.ok && response.body) {
        pause = 500;
        for await (const event of parse(response.body)) {
          last = Math.max(last, event.number);
          yield event;
          if (LAST.includes(event.kind)) return;
        }
      }
    } catch (error) {
      if (error instanceof Problem || signal.aborted) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(2 * pause, 8000);
  }
}

export async function* parse(body: ReadableStream<Uint8Array>): AsyncGenerator<Happening> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>)
    .getReader();
  let kept = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    kept += value.replaceAll("\r\n", "\n");
    for (let end = kept.indexOf("\n\n"); end >= 0; end = kept.indexOf("\n\n")) {
      const data = kept
        .slice(0, end)
        .split("\n")
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trimStart());
      kept = kept.slice(end + 2);
      if (data.length) yield JSON.parse(data.join("\n")) as Happening;
    }
  }
}
