/** Where the boxes of a flame graph lie when one of them is as wide as the page. */
import type { Schemas } from "../../api/client";

type Node = Schemas["FlameNode"];

export interface Box {
  place: number;
  node: Node;
  depth: number;
  /** Shares of the width. */
  left: number;
  wide: number;
}

/** What is around the chosen one is as wide as it; children side by side, in the order in which they are told. */
export function boxes(nodes: readonly Node[], chosen: number, least: number): Box[] {
  const below = childrenOf(nodes);
  const path = pathTo(nodes, chosen);
  const found: Box[] = path
    .slice(0, -1)
    .map((place, depth) => ({ place, node: nodes[place]!, depth, left: 0, wide: 1 }));
  const whole = nodes[chosen]!.total_ns || 1;
  const waiting: Box[] = [{ place: chosen, node: nodes[chosen]!, depth: path.length - 1, left: 0, wide: 1 }];
  for (let box = waiting.pop(); box; box = waiting.pop()) {
    found.push(box);
    let left = box.left;
    // Those that run side by side may take longer together than what is around them: then all are made narrower.
    const sum = (below.get(box.place) ?? []).reduce((total, each) => total + nodes[each]!.total_ns, 0) / whole;
    const scale = sum > box.wide ? box.wide / sum : 1;
    for (const place of below.get(box.place) ?? []) {
      const wide = (scale * nodes[place]!.total_ns) / whole;
      if (wide >= least) waiting.push({ place, node: nodes[place]!, depth: box.depth + 1, left, wide });
      left += wide;
    }
  }
  return found;
}

/** What to show first: all, unless the layers are only a small part of it; then what is around the layers. */
export function firstNode(nodes: readonly Node[]): number {
  const whole = nodes[0]?.total_ns ?? 0;
  const layers = nodes.reduce((sum, node) => sum + (node.level === "framework" ? node.total_ns : 0), 0);
  const first = nodes.findIndex((node) => node.level === "framework");
  if (first < 0 || layers > 0.3 * whole) return 0;
  return pathTo(nodes, first).find((place) => nodes[place]!.level === "model") ?? 0;
}

/** A node and all below it; parents stand before their children. */
export function within(nodes: readonly Node[], chosen: number): Set<number> {
  const found = new Set([chosen]);
  nodes.forEach(({ parent }, place) => {
    if (parent !== null && found.has(parent)) found.add(place);
  });
  return found;
}

/** From the root to a node, both included. */
export function pathTo(nodes: readonly Node[], place: number): number[] {
  const found = [];
  for (let at: number | null = place; at !== null; at = nodes[at]!.parent) found.unshift(at);
  return found;
}

function childrenOf(nodes: readonly Node[]): Map<number, number[]> {
  const found = new Map<number, number[]>();
  nodes.forEach(({ parent }, place) => {
    if (parent !== null) found.set(parent, [...(found.get(parent) ?? []), place]);
  });
  return found;
}
