/** Draws what can be seen of a timeline, and nothing else. */
import { time } from "../../lib/format";
import { lettersIn } from "../../lib/svg";
import { type Layout, ROW, AXIS, HEAD, LEVELS } from "./bands";
import { rangeOf, type Piece, type Tiles, tilesOf } from "./tiles";
import { ticks, type View } from "./view";

export interface Colours {
  ink: string;
  muted: string;
  line: string;
  card: string;
  accent: string;
  levels: Record<string, string>;
}

const SERIES: Record<string, string> = { application: "h", model: "a", framework: "f", library: "b", hardware: "c" };

/** The page's colours as they are now, light or dark. */
export function pageColours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    ...{ ink: read("ink"), muted: read("muted"), line: read("line"), card: read("card"), accent: read("accent") },
    levels: Object.fromEntries(LEVELS.map((level) => [level, read(`series-${SERIES[level]}`)])),
  };
}

export interface Scene {
  view: View;
  layout: Layout;
  levels: readonly string[];
  tiles: Tiles;
  /** Those that fit what is searched for; all others step back. */
  found: Tiles | null;
  selected: string | null;
  colours: Colours;
}

/** Returns how many shapes it took, for whoever measures it. */
export function paint(canvas: CanvasRenderingContext2D, width: number, height: number, scene: Scene): number {
  const { colours, view, layout } = scene;
  canvas.fillStyle = colours.card;
  canvas.fillRect(0, 0, width, height);
  axis(canvas, width, height, view, colours);
  canvas.font = "500 11px system-ui, sans-serif";
  canvas.textBaseline = "middle";
  canvas.fillStyle = colours.muted;
  for (const band of layout.bands) canvas.fillText(band.name, 6, band.top + HEAD / 2 + 1);
  let drawn = spans(canvas, width, scene, scene.tiles, scene.found ? 0.18 : 1);
  if (scene.found) drawn += spans(canvas, width, scene, scene.found, 1);
  return drawn;
}

function axis(canvas: CanvasRenderingContext2D, width: number, height: number, view: View, colours: Colours): void {
  const scale = width / (view.to - view.from);
  canvas.font = "11px system-ui, sans-serif";
  canvas.textBaseline = "middle";
  const marks = ticks(view, width / 110);
  const step = marks.length > 1 ? marks[1]! - marks[0]! : view.to - view.from;
  for (const at of marks) {
    const x = Math.round((at - view.from) * scale) + 0.5;
    canvas.fillStyle = colours.line;
    canvas.fillRect(x, AXIS - 6, 1, height);
    canvas.fillStyle = colours.muted;
    canvas.fillText(tickName(at, step), x + 4, AXIS / 2);
  }
}

/** With as many digits as tell one tick from the next. */
export function tickName(at: number, step: number): string {
  const [unit, name] =
    (
      [
        [1e9, "s"],
        [1e6, "ms"],
        [1e3, "µs"],
      ] as const
    ).find(([size]) => at >= size) ?? ([1, "ns"] as const);
  const places = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
  return `${(at / unit).toFixed(Math.min(9, places))} ${name}`;
}

function spans(canvas: CanvasRenderingContext2D, width: number, scene: Scene, tiles: Tiles, strength: number): number {
  const { view } = scene;
  const shown = tilesOf(view, tiles.duration);
  const scale = width / (view.to - view.from);
  let drawn = 0;
  canvas.save();
  shown.forEach((tile, at) => {
    const piece = tiles.nearest(tile);
    if (!piece) return;
    const { from, to } = rangeOf(tile, tiles.duration);
    const exact = tiles.get(tile) === piece;
    canvas.save();
    if (!exact) {
      canvas.beginPath();
      canvas.rect((from - view.from) * scale, 0, (to - from) * scale, scene.layout.height);
      canvas.clip();
    }
    // A span that begins in an earlier tile was drawn by it, unless that one is not seen.
    const first = exact && at > 0 ? from : -Infinity;
    drawn += rows(canvas, width, scene, piece, first, Math.min(to, view.to), scale, strength);
    canvas.restore();
  });
  canvas.restore();
  return drawn;
}

/** One after the other; what is less than a dot behind the last one is that dot. */
function rows(
  canvas: CanvasRenderingContext2D,
  width: number,
  scene: Scene,
  piece: Piece,
  first: number,
  last: number,
  scale: number,
  strength: number,
): number {
  const { view, layout, colours, levels, selected } = scene;
  const { told, start, end } = piece;
  const begin = view.from;
  let drawn = 0;
  canvas.font = "11px system-ui, sans-serif";
  for (const [row, [low, high]] of piece.rows) {
    const top = layout.tops.get(row);
    if (top === undefined) continue;
    const colour = colours.levels[levels[row]!] ?? colours.muted;
    let filled = -1;
    for (let at = low; at < high; at += 1) {
      const from = start[at]!;
      if (from < first) continue;
      if (from > last) break;
      const right = (end[at]! - begin) * scale;
      if (right < 0) continue;
      const left = (from - begin) * scale;
      const wide = Math.max(right, left + 1);
      if (wide - filled < 0.6) continue;
      const x = Math.max(left, filled, 0);
      const room = Math.min(wide, width) - x;
      canvas.fillStyle = colour;
      canvas.globalAlpha = strength * (told.count[at]! > 1 ? 0.45 : 0.78 + 0.11 * (told.name[at]! % 3));
      canvas.fillRect(x, top, Math.max(room - (room > 3 ? 1 : 0), 0.6), ROW);
      filled = wide;
      drawn += 1;
      if (selected !== null && told.id[at] === selected) outline(canvas, x, top, room, colours.ink);
      if (room > 34 && strength > 0.5) {
        canvas.globalAlpha = 1;
        canvas.fillStyle = colours.card;
        canvas.fillText(label(told, at, room), x + 4, top + ROW / 2 + 0.5);
      }
    }
  }
  canvas.globalAlpha = 1;
  return drawn;
}

function outline(canvas: CanvasRenderingContext2D, x: number, y: number, wide: number, colour: string): void {
  canvas.globalAlpha = 1;
  canvas.strokeStyle = colour;
  canvas.lineWidth = 2;
  canvas.strokeRect(x + 1, y + 1, Math.max(wide - 2, 1), ROW - 2);
}

function label(told: Piece["told"], at: number, room: number): string {
  const count = told.count[at]!;
  const name = count > 1 ? `${count} spans` : told.names[told.name[at]!]!;
  const letters = lettersIn(room - 8, 11);
  if (name.length <= letters - 9) return `${name}  ${time(told.spent_ns[at])}`;
  return name.length <= letters ? name : `${name.slice(0, Math.max(1, letters - 1))}…`;
}
