/** A text cut into pieces: where spans begin and end, each with the types of the spans that it lies in. */
import type { Schemas } from "../api/client";

const MOST = 500;

export interface Piece {
  text: string;
  types: string[];
}

/** Places are characters of the text; spans may overlap, and those of strangers may reach beyond it. */
export function piecesOf({ text, spans }: Pick<Schemas["SpansShape"], "text" | "spans">): Piece[] {
  const letters = [...text]; // JavaScript's own length counts some characters twice
  const inside = spans
    .slice(0, MOST)
    .map(([start, end, type]) => ({ start: Math.max(0, start), end: Math.min(end, letters.length), type }))
    .filter(({ start, end }) => start < end);
  const borders = new Set([0, letters.length, ...inside.flatMap(({ start, end }) => [start, end])]);
  const places = [...borders].sort((a, b) => a - b);
  return places.slice(0, -1).map((start, at) => ({
    text: letters.slice(start, places[at + 1]).join(""),
    types: inside.filter((each) => each.start <= start && places[at + 1]! <= each.end).map(({ type }) => type),
  }));
}
