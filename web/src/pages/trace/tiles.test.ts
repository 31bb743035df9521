import { expect, test, vi } from "vitest";
import type { Schemas } from "../../api/client";
import { Piece, rangeOf, Tiles, tilesOf } from "./tiles";

function told(...spans: [number, number, number][]): Schemas["Timeline"] {
  return {
    duration_ns: 1000,
    rows: [],
    total: spans.length,
    names: ["a"],
    name: spans.map(() => 0),
    row: spans.map(([row]) => row),
    start_ns: spans.map(([, start]) => start),
    end_ns: spans.map(([, , end]) => end),
    spent_ns: spans.map(([, start, end]) => end - start),
    count: spans.map(() => 1),
    id: spans.map((_, at) => String(at)),
  };
}

test("a view needs a few tiles, whose size fits it", () => {
  expect(tilesOf({ from: 0, to: 1000 }, 1000)).toEqual([
    { zoom: 1, place: 0 },
    { zoom: 1, place: 1 },
  ]);
  const few = tilesOf({ from: 300, to: 420 }, 1000);
  expect(few.length).toBeLessThanOrEqual(3);
  expect(rangeOf(few[0]!, 1000).from).toBeLessThanOrEqual(300);
  expect(rangeOf(few.at(-1)!, 1000).to).toBeGreaterThanOrEqual(420);
});

test("a span is found where it lies, and the inner one of two", () => {
  const piece = new Piece(told([0, 0, 100], [1, 10, 20], [1, 30, 31]));
  expect(piece.at(0, 50, 0)).toBe(0);
  expect(piece.at(1, 15, 0)).toBe(1);
  expect(piece.at(1, 25, 0)).toBeNull();
  expect(piece.at(1, 29, 2)).toBe(2);
  expect(piece.at(7, 29, 2)).toBeNull();
});

test("a tile is fetched once, and a coarser one stands in for what is not there yet", async () => {
  const ask = vi.fn(async (from: number, to: number) => told([0, from, to]));
  const tiles = new Tiles(1000, ask, () => undefined);
  tiles.want([{ zoom: 0, place: 0 }]);
  tiles.want([{ zoom: 0, place: 0 }]);
  await vi.waitFor(() => expect(tiles.waiting).toBe(0));
  expect(ask).toHaveBeenCalledTimes(1);
  expect(tiles.get({ zoom: 2, place: 3 })).toBeUndefined();
  expect(tiles.nearest({ zoom: 2, place: 3 })).toBe(tiles.get({ zoom: 0, place: 0 }));
});

test("what failed is told, and can be asked for again", async () => {
  const ask = vi.fn().mockRejectedValueOnce(new Error("gone")).mockResolvedValue(told());
  const failed = vi.fn();
  const tiles = new Tiles(1000, ask, () => undefined, failed);
  tiles.want([{ zoom: 0, place: 0 }]);
  await vi.waitFor(() => expect(failed).toHaveBeenCalled());
  await vi.waitFor(() => expect(tiles.waiting).toBe(0));
  tiles.want([{ zoom: 0, place: 0 }]);
  await vi.waitFor(() => expect(tiles.get({ zoom: 0, place: 0 })).toBeDefined());
});
