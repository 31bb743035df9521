/** What is drawn of a network: layers, folded blocks, and what passes between them. */
import type { Schemas } from "../../api/client";

type Network = Schemas["ModelNetwork"];
type Shape = readonly (number | null)[] | null | undefined;

export interface Node {
  id: string;
  kind: "input" | "layer" | "block";
  /** Of the layer, of the block, or of the input. */
  number: number;
  title: string;
  about: string;
}

export interface Edge {
  from: number;
  to: number;
  shape: string;
}

export interface Visible {
  nodes: Node[];
  /** By places in `nodes`; each goes forward. */
  edges: Edge[];
}

/** Blocks in `open` show their layers. Nodes are in the order of execution, so that edges only go forward. */
export function visibleOf(network: Network, open: ReadonlySet<number>): Visible {
  const nodes: Node[] = network.inputs.map((input, number) => ({
    id: `input ${number}`,
    kind: "input",
    number,
    title: input.name,
    about: spelledShape(input.shape),
  }));
  const places: number[] = [];
  for (const [number, layer] of network.layers.entries()) {
    const block = layer.block;
    if (block == null || open.has(block)) {
      places.push(nodes.length);
      nodes.push({ id: `layer ${number}`, kind: "layer", number, title: layer.kind ?? layer.name, about: layer.name });
    } else if (number > 0 && network.layers[number - 1]!.block === block) {
      places.push(nodes.length - 1);
    } else {
      places.push(nodes.length);
      const { name, layers } = network.blocks[block]!;
      nodes.push({ id: `block ${block}`, kind: "block", number: block, title: name, about: `${layers} layers` });
    }
  }
  return { nodes, edges: edgesOf(network, places) };
}

function edgesOf(network: Network, places: readonly number[]): Edge[] {
  const inputs = new Map(network.inputs.map((input, place) => [input.name, place]));
  const found = new Map<string, Edge>();
  for (const [number, layer] of network.layers.entries())
    for (const taken of layer.inputs) {
      const from = taken.layer == null ? inputs.get(taken.tensor) : places[taken.layer];
      const to = places[number]!;
      // What a loop passes back has no place in a drawing from above to below.
      if (from === undefined || from >= to) continue;
      const key = `${from} ${to}`;
      if (!found.has(key)) found.set(key, { from, to, shape: spelledShape(taken.shape) });
    }
  return [...found.values()];
}

/** `1 × 32 × 112 × 112`; an open size is `?`. */
export const spelledShape = (shape: Shape): string =>
  shape == null ? "" : shape.length ? shape.map((size) => size ?? "?").join(" × ") : "one number";
