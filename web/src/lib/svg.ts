/** A drawing, piece by piece. */
type Value = string | number | undefined;

export function svg(name: string, given: Record<string, Value> = {}, ...inside: (Node | string)[]): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(given)) if (value !== undefined) made.setAttribute(key, String(value));
  made.append(...inside);
  return made;
}

/** A text with as many letters as there is room for, in letters of this size. */
export function cut(text: string, room: number, size = 11): string {
  const most = Math.max(1, lettersIn(room, size));
  return text.length <= most ? text : `${text.slice(0, most - 1).trimEnd()}…`;
}

/** Whether a text has room, in letters of this size: measured as it will be drawn, since `w` is wider than `l`. */
export function fitsIn(room: number, size: number): (text: string) => boolean {
  const pen = penOf();
  return (text) => (pen ? (pen.measureText(text).width * size) / 100 : text.length * USUAL * size) <= room;
}

/** How many letters of this size there is room for, in the page's font: fonts differ by half in width. */
export function lettersIn(room: number, size: number): number {
  letter ||= measured();
  return Math.floor(room / (letter * size));
}

const USUAL = 0.56;
const SAMPLE = "The quick brown fox jumps over 0123456789 lazy-dogs@1.0.0, resnet50_v2";
let letter = 0;

/** The width of a letter, where 1 is its size; a little more than on average, as no text is the average. */
function measured(): number {
  const pen = penOf();
  if (!pen) return USUAL;
  return (1.05 * pen.measureText(SAMPLE).width) / SAMPLE.length / 100 || USUAL;
}

function penOf(): CanvasRenderingContext2D | null {
  const pen = document.createElement("canvas").getContext("2d");
  if (pen) pen.font = `100px ${getComputedStyle(document.body).fontFamily || "sans-serif"}`;
  return pen;
}
