/** One sample that two records answer differently: its picture twice, with the truth and either answer. */
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import type { Seen } from "../../api/seen";
import { percent } from "../../lib/format";
import { series } from "../../lib/series";
import { isShown, type Shape } from "../../lib/shapes";
import { useInput } from "../../shown/sample-input";
import { AnswerPicture } from "../../ui/answer-picture";
import { Badge, Waiting } from "../../ui/parts";
import { useAddress, usePicture } from "../../ui/picture";
import { type Choice, ShapeList } from "../../ui/shown-shapes";
import { TokenDifferences } from "./token-differences";

export const KIND_WORDS = { worse: "worse", better: "better", other: "as good as before" } as const;
const TONES = { worse: "bad", better: "good", other: "plain" } as const;
/** What lies over a picture; anything else is read. */
const DRAWN: readonly Shape["kind"][] = ["box", "mask", "points", "picture", "classes"];

export interface Side {
  record: Schemas["ComparedRecord"];
  at: 0 | 1;
  seen?: Seen;
  error: Error | null;
}

interface Props {
  row: Schemas["ChangedSample"];
  sides: [Side, Side];
  choice: Choice;
}

export function Changed({ row, sides, choice }: Props) {
  const picture = usePicture(`records/${sides[0].record.id}`, row.sample, 512);
  const address = useAddress(picture.data);
  const input = useInput(sides[0].record.id, row.sample);
  const [first, second] = [sides[0].seen, sides[1].seen];
  return (
    <li className="min-w-0 rounded-xl border border-line p-4">
      <header className="mb-3 flex items-start justify-between gap-2">
        <h4 className="min-w-0 text-sm font-medium [overflow-wrap:anywhere]">{row.sample}</h4>
        <span className="shrink-0 whitespace-nowrap">
          <Badge tone={TONES[row.kind]}>{KIND_WORDS[row.kind]}</Badge>
        </span>
      </header>
      <div className="grid gap-4 sm:grid-cols-2">
        {sides.map((side) => (
          <figure key={side.at} className="min-w-0">
            {side.error ? (
              <p className="text-sm text-bad">{side.error.message}</p>
            ) : side.seen ? (
              <Answered
                name={`${row.sample}, ${side.at ? "second" : "first"}`}
                seen={side.seen}
                choice={choice}
                address={address}
                error={picture.error}
              />
            ) : (
              <Waiting />
            )}
            <figcaption className="mt-2 flex items-baseline gap-2 text-xs text-muted">
              <span
                aria-hidden="true"
                className="size-2.5 shrink-0 rounded-sm"
                style={{ background: series(side.at) }}
              />
              <Link
                to="/records/$id"
                params={{ id: side.record.id }}
                search={{ tab: "samples", sample: row.sample }}
                className="min-w-0 [overflow-wrap:anywhere]"
              >
                {side.record.name}
              </Link>
              <span className="ml-auto shrink-0">Quality {percent(side.at ? row.second : row.first, 1)}</span>
            </figcaption>
          </figure>
        ))}
      </div>
      {first && second && (isAsked(first) || input.data?.kind === "document") && (
        <TokenDifferences
          records={[sides[0].record.id, sides[1].record.id]}
          sample={row.sample}
          seen={[first, second]}
        />
      )}
    </li>
  );
}

/** Whether it says how likely tokens were. */
const isAsked = ({ shapes }: Seen): boolean => shapes.some(({ kind }) => kind === "tokens" || kind === "choices");

interface AnsweredProps {
  name: string;
  seen: Seen;
  choice: Choice;
  address: string | null;
  error: Error | null;
}

function Answered({ name, seen, choice, address, error }: AnsweredProps) {
  const shapes = seen.shapes as Shape[];
  const shown = shapes.filter((each) => isShown(each, choice.above, choice.hidden));
  const isDrawn = shapes.some((each) => DRAWN.includes(each.kind));
  return (
    <>
      {(isDrawn || address) && (
        <AnswerPicture name={name} shapes={shapes} shown={shown} address={address} error={error} size={seen.size} />
      )}
      {!isDrawn && <ShapeList shapes={shown} />}
    </>
  );
}
