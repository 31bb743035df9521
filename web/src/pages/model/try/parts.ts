/** What the whole time of an answer went into: the stages inside of the model, its opening, and what is around both. */
import { series } from "../../../lib/series";

export interface Part {
  name: string;
  duration_ns: number;
  paint: string;
}

interface Stage {
  name: string;
  duration_ns: number;
}

/** They add up to `wall`, and no two names have one color, so that the bar is that of the time above it. */
export function partsOf(stages: readonly Stage[], wall: number, load?: number | null): Part[] {
  const found: Stage[] = load ? [{ name: "open the model", duration_ns: load }, ...stages] : [...stages];
  const rest = wall - found.reduce((sum, part) => sum + part.duration_ns, 0);
  if (rest > 0) found.push({ name: "around it", duration_ns: rest });
  // What most people look for has the first color.
  const names = [...new Set(found.map((part) => part.name))].sort((one, two) => isAnswer(two) - isAnswer(one));
  return found.map((part) => ({ ...part, paint: paint(names.indexOf(part.name)) }));
}

/** Eight colors, then the same ones paler. */
function paint(place: number): string {
  return place < 8
    ? series(place)
    : `color-mix(in srgb, ${series(place)} ${80 / Math.floor(place / 8 + 1)}%, var(--card))`;
}

const isAnswer = (name: string) => Number(name === "run" || name === "answer");
