import { expect, it } from "vitest";
import { added, MOST, parse } from "./views";

it("reads only what is a view, whatever the storage holds", () => {
  const odd = ['{"a": 1}', "no JSON", "[1, null, []]", '[{"name": "", "look": {}}]', '[{"name": "a", "look": [1]}]'];
  for (const text of [null, ...odd]) expect(parse(text)).toEqual([]);
  expect(parse('[{"name": "mine", "look": {"q": "vgg"}}]')).toEqual([{ name: "mine", look: { q: "vgg" } }]);
});

it("replaces a view of the same name and keeps a bounded number", () => {
  const one = added([], { name: "b", look: { q: "x" } });
  expect(added(one, { name: "b", look: {} })).toEqual([{ name: "b", look: {} }]);
  expect(added(one, { name: "a", look: {} }).map((each) => each.name)).toEqual(["a", "b"]);
  const many = Array.from({ length: 2 * MOST }, (_, number) => ({ name: `v${number}`, look: {} }));
  expect(many.reduce<readonly { name: string; look: object }[]>(added, []).length).toBe(MOST);
});
