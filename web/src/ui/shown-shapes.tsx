/** Which shapes are to be seen: either side, and answers from a score on; and what they are, in words. */
import { type ReactNode, useState } from "react";
import { percent, plural } from "../lib/format";
import {
  ANSWER,
  colour,
  firstAbove,
  hasSides,
  isText,
  isShown,
  nameOf,
  type Shape,
  scoreOf,
  type Side,
  TRUTH,
} from "../lib/shapes";
import { Bars } from "./bars";
import { ChangedText, MarkedText } from "./marked-text";

const MOST = 12;

export interface Choice {
  above: number;
  hidden: readonly Side[];
  shown: Shape[];
  set: (more: { above?: number; hidden?: readonly Side[] }) => void;
}

export function useShown(shapes: readonly Shape[], usual?: number): Choice {
  const [above, setAbove] = useState<number | null>(null);
  const [hidden, setHidden] = useState<readonly Side[]>([]);
  const from = above ?? firstAbove(shapes, usual);
  return {
    above: from,
    hidden,
    shown: shapes.filter((each) => isShown(each, from, hidden)),
    set: (more) => {
      if (more.above !== undefined) setAbove(more.above);
      if (more.hidden) setHidden(more.hidden);
    },
  };
}

/** A slider, where answers have scores, and a switch for either side, where there are two. */
export function ShapeControls({ shapes, choice }: { shapes: readonly Shape[]; choice: Choice }) {
  const scores = shapes.filter((each) => each.side === "answer").map(scoreOf);
  const isScored = scores.some((score) => score !== null);
  const left = shapes.filter((each) => !isShown(each, choice.above)).length;
  if (!isScored && !hasSides(shapes)) return null;
  return (
    <div className="mt-3 flex flex-wrap items-center gap-x-5 gap-y-2 text-left text-sm">
      {hasSides(shapes) &&
        (["truth", "answer"] as const).map((side) => (
          <Switch key={side} side={side} choice={choice}>
            {side === "truth" ? "Truth" : "Answer"}
          </Switch>
        ))}
      {isScored && (
        <label className="flex min-w-0 flex-1 basis-56 items-center gap-2">
          <span className="shrink-0 text-muted">Score from</span>
          <input
            type="range"
            min="0"
            max="1"
            step="0.05"
            value={choice.above}
            onChange={({ target }) => choice.set({ above: Number(target.value) })}
            className="min-w-16 flex-1 accent-(--accent)"
          />
          <output className="w-10 shrink-0 text-right tabular-nums">{choice.above.toFixed(2)}</output>
        </label>
      )}
      {left > 0 && <span className="text-xs text-muted">{`${left.toLocaleString("en")} hidden`}</span>}
    </div>
  );
}

function Switch({ side, choice, children }: { side: Side; choice: Choice; children: ReactNode }) {
  const isOn = !choice.hidden.includes(side);
  return (
    <label className="flex items-center gap-1.5">
      <input
        type="checkbox"
        checked={isOn}
        onChange={() =>
          choice.set({ hidden: isOn ? [...choice.hidden, side] : choice.hidden.filter((each) => each !== side) })
        }
        className="accent-(--accent)"
      />
      <Line side={side} />
      {children}
    </label>
  );
}

function Line({ side }: { side: Side }) {
  return (
    <span
      aria-hidden="true"
      className={`w-4 border-t-2 ${side === "truth" ? "border-dashed" : ""}`}
      style={{ borderColor: side === "truth" ? TRUTH : ANSWER }}
    />
  );
}

/** What is to be seen, in words: answers with their scores, legends of masks, texts. */
export function ShapeList({ shapes }: { shapes: readonly Shape[] }) {
  const scored = shapes.filter((each) => each.side === "answer" && scoreOf(each) !== null);
  const legends = [...new Map(shapes.flatMap(legendOf))];
  const best = [...scored].sort((a, b) => scoreOf(b)! - scoreOf(a)!);
  return (
    <div className="space-y-3">
      {best.length > 0 && (
        <Bars
          guesses={best.slice(0, MOST).map((each) => ({ name: nameOf(each) || "something", score: scoreOf(each) }))}
        />
      )}
      {best.length > MOST && <p className="text-xs text-muted">{`and ${plural(best.length - MOST, "more answer")}`}</p>}
      {legends.length > 0 && (
        <ul className="flex flex-wrap gap-x-4 gap-y-1 text-sm" aria-label="Classes of the mask">
          {legends.map(([name, paint]) => (
            <li key={name} className="flex items-center gap-1.5">
              <span
                aria-hidden="true"
                className="size-3 shrink-0 rounded-sm border border-line"
                style={{ background: paint }}
              />
              <span className="min-w-0 [overflow-wrap:anywhere]">{name}</span>
            </li>
          ))}
        </ul>
      )}
      {shapes.map((each, place) =>
        isText(each) ? (
          <div key={place}>
            {hasSides(shapes) && (
              <p className="mb-1 flex items-center gap-1.5 text-xs text-muted">
                <Line side={each.side} />
                {each.side === "truth" ? "Truth" : "Answer"}
              </p>
            )}
            {remarkOf(each) && <p className="mb-1 text-xs text-muted">{remarkOf(each)}</p>}
            <p
              dir="auto"
              className={`max-h-80 overflow-y-auto rounded-lg bg-paper p-3 whitespace-pre-wrap [overflow-wrap:anywhere] [unicode-bidi:plaintext] ${each.kind === "values" ? "font-mono text-xs" : ""}`}
              tabIndex={0}
              aria-label={each.side === "truth" ? "What is true" : "What it says"}
              role="region"
            >
              {each.kind === "spans" ? (
                <MarkedText shape={each} />
              ) : each.kind === "difference" ? (
                <ChangedText shape={each} />
              ) : (
                each.text
              )}
            </p>
          </div>
        ) : null,
      )}
    </div>
  );
}

/** What is special about a text, such as that it was cut off. */
function remarkOf(shape: Shape): string {
  if (shape.kind === "spans") return shape.remark;
  return shape.kind === "text" ? [shape.name, shape.remark].filter(Boolean).join(", ") : "";
}

function legendOf(shape: Shape): [string, string][] {
  if (shape.kind === "mask") return (shape.legend as [string, string][]) ?? [];
  if (shape.kind !== "classes") return [];
  const numbers = [...new Set(shape.classes)].filter(Boolean).sort((a, b) => a - b);
  return numbers.map((number) => [shape.names[number] ?? `class ${number}`, colour(number - 1)]);
}

export const qualityWords = (quality: number | null | undefined): string =>
  quality == null ? "–" : percent(quality, 0);
