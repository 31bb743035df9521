/** A JSON Schema as far as completion needs it: what may stand at a place, and what it means. */
export interface Node {
  $ref?: string;
  $defs?: Record<string, Node>;
  anyOf?: Node[];
  oneOf?: Node[];
  allOf?: Node[];
  type?: string | string[];
  properties?: Record<string, Node>;
  additionalProperties?: boolean | Node;
  items?: Node;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  description?: string;
  required?: string[];
}

const DEEPEST = 20;

/** Every form that a place may have: references followed, choices taken apart. */
export function forms(root: Node, node: Node, depth = 0): Node[] {
  if (depth > DEEPEST) return [];
  const followed = node.$ref ? root.$defs?.[node.$ref.replace("#/$defs/", "")] : undefined;
  const inside = [...(followed ? [followed] : []), ...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])];
  return [node, ...inside.flatMap((each) => forms(root, each, depth + 1))];
}

/** An item of a list is a step of its own in a path. */
export const ITEM = Symbol("item");
export type Step = string | typeof ITEM;

/** The forms of what stands at the end of a path. */
export function at(root: Node, path: readonly Step[]): Node[] {
  let found = forms(root, root);
  for (const step of path) found = found.flatMap((node) => inside(root, node, step));
  return found;
}

function inside(root: Node, node: Node, step: Step): Node[] {
  if (step === ITEM) return node.items ? forms(root, node.items) : [];
  const named = node.properties?.[step];
  if (named) return forms(root, named);
  return typeof node.additionalProperties === "object" ? forms(root, node.additionalProperties) : [];
}

/** What it means in one line. */
export function meaning(root: Node, node: Node): string {
  const said = forms(root, node).find((each) => each.description)?.description ?? "";
  return said.split("\n")[0]!.trim();
}
