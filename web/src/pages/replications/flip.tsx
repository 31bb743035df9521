/** One input: what the model sees of it before and after, and what it answers. */
import type { Schemas } from "../../api/client";
import { usePicture } from "../../api/files";
import { percent } from "../../lib/format";
import { spelled } from "../../lib/measured";
import { Badge } from "../../ui/parts";
import { Slider } from "../../ui/slider";
import { Overlaid } from "./overlaid";

const TONES = { fixed: "good", broken: "bad", "other answer": "warn" } as const;

/** What people read; the names are the API's. */
const SPELLED = { fixed: "fixed", broken: "broken", "other answer": "another wrong answer" } as const;
const GRADED = { fixed: "better", broken: "worse", "other answer": "as good as before" } as const;

/** The same in words: where answers are more or less good, none is right or wrong. */
export const kindWords = (kind: Schemas["Flip"]["kind"], graded: boolean): string => (graded ? GRADED : SPELLED)[kind];

const SHOWN = 3;

/** Classes often carry all their names; the first says enough. */
const firstName = (names: string) => names.split(",")[0]!;

interface Props {
  id: string;
  record?: string | null;
  flip: Schemas["Flip"];
  claim: Schemas["Claimed"];
}

export function FlipCard({ id, record, flip, claim }: Props) {
  return (
    <li className="min-w-0 rounded-xl border border-line p-4">
      <header className="mb-3 flex items-start justify-between gap-2">
        <h3 className="min-w-0 text-sm [overflow-wrap:anywhere]">
          <span title={flip.label ?? undefined}>{firstName(flip.label ?? flip.sample)}</span>
          {flip.label && <span className="block text-xs font-normal text-muted">{flip.sample}</span>}
        </h3>
        <span className="shrink-0 whitespace-nowrap">
          <Badge tone={TONES[flip.kind]}>{kindWords(flip.kind, Boolean(flip.quality))}</Badge>
        </span>
      </header>
      {flip.seen && <Pictures id={id} name={flip.sample} seen={flip.seen} />}
      {flip.overlaid && <Overlaid record={record} name={flip.sample} of={flip.overlaid} />}
      {flip.number && (
        <p className="text-sm">
          <span className="text-muted">{claim.title}</span> {spelled(flip.number.before, claim.unit)} →{" "}
          {spelled(flip.number.after, claim.unit)}
        </p>
      )}
      {flip.quality ? (
        <p className="text-sm">
          <span className="text-muted">Quality</span> {percent(flip.quality.before, 1)} →{" "}
          {percent(flip.quality.after, 1)}
        </p>
      ) : (
        <div className="grid grid-cols-2 gap-3">
          <Answers title="Before" choices={flip.before} />
          <Answers title="After" choices={flip.after} />
        </div>
      )}
    </li>
  );
}

function Pictures({ id, name, seen }: { id: string; name: string; seen: Schemas["Seen"] }) {
  const path = (file?: string | null) =>
    file ? `/api/v1/replications/${encodeURIComponent(id)}/pictures/${encodeURIComponent(file)}` : null;
  const before = usePicture(path(seen.before));
  const after = usePicture(path(seen.after));
  const difference = usePicture(path(seen.difference));
  const error = before.error ?? after.error ?? difference.error;
  if (error) return <p className="mb-3 text-sm text-bad">{error instanceof Error ? error.message : String(error)}</p>;
  return (
    <div className="mb-4 grid grid-cols-2 gap-3">
      {before.url && after.url ? (
        <Slider
          square
          before={{ address: before.url, told: `${name}, as the manifest says`, title: "before" }}
          after={{ address: after.url, told: `${name}, with the change`, title: "after" }}
          label={`How much of ${name} is as the manifest says`}
        />
      ) : (
        <div className="aspect-square rounded-lg bg-soft" />
      )}
      {seen.difference && (
        <div>
          {difference.url ? (
            <img
              src={difference.url}
              alt={`The difference of ${name}`}
              className="aspect-square w-full rounded-lg border border-line object-fill [image-rendering:pixelated]"
            />
          ) : (
            <div className="aspect-square rounded-lg bg-soft" />
          )}
          <p className="mt-1 text-xs text-muted">
            difference{seen.share != null && `: ${percent(seen.share, 0)} of the values`}
          </p>
        </div>
      )}
    </div>
  );
}

function Answers({ title, choices }: { title: string; choices: readonly Schemas["Choice"][] }) {
  const scores = choices.map((each) => each.score ?? 0);
  const shares = scores.every((score) => score >= 0 && score <= 1);
  const best = Math.max(...scores, 1e-9);
  return (
    <div className="min-w-0 text-sm">
      <h4 className="mb-1.5 text-xs text-muted">{title}</h4>
      <ol className="space-y-1">
        {choices
          .filter((each, place) => place < SHOWN || each.right)
          .map((each) => (
            <li key={each.class} className="relative flex justify-between gap-2 overflow-hidden rounded px-2 py-0.5">
              <span
                aria-hidden="true"
                className={`absolute inset-y-0 left-0 ${each.right ? "bg-good-soft" : "bg-soft"}`}
                style={{ width: `${(100 * Math.max(0, each.score ?? 0)) / best}%` }}
              />
              <span
                className={`relative min-w-0 truncate ${each.right ? "font-medium text-good" : ""}`}
                title={each.name}
              >
                {firstName(each.name)}
                {each.right && <span className="sr-only"> (right)</span>}
              </span>
              <span className="relative whitespace-nowrap">
                {shares ? percent(each.score, 1) : each.score?.toFixed(2)}
              </span>
            </li>
          ))}
      </ol>
    </div>
  );
}
