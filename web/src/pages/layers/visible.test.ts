import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import { spelledShape, visibleOf } from "./visible";

const taken = (layer: number | null, tensor = "t") => ({ layer, tensor, shape: [1, null] });
const layer = (name: string, block: number | null, ...inputs: ReturnType<typeof taken>[]) => ({
  name,
  kind: "Conv",
  block,
  inputs,
  ...{ outputs: [], weights: [], attributes: [], more: 0, parameters: 0, weight_bytes: 0, flops: null },
});
const network = {
  inputs: [{ name: "x", element_type: null, shape: [1, 3] }],
  blocks: [{ name: "body", layers: 2 }],
  layers: [
    layer("stem", null, taken(null, "x")),
    layer("a", 0, taken(0)),
    layer("b", 0, taken(1)),
    layer("head", null, taken(2), taken(0), taken(3)),
  ],
} as unknown as Schemas["ModelNetwork"];

test("a folded block is one node, and edges within it are not seen", () => {
  const { nodes, edges } = visibleOf(network, new Set());
  expect(nodes.map((node) => node.id)).toEqual(["input 0", "layer 0", "block 0", "layer 3"]);
  expect(edges.map(({ from, to }) => [from, to])).toEqual([
    [0, 1],
    [1, 2],
    [2, 3],
    [1, 3],
  ]);
  expect(edges[0]!.shape).toBe("1 × ?");
});

test("an open block shows its layers, and what a loop passes back is left out", () => {
  const { nodes, edges } = visibleOf(network, new Set([0]));
  expect(nodes.map((node) => node.id)).toEqual(["input 0", "layer 0", "layer 1", "layer 2", "layer 3"]);
  expect(edges.every(({ from, to }) => from < to)).toBe(true);
});

test("shapes are spelled for people", () => {
  expect([spelledShape(null), spelledShape([]), spelledShape([2, null])]).toEqual(["", "one number", "2 × ?"]);
});
