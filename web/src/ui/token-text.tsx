/** Texts token by token, and choices as bars: what a language model found likely. */
import type { Schemas } from "../api/client";
import { plural } from "../lib/format";
import { ANSWER, type Shape } from "../lib/shapes";
import { depthOf, noteOf, rulesOf, shareOf, type Token, tokensOf, visible } from "../lib/tokens";

/** One token; the less likely it was the darker it is. */
export function TokenMark({ token, className = "" }: { token: Token; className?: string }) {
  const [text, number, log] = token;
  return (
    <span
      title={noteOf(token)}
      className={`rounded-[3px] shadow-[inset_0_0_0_0.5px_var(--line)] ${className}`}
      style={{ background: `color-mix(in srgb, ${ANSWER} ${Math.round(60 * depthOf(log))}%, transparent)` }}
    >
      {visible(text) || `#${number}`}
    </span>
  );
}

export const TOKENS =
  "max-h-80 overflow-y-auto rounded-lg bg-paper p-3 font-mono text-xs leading-6 whitespace-pre-wrap [overflow-wrap:anywhere] [unicode-bidi:plaintext]";

/** What was asked about, token by token, and choices as bars. */
export function TokenShapes({ shapes }: { shapes: readonly Shape[] }) {
  return shapes.map((each, place) =>
    each.kind === "choices" ? (
      <ChoiceTable key={place} shape={each} />
    ) : each.kind === "tokens" ? (
      <TokenText key={place} shape={each} />
    ) : null,
  );
}

function TokenText({ shape }: { shape: Schemas["TokensShape"] }) {
  const title = shape.name ? `Tokens of ${shape.name}` : "Tokens";
  return (
    <div className="mt-4">
      <p className="mb-1 text-xs text-muted">{title}, the less likely the darker</p>
      <p dir="auto" tabIndex={0} role="region" aria-label={title} className={TOKENS}>
        {tokensOf(shape).map((token, place) => (
          <TokenMark key={place} token={token} />
        ))}
      </p>
      {shape.more > 0 && <p className="mt-1 text-xs text-muted">{`and ${plural(shape.more, "more token")}`}</p>}
    </div>
  );
}

const MOST_CHOICES = 50;

function ChoiceTable({ shape }: { shape: Schemas["ChoicesShape"] }) {
  const rules = rulesOf(shape);
  const more = shape.choices.length - MOST_CHOICES;
  return (
    <div className="mt-4 overflow-x-auto" tabIndex={0} role="region" aria-label="Choices">
      <table className="w-full text-left text-sm">
        <thead className="text-xs text-muted">
          <tr>
            <th scope="col" className="py-1 pr-3 font-normal">
              Choice
            </th>
            {rules.map((rule) => (
              <th key={rule.name} scope="col" className="py-1 pr-3 align-bottom font-normal">
                {rule.title}
                {rule.name === shape.used && " (used)"}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shape.choices.slice(0, MOST_CHOICES).map((text, choice) => (
            <tr key={choice} className="border-t border-line align-top">
              <th scope="row" className="min-w-32 py-1.5 pr-3 font-normal [overflow-wrap:anywhere]">
                <bdi className="[unicode-bidi:plaintext]">{visible(text) || "(empty)"}</bdi>
                {shape.right.includes(choice) && <span className="ml-1 text-good">✓ right</span>}
              </th>
              {rules.map((rule) => (
                <td key={rule.name} className="min-w-20 py-1.5 pr-3 tabular-nums">
                  <span className="block h-1.5 overflow-hidden rounded bg-soft">
                    <span
                      className={`block h-full ${rule.chosen === choice ? "bg-accent" : "bg-accent-soft"}`}
                      style={{ width: `${100 * shareOf(rule, choice)}%` }}
                    />
                  </span>
                  <span className={rule.chosen === choice ? "font-semibold" : ""}>
                    {Number(rule.values[choice]!.toPrecision(4))}
                  </span>
                  {rule.chosen === choice && <span className="ml-1 text-xs text-muted">chosen</span>}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && <p className="mt-1 text-xs text-muted">{`and ${plural(more, "more choice")}`}</p>}
    </div>
  );
}
