import { expect, test } from "vitest";
import { boxes, firstNode, pathTo, within } from "./flame-layout";

const node = (parent: number | null, total_ns: number) => ({
  ...{ parent, total_ns, own_ns: 0, count: 1 },
  ...{ name: "n", level: "model" },
});
const nodes = [node(null, 100), node(0, 60), node(0, 40), node(1, 30)];

test("children lie side by side below their parent", () => {
  const found = boxes(nodes, 0, 0);
  expect(found.map((box) => [box.place, box.depth, box.left, box.wide])).toEqual(
    expect.arrayContaining([
      [0, 0, 0, 1],
      [1, 1, 0, 0.6],
      [2, 1, 0.6, 0.4],
      [3, 2, 0, 0.3],
    ]),
  );
});

test("the chosen one is as wide as the page, and what is around it too", () => {
  const found = boxes(nodes, 1, 0);
  expect(found.map((box) => [box.place, box.wide])).toEqual([
    [0, 1],
    [1, 1],
    [3, 0.5],
  ]);
  expect(pathTo(nodes, 3)).toEqual([0, 1, 3]);
  expect([...within(nodes, 1)]).toEqual([1, 3]);
});

test("what runs side by side stays inside its parent", () => {
  const wide = boxes([node(null, 100), node(0, 100), node(0, 100)], 0, 0);
  expect(wide.filter((box) => box.depth === 1).map((box) => box.wide)).toEqual([0.5, 0.5]);
});

test("layers that are lost in a long trace are looked at first", () => {
  const layer = { ...node(1, 5), level: "framework" };
  const load = { ...node(0, 95), level: "application" };
  const run = { ...node(0, 5), level: "model" };
  expect(firstNode([{ ...node(null, 100), level: "none" }, run, layer, load])).toBe(1);
  expect(
    firstNode([
      { ...node(null, 10), level: "none" },
      { ...run, total_ns: 9 },
      { ...layer, total_ns: 9 },
    ]),
  ).toBe(0);
});

test("what is too narrow is left out", () => {
  expect(boxes(nodes, 0, 0.35).map((box) => box.place)).toEqual([0, 2, 1]);
});
