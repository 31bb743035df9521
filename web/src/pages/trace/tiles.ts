/** Pieces of a timeline, as maps have them: each zoom halves a tile, and what was fetched once is kept for a while. */
import type { Schemas } from "../../api/client";
import type { View } from "./view";

export interface Tile {
  zoom: number;
  place: number;
}

/** Bins of a tile; two or three tiles are seen at once, so that a bin is about a pixel. */
export const BINS = 800;
const MOST_KEPT = 60;
const MOST_AT_ONCE = 4;
const DEEPEST = 40;

export function tileSpan(duration: number, zoom: number): number {
  return duration / 2 ** zoom;
}

/** The tiles that a view needs: half as wide as it is, or less. */
export function tilesOf({ from, to }: View, duration: number): Tile[] {
  const zoom = Math.min(DEEPEST, Math.max(0, Math.floor(Math.log2(duration / (to - from))) + 1));
  const span = tileSpan(duration, zoom);
  const last = 2 ** zoom - 1;
  const found = [];
  const end = Math.min(last, Math.floor(to / span));
  for (let place = Math.max(0, Math.floor(from / span)); place <= end; place += 1) found.push({ zoom, place });
  return found;
}

export function rangeOf({ zoom, place }: Tile, duration: number): View {
  const span = tileSpan(duration, zoom);
  return { from: place * span, to: (place + 1) * span };
}

/** The coarser tile that the tile is a half of. */
export function above({ zoom, place }: Tile): Tile | null {
  return zoom ? { zoom: zoom - 1, place: place >> 1 } : null;
}

/** A tile's spans in columns that are quick to draw, and where each row begins in them. */
export class Piece {
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly rows: Map<number, [number, number]>;

  constructor(readonly told: Schemas["Timeline"]) {
    this.start = Float64Array.from(told.start_ns);
    this.end = Float64Array.from(told.end_ns);
    this.rows = new Map();
    told.row.forEach((row, at) => {
      const known = this.rows.get(row);
      if (known) known[1] = at + 1;
      else this.rows.set(row, [at, at + 1]);
    });
  }

  /** The span of a row that is at a moment, give or take; of several the shortest. */
  at(row: number, moment: number, slack: number): number | null {
    const [first, last] = this.rows.get(row) ?? [0, 0];
    let found: number | null = null;
    for (let at = first; at < last; at += 1) {
      if (this.start[at]! - slack > moment) break;
      if (this.end[at]! + slack < moment) continue;
      if (found === null || this.end[at]! - this.start[at]! <= this.end[found]! - this.start[found]!) found = at;
    }
    return found;
  }
}

type Ask = (from: number, to: number, signal: AbortSignal) => Promise<Schemas["Timeline"]>;

/** Fetches tiles and keeps the last few; a tile that cannot be had is asked for again when it is wanted again. */
export class Tiles {
  readonly #kept = new Map<string, Piece>();
  readonly #asked = new Map<string, AbortController>();
  #wanted: Tile[] = [];

  constructor(
    readonly duration: number,
    readonly ask: Ask,
    readonly changed: () => void,
    readonly failed: (error: unknown) => void = () => undefined,
  ) {}

  get(tile: Tile): Piece | undefined {
    const key = keyOf(tile);
    const found = this.#kept.get(key);
    if (found) {
      this.#kept.delete(key); // the last one looked at is the last one to go
      this.#kept.set(key, found);
    }
    return found;
  }

  /** The tile, or the nearest coarser one that is there. */
  nearest(tile: Tile): Piece | undefined {
    for (let at: Tile | null = tile; at; at = above(at)) {
      const found = this.get(at);
      if (found) return found;
    }
    return undefined;
  }

  want(tiles: readonly Tile[]): void {
    this.#wanted = tiles.filter((tile) => !this.#kept.has(keyOf(tile)));
    this.#fetch();
  }

  get waiting(): number {
    return this.#asked.size;
  }

  close(): void {
    this.#wanted = [];
    for (const each of this.#asked.values()) each.abort();
  }

  #fetch(): void {
    for (const tile of this.#wanted) {
      const key = keyOf(tile);
      if (this.#asked.size >= MOST_AT_ONCE) return;
      if (this.#asked.has(key) || this.#kept.has(key)) continue;
      const stop = new AbortController();
      this.#asked.set(key, stop);
      const { from, to } = rangeOf(tile, this.duration);
      this.ask(Math.floor(from), Math.ceil(to), stop.signal)
        .then((told) => this.#keep(key, new Piece(told)))
        .catch((error: unknown) => {
          this.#wanted = this.#wanted.filter((each) => keyOf(each) !== key);
          if (!stop.signal.aborted) this.failed(error);
        })
        .finally(() => {
          this.#asked.delete(key);
          this.#fetch();
          if (!stop.signal.aborted) this.changed();
        });
    }
  }

  #keep(key: string, piece: Piece): void {
    this.#kept.set(key, piece);
    for (const old of this.#kept.keys()) {
      if (this.#kept.size <= MOST_KEPT) break;
      if (old !== "0/0") this.#kept.delete(old); // the whole is always there to fall back on
    }
  }
}

function keyOf({ zoom, place }: Tile): string {
  return `${zoom}/${place}`;
}
