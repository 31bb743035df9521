/** The prompt in an answer of a language model, as the page shows it; nothing where it has none. */
import type { Schemas } from "../../../api/client";

type Context = Schemas["PromptContext"];

export function promptOf(told: unknown): Context | null {
  const found = (told as { contexts?: Partial<Context>[] } | null | undefined)?.contexts?.[0];
  if (!found) return null;
  const turns = (found.turns as { role: string; text: string }[] | null | undefined) ?? [];
  return {
    omitted: 0,
    end: "",
    more: 0,
    dropped: 0,
    text: null,
    ...found,
    tokens: found.tokens ?? null,
    pieces: found.pieces ?? [],
    turns,
  };
}

/** Whether a manifest describes a language model. */
export const isLanguageModel = (manifest: Record<string, unknown> | undefined): boolean =>
  manifest?.task === "language_model";

/** Whether turns are written by a template, which is a step of the manifest's, or the server's own. */
export function hasTemplate(manifest: Record<string, unknown>): boolean {
  const inputs = (manifest.inputs ?? []) as { processing?: unknown }[];
  return inputs.some(({ processing }) =>
    Array.isArray(processing)
      ? processing.some((each: unknown) => nameOf(each) === "chat")
      : typeof processing === "object" && processing !== null && "chat" in processing,
  );
}

function nameOf(step: unknown): string | undefined {
  if (typeof step === "string") return step;
  if (typeof step !== "object" || step === null) return undefined;
  return "name" in step ? String(step.name) : Object.keys(step)[0];
}
