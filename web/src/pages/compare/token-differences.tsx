/** What two records of a language model have of one sample, token by token: the prompt, and what was asked about or written. */
import type { Schemas } from "../../api/client";
import type { Seen } from "../../api/seen";
import { ANSWER, type Shape, TRUTH } from "../../lib/shapes";
import { aligned, noteOf, type Step, type Token, tokensOf, visible } from "../../lib/tokens";
import { usePrompt } from "../../shown/prompt";
import { TOKENS } from "../../ui/token-text";

/** By how much a logarithm has to move to be as dark as can be. */
const MOST_MOVED = 4;
const KEPT_AROUND = 12;

export function TokenDifferences({
  records,
  sample,
  seen,
}: {
  records: [string, string];
  sample: string;
  seen: [Seen, Seen];
}) {
  const before = usePrompt(records[0], sample);
  const after = usePrompt(records[1], sample);
  const [first, second] = seen.map(({ shapes }) =>
    (shapes as Shape[]).filter((each): each is Schemas["TokensShape"] => each.kind === "tokens"),
  );
  const [one, other] = [before.data, after.data];
  const isWritten = one?.call === "write" && other?.call === "write";
  return (
    <div className="mt-3 space-y-3">
      {one && other && (
        <Difference title="Prompt" before={piecesOf(one.contexts[0])} after={piecesOf(other.contexts[0])} />
      )}
      {isWritten && <Difference title="Answer" before={piecesOf(one.rows[0])} after={piecesOf(other.rows[0])} />}
      {first!.slice(0, second!.length).map((each, place) => (
        <Difference
          key={place}
          title={each.name ? `Tokens of ${each.name}` : "Tokens"}
          before={tokensOf(each)}
          after={tokensOf(second![place]!)}
        />
      ))}
    </div>
  );
}

/** Tokens of a prompt; of one whose tokens nobody knows its words. */
function piecesOf(words: Pick<Schemas["PromptRow"], "text" | "tokens" | "pieces"> | undefined): Token[] {
  if (!words) return [];
  if (words.tokens) return words.tokens.map((token, place) => [words.pieces[place] ?? "", token, null]);
  return (words.text ?? "").split(/(?<=\s)/).map((word) => [word, 0, null]);
}

function Difference({ title, before, after }: { title: string; before: readonly Token[]; after: readonly Token[] }) {
  const steps = aligned(before, after, ([text]) => text);
  const changed = steps.filter((each) => !isSame(each));
  if (!steps.length) return null;
  return (
    <div>
      <p className="mb-1 text-xs text-muted">
        {title}:{" "}
        {changed.length
          ? `${changed.length.toLocaleString("en")} of ${steps.length.toLocaleString("en")} tokens differ`
          : "the same in both"}
      </p>
      {changed.length > 0 && (
        <p dir="auto" tabIndex={0} role="region" aria-label={`${title}, both records`} className={TOKENS}>
          {shortened(steps).map((each, place) =>
            each ? <Changed key={place} step={each} /> : <span key={place}> … </span>,
          )}
        </p>
      )}
    </div>
  );
}

/** The logarithm of a token that both have moved so far; 0 where one of them is not known. */
const movedBy = ({ before, after }: Step<Token>): number =>
  before?.[2] != null && after?.[2] != null ? after[2] - before[2] : 0;

const isSame = (step: Step<Token>): boolean =>
  !!step.before && !!step.after && step.before[0] === step.after[0] && Math.abs(movedBy(step)) < 1e-3;

function Changed({ step }: { step: Step<Token> }) {
  const { before, after } = step;
  if (before && after && before[0] === after[0]) {
    const moved = movedBy(step);
    const depth = Math.round(60 * Math.min(1, Math.abs(moved) / MOST_MOVED));
    return (
      <span
        title={`first: ${noteOf(before)}; second: ${noteOf(after)}`}
        className="rounded-[3px]"
        style={{ background: `color-mix(in srgb, ${moved < 0 ? ANSWER : TRUTH} ${depth}%, transparent)` }}
      >
        {spelled(after)}
      </span>
    );
  }
  return (
    <>
      {before && (
        <del title={`only the first: ${noteOf(before)}`} className="text-muted">
          {spelled(before)}
        </del>
      )}
      {after && (
        <ins
          title={`only the second: ${noteOf(after)}`}
          className="font-semibold no-underline"
          style={{ boxShadow: `inset 0 -2px ${ANSWER}` }}
        >
          {spelled(after)}
        </ins>
      )}
    </>
  );
}

const spelled = ([text, token]: Token): string => visible(text) || `#${token}`;

/** Long stretches that are the same are left out; null stands for one. */
function shortened(steps: readonly Step<Token>[]): (Step<Token> | null)[] {
  const isNear = new Uint8Array(steps.length);
  steps.forEach((each, place) => {
    if (!isSame(each)) isNear.fill(1, Math.max(0, place - KEPT_AROUND), place + KEPT_AROUND + 1);
  });
  const found: (Step<Token> | null)[] = [];
  steps.forEach((each, place) => {
    if (isNear[place]) found.push(each);
    else if (found.at(-1) !== null) found.push(null);
  });
  return found;
}
