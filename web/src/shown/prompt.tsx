/** What a language model was shown: the exact text, with its tokens on demand. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { answer, api, type Schemas } from "../api/client";
import { plural } from "../lib/format";
import { visible } from "../lib/tokens";
import { TokenMark, TOKENS } from "../ui/token-text";

export const usePrompt = (record: string, sample: string, enabled = true) =>
  useQuery({
    queryKey: ["prompt", record, sample],
    queryFn: ({ signal }) => {
      const params = { path: { name: record }, query: { sample } };
      return answer(api.GET("/api/v1/records/{name}/prompt", { params, signal }));
    },
    retry: false,
    staleTime: Infinity,
    gcTime: 60_000,
    enabled,
  });

export function Prompt({ record, sample }: { record: string; sample: string }) {
  const found = usePrompt(record, sample);
  if (found.error) return <p className="mt-4 text-xs text-muted">{found.error.message}</p>;
  if (!found.data) return null;
  return found.data.contexts.map((context, place) => <ContextText key={place} context={context} />);
}

type Context = Pick<
  Schemas["PromptContext"],
  "text" | "omitted" | "end" | "tokens" | "pieces" | "more" | "dropped" | "turns"
>;

export function ContextText({ context }: { context: Context }) {
  const [asTokens, setAsTokens] = useState(false);
  const { tokens, pieces } = context;
  const count = tokens ? tokens.length + context.more : 0;
  const facts = [
    tokens ? plural(count, "token") : "its tokens are made by the server",
    context.dropped ? `${context.dropped.toLocaleString("en")} more were dropped, since the model takes no more` : "",
  ];
  return (
    <div className="mt-4">
      <p className="mb-1 flex flex-wrap items-center gap-x-4 text-xs text-muted">
        <span>Prompt: {facts.filter(Boolean).join("; ")}</span>
        {tokens && (
          <label className="flex items-center gap-1.5">
            <input
              type="checkbox"
              className="accent-(--accent)"
              checked={asTokens}
              onChange={({ target }) => setAsTokens(target.checked)}
            />
            Show tokens
          </label>
        )}
      </p>
      <p dir="auto" tabIndex={0} role="region" aria-label="Prompt" className={TOKENS}>
        {asTokens && tokens
          ? tokens.map((token, place) => <TokenMark key={place} token={[pieces[place] ?? "", token, null]} />)
          : wordsOf(context)}
      </p>
      {asTokens && context.more > 0 && (
        <p className="mt-1 text-xs text-muted">{`the first ${plural(context.more, "token")} are not kept`}</p>
      )}
    </div>
  );
}

/** All of the text; what cannot be seen is spelled out, but for the ends of lines. */
export function wordsOf(context: Context): string {
  if (context.turns.length) return context.turns.map(({ role, text }) => `${role}: ${visibleText(text)}`).join("\n");
  if (context.text == null) return visibleText(context.pieces.join(""));
  const left = context.omitted ? `\n[… ${context.omitted.toLocaleString("en")} characters …]\n` : "";
  return visibleText(context.text) + left + visibleText(context.end) || "(empty)";
}

const visibleText = (text: string): string => visible(text).replaceAll("⏎\n", "\n");
