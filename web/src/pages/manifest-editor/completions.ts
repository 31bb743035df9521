/** What may be written at a place of a manifest, by its schema. */
import { contextAt } from "./context";
import { at, forms, ITEM, meaning, type Node } from "./schema";

export interface Option {
  label: string;
  /** What is put there. */
  apply: string;
  /** What it means, in one line. */
  detail: string;
  kind: "key" | "value";
}

export interface Completions {
  from: number;
  options: Option[];
}

export function completions(schema: Node, text: string, offset: number): Completions | null {
  const context = contextAt(text, offset);
  if (!context) return null;
  const places = at(schema, context.path);
  const found =
    context.role === "key"
      ? [
          ...keys(schema, places, context.used),
          ...(context.flow || context.path.at(-1) === ITEM ? values(places) : []),
          ...(context.flow ? [] : firstItems(schema, places, context.used)),
        ]
      : [...values(places), ...(context.path.at(-1) === ITEM ? [] : values(lists(schema, places), "[", "]"))];
  const options = [...new Map(found.map((each) => [each.label, each])).values()];
  return options.length ? { from: context.from, options } : null;
}

function keys(root: Node, places: readonly Node[], used: ReadonlySet<string>): Option[] {
  const required = new Set(places.flatMap((place) => place.required ?? []));
  return places
    .flatMap((place) => Object.entries(place.properties ?? {}))
    .filter(([name]) => !used.has(name))
    .map(([name, node]) => {
      const said = meaning(root, node);
      const detail = required.has(name) ? `needed. ${said}` : said;
      return { label: name, apply: `${name}: `, detail, kind: "key" as const };
    });
}

function values(places: readonly Node[], before = "", after = ""): Option[] {
  const usual = places.find((place) => place.default !== undefined)?.default;
  const known = places.flatMap((place) => [
    ...(place.enum ?? []),
    ...(place.const !== undefined ? [place.const] : []),
    ...(place.type === "boolean" ? [true, false] : []),
  ]);
  return known
    .filter((value) => value !== null)
    .map((value) => ({
      label: `${before}${spell(value)}${after}`,
      apply: `${before}${spell(value)}${after}`,
      detail: value === usual ? "unless it is said" : "",
      kind: "value" as const,
    }));
}

/** The forms of the items, where a list may stand. */
function lists(root: Node, places: readonly Node[]): Node[] {
  return places.flatMap((place) => (place.items ? forms(root, place.items) : []));
}

/** A list is begun with the first key of an item, or with a value. */
function firstItems(root: Node, places: readonly Node[], used: ReadonlySet<string>): Option[] {
  if (used.size) return [];
  const items = lists(root, places);
  const begun = (each: Option) => ({ ...each, label: `- ${each.label}`, apply: `- ${each.apply}` });
  return [...keys(root, items, used), ...values(items)].map(begun);
}

/** As YAML reads it again: a word that it would take for something else is quoted. */
function spell(value: unknown): string {
  if (typeof value !== "string") return String(value);
  return /^(true|false|yes|no|on|off|null|~|[-+.\d].*)$/i.test(value) ? `"${value}"` : value;
}
