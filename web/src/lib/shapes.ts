/**
 * What there is to see of a sample: boxes, masks, points, pictures and texts, of its truth and of its answer. Most come
 * from the server, which asks the task; an answer that a manifest's own code spelled as JSON is read here. Many spellings
 * are understood: lists of features as the original system had them, and what detectors usually return.
 */
import type { Schemas } from "../api/client";

export type Side = "truth" | "answer";

export type Box = Schemas["BoxShape"] & {
  /** Whether the numbers are shares of the picture, and not pixels. */
  relative?: boolean;
};

/** A class for each pixel, row by row; 0 is the background. */
export interface ClassMap {
  kind: "classes";
  side: Side;
  width: number;
  height: number;
  classes: number[];
  names: string[];
}

/** What nobody foresaw, as it is. */
export interface Values {
  kind: "values";
  side: Side;
  text: string;
}

export type Shape =
  | Box
  | ClassMap
  | Values
  | Schemas["MaskShape"]
  | Schemas["PointsShape"]
  | Schemas["PictureShape"]
  | Schemas["TextShape"]
  | Schemas["LabelShape"]
  | Schemas["SpansShape"]
  | Schemas["DifferenceShape"]
  | Schemas["TokensShape"]
  | Schemas["ChoicesShape"];

/** Told apart in light and in dark, and by most who see colours differently; the reports have the same. */
export const COLOURS = ["#e4572e", "#17bebb", "#ffc914", "#7b5ea7", "#2e86ab", "#a5be00", "#f15bb5", "#8d6a4f"];
export const colour = (place: number): string => COLOURS[place % COLOURS.length]!;
export const TRUTH = COLOURS[1]!;
export const ANSWER = COLOURS[0]!;

export const scoreOf = (shape: Shape): number | null => ("score" in shape ? (shape.score ?? null) : null);
export const nameOf = (shape: Shape): string =>
  shape.kind === "mask" ? drawnNames(shape.legend) : "name" in shape ? shape.name : "";

/** The color of what is not drawn, such as the background of a class map. */
export const CLEAR = "#00000000";
const drawnNames = (legend: readonly unknown[][]): string => {
  const drawn = legend.filter(([, paint]) => paint !== CLEAR);
  return (drawn.length ? drawn : legend).map(([name]) => name as string).join(", ");
};

type Written = Extract<Shape, { kind: "text" | "values" | "spans" | "difference" }>;
/** Whether it is words, and not something that is drawn. */
export const isText = (shape: Shape): shape is Written =>
  ["text", "values", "spans", "difference"].includes(shape.kind);

export const hasSides = (shapes: readonly Shape[]): boolean => shapes.some((each) => each.side === "truth");

/** Truth always is shown, and answers without a score. */
export function isShown(shape: Shape, above: number, hidden: readonly Side[] = []): boolean {
  const score = scoreOf(shape);
  return !hidden.includes(shape.side) && (shape.side === "truth" || score === null || score >= above);
}

/** Where to begin: at what is usual, or where all answers are less sure, with all of them. */
export function firstAbove(shapes: readonly Shape[], usual = 0.3): number {
  return shapes.some((each) => each.side === "answer" && (scoreOf(each) ?? 0) >= usual) ? usual : 0;
}

/** With truth and answer over each other, colours tell the sides apart; else they tell names apart. */
export function paints(shapes: readonly Shape[]): (shape: Shape) => string {
  if (hasSides(shapes)) return (shape) => (shape.side === "truth" ? TRUTH : ANSWER);
  const names = [...new Set(shapes.map(nameOf))];
  return (shape) => colour(names.indexOf(nameOf(shape)));
}

type Said = Record<string, unknown>;
const MOST_PIXELS = 1 << 24;

/** An answer as a manifest's own code spelled it. */
export function shapesOf(answer: string): Shape[] {
  let value: unknown;
  try {
    value = JSON.parse(answer);
  } catch {
    return [told(answer)];
  }
  const text = textIn(value);
  if (text !== null) return [told(text)];
  const mask = maskIn(value);
  if (mask) return [mask];
  return boxesIn(value) ?? [{ kind: "values", side: "answer", text: JSON.stringify(value, null, 2) }];
}

const told = (text: string): Shape => ({
  kind: "text",
  side: "answer",
  text,
  name: "",
  score: null,
  remark: "",
});

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
    kind: "box",
    side: "answer",
    remark: "",
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

function maskIn(value: unknown): ClassMap | null {
  if (!isSaid(value)) return null;
  const segment = isSaid(value.semanticsegment) ? value.semanticsegment : value;
  const names = (Array.isArray(segment.labels) ? segment.labels : []).map(String);
  const rows = segment.mask ?? segment.int_mask;
  if (!Array.isArray(rows) || !rows.length) return null;
  if (rows.every(isNumbers)) {
    const lines = rows as number[][];
    const width = lines[0]!.length;
    if (!width || width * lines.length > MOST_PIXELS || lines.some((line) => line.length !== width)) return null;
    return { kind: "classes", side: "answer", width, height: lines.length, classes: lines.flat(), names };
  }
  const { width, height } = segment as { width?: unknown; height?: unknown };
  if (isNumbers(rows) && typeof width === "number" && typeof height === "number" && rows.length === width * height)
    return { kind: "classes", side: "answer", width, height, classes: rows, names };
  return null;
}
