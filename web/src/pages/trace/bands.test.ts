import { expect, test } from "vitest";
import { AXIS, HEAD, layOut, ROW, rowAt } from "./bands";

const row = (level: string, lane = "", depth = 0) => ({ level, lane, depth, first_ns: 0, last_ns: 1, spans: 2 });
const rows = [row("model"), row("framework"), row("framework", "", 1), row("library", "stream 7")];

test("rows of a level and lane lie together under their name", () => {
  const { bands, tops } = layOut(rows);
  expect(bands.map((band) => [band.name, band.spans])).toEqual([
    ["Model and its steps", 2],
    ["Layers", 4],
    ["Library calls and kernels, stream 7", 2],
  ]);
  expect(tops.get(0)).toBe(AXIS + HEAD);
});

test("levels below the one that is asked for are not there", () => {
  const layout = layOut(rows, "framework");
  expect(layout.tops.has(3)).toBe(false);
  expect(layout.height).toBeLessThan(layOut(rows).height);
});

test("a height is a row, or none", () => {
  const layout = layOut(rows);
  expect(rowAt(layout, layout.tops.get(2)! + ROW / 2)).toBe(2);
  expect(rowAt(layout, AXIS + 1)).toBeNull();
});
