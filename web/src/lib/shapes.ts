/**
 * An answer that is no list of classes, as a manifest's own code spelled it: boxes, a mask, a text, or just values.
 * Many spellings are understood: lists of features as the original system had them, and what detectors usually return.
 */
export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
  /** Whether the numbers are shares of the picture, and not pixels. */
  relative: boolean;
  name: string;
  score: number | null;
}

export interface Mask {
  width: number;
  height: number;
  /** A class for each pixel, row by row; 0 is the background. */
  classes: number[];
  names: string[];
}

export type Shape =
  | { kind: "boxes"; boxes: Box[] }
  | { kind: "mask"; mask: Mask }
  | { kind: "text"; text: string }
  | { kind: "values"; text: string };

type Said = Record<string, unknown>;
const MOST_PIXELS = 1 << 24;

export function shapeOf(answer: string): Shape {
  let value: unknown;
  try {
    value = JSON.parse(answer);
  } catch {
    return { kind: "text", text: answer };
  }
  const text = textIn(value);
  if (text !== null) return { kind: "text", text };
  const mask = maskIn(value);
  if (mask) return { kind: "mask", mask };
  const boxes = boxesIn(value);
  if (boxes) return { kind: "boxes", boxes };
  return { kind: "values", text: JSON.stringify(value, null, 2) };
}

const isSaid = (value: unknown): value is Said => typeof value === "object" && value !== null && !Array.isArray(value);
const isNumbers = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((each) => typeof each === "number");

function textIn(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (!isSaid(value)) return null;
  for (const key of ["text", "said", "transcription", "generated_text", "answer", "summary", "translation"])
    if (typeof value[key] === "string") return value[key] as string;
  return null;
}

function boxesIn(value: unknown): Box[] | null {
  const list = isSaid(value) ? (value.detections ?? value.objects ?? value.features ?? columns(value)) : value;
  if (!Array.isArray(list) || !list.length || !list.every(isSaid)) return null;
  const found = (list as Said[]).map(boxOf);
  return found.every((each) => each !== null) ? (found as Box[]) : null;
}

/** `{"boxes": […], "scores": […], "labels": […]}` as a list of objects. */
function columns(value: Said): Said[] | null {
  if (!Array.isArray(value.boxes)) return null;
  const names = (value.labels ?? value.names ?? value.classes ?? []) as unknown[];
  const scores = (value.scores ?? value.probabilities ?? []) as unknown[];
  return value.boxes.map((box, place) => ({ box, label: names[place], score: scores[place] }));
}

function boxOf(said: Said): Box | null {
  const inner = said.boundingbox ?? said.bounding_box ?? said.box ?? said.bbox ?? said;
  const sides = isNumbers(inner)
    ? inner.length === 4
      ? sidesOf(inner, said.bbox === inner)
      : null
    : isSaid(inner)
      ? corners(inner)
      : null;
  if (!sides) return null;
  const more = isSaid(inner) ? { ...inner, ...said } : said;
  const name = more.label ?? more.name ?? more.class ?? more.category ?? more.index ?? "";
  const score = more.score ?? more.probability ?? more.confidence;
  return {
    ...sides,
    relative: Object.values(sides).every((each) => each >= 0 && each <= 1),
    name: String(name),
    score: typeof score === "number" ? score : null,
  };
}

type Sides = Pick<Box, "left" | "top" | "right" | "bottom">;

/** Corners; of what is called `bbox`, as in COCO, a corner and a size. */
function sidesOf([a, b, c, d]: number[], sized: boolean): Sides {
  return sized ? { left: a!, top: b!, right: a! + c!, bottom: b! + d! } : { left: a!, top: b!, right: c!, bottom: d! };
}

function corners(said: Said): Sides | null {
  for (const [left, top, right, bottom] of [
    ["xmin", "ymin", "xmax", "ymax"],
    ["x1", "y1", "x2", "y2"],
    ["left", "top", "right", "bottom"],
  ] as const) {
    const found = [said[left], said[top], said[right], said[bottom]];
    if (isNumbers(found)) return { left: found[0]!, top: found[1]!, right: found[2]!, bottom: found[3]! };
  }
  return null;
}

function maskIn(value: unknown): Mask | null {
  if (!isSaid(value)) return null;
  const segment = isSaid(value.semanticsegment) ? value.semanticsegment : value;
  const names = (Array.isArray(segment.labels) ? segment.labels : []).map(String);
  const rows = segment.mask ?? segment.int_mask;
  if (!Array.isArray(rows) || !rows.length) return null;
  if (rows.every(isNumbers)) {
    const lines = rows as number[][];
    const width = lines[0]!.length;
    if (!width || width * lines.length > MOST_PIXELS || lines.some((line) => line.length !== width)) return null;
    return { width, height: lines.length, classes: lines.flat(), names };
  }
  const { width, height } = segment as { width?: unknown; height?: unknown };
  if (isNumbers(rows) && typeof width === "number" && typeof height === "number" && rows.length === width * height)
    return { width, height, classes: rows, names };
  return null;
}
