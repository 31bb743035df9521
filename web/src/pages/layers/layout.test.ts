import { expect, test } from "vitest";
import { layout, ranksOf, rising } from "./layout";

const edge = (from: number, to: number) => ({ from, to });

test("a node lies below all that it takes from", () => {
  expect(ranksOf(4, [edge(0, 1), edge(1, 2), edge(0, 3), edge(2, 3)])).toEqual([0, 1, 2, 3]);
  expect(ranksOf(2, [])).toEqual([0, 0]);
});

test("a chain is a straight line, and an edge around it bends aside", () => {
  const { x, bends } = layout(3, [edge(0, 1), edge(1, 2), edge(0, 2)]);
  expect(bends.map((each) => each.length)).toEqual([0, 0, 1]);
  expect(Math.abs(bends[2]![0]!.x - x[1]!)).toBeGreaterThan(88);
  const plain = layout(3, [edge(0, 1), edge(1, 2)]);
  expect(new Set(plain.x).size).toBe(1);
});

test("nodes of one rank do not lie over one another", () => {
  const edges = Array.from({ length: 12 }, (_, place) => edge(0, place + 1));
  const { x, rank, width } = layout(13, edges);
  const row = x.filter((_, place) => rank[place] === 1).sort((one, two) => one - two);
  for (let place = 1; place < row.length; place += 1) expect(row[place]! - row[place - 1]!).toBeGreaterThanOrEqual(176);
  expect(Math.min(...x)).toBeGreaterThanOrEqual(88);
  expect(Math.max(...x)).toBeLessThanOrEqual(width - 88 + 0.001);
});

test("an empty graph and one of many long edges are laid out at once", () => {
  expect(layout(0, []).ranks).toBe(1);
  const many = Array.from({ length: 400 }, (_, from) => edge(from, 400));
  const chain = Array.from({ length: 400 }, (_, from) => edge(from, from + 1));
  const { bends, x } = layout(401, [...chain, ...many]);
  expect(bends.flat().length).toBeLessThanOrEqual(4400);
  expect(x.every(Number.isFinite)).toBe(true);
});

test("numbers that must rise stay as near as they can", () => {
  expect(rising([3, 1, 2, 5])).toEqual([2, 2, 2, 5]);
  expect(rising([])).toEqual([]);
});
