/** Texts with what matters in them marked: entities, and words that an answer changed. */
import type { ReactNode } from "react";
import type { Schemas } from "../api/client";
import { piecesOf } from "../lib/pieces";
import { ANSWER, TRUTH } from "../lib/shapes";

/** A text in which the pieces that a span covers are underlined and named. */
export function MarkedText({ shape }: { shape: Schemas["SpansShape"] }): ReactNode {
  const color = shape.side === "truth" ? TRUTH : ANSWER;
  if (!shape.text) return shape.spans.map(([start, end, type]) => `${type} ${start}–${end}`).join(", ") || "nothing";
  return piecesOf(shape).map(({ text, types }, place) =>
    types.length ? (
      <mark key={place} className="bg-transparent text-inherit" style={{ boxShadow: `inset 0 -2px ${color}` }}>
        {text}
        <small className="ml-1 font-semibold">{[...new Set(types)].join(", ")}</small>
      </mark>
    ) : (
      text
    ),
  );
}

/** An answer word by word: what was left out, and what was put in. */
export function ChangedText({ shape }: { shape: Schemas["DifferenceShape"] }): ReactNode {
  return shape.parts.map(([change, due, said], place) => (
    <span key={place}>
      {change === "equal" ? (
        said
      ) : (
        <>
          {due && <del className="text-muted">{due}</del>}
          {due && said && " "}
          {said && (
            <ins className="font-semibold no-underline" style={{ boxShadow: `inset 0 -2px ${ANSWER}` }}>
              {said}
            </ins>
          )}
        </>
      )}{" "}
    </span>
  ));
}
