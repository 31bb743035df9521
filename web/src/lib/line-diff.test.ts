import { expect, test } from "vitest";
import { hunks } from "./line-diff";

const said = (before: string, after: string) =>
  hunks(before, after).map((hunk) => hunk.map((line) => line.sign + line.text));

test("a changed line stands between the lines around it", () => {
  const before = "a\nb\nc\nd\ne\nf";
  expect(said(before, before.replace("d", "D"))).toEqual([[" b", " c", "-d", "+D", " e", " f"]]);
  expect(said(before, before)).toEqual([]);
});

test("changes far from one another are apart, near ones together, and no line is told twice", () => {
  const before = Array.from({ length: 20 }, (_, place) => `line ${place}`).join("\n");
  const far = said(before, before.replace("line 3\n", "").replace("line 16", "other"));
  expect(far.map((hunk) => hunk.filter((line) => line[0] !== " "))).toEqual([["-line 3"], ["-line 16", "+other"]]);
  const near = said(before, before.replace("line 3\n", "").replace("line 5\n", ""));
  expect(near).toEqual([[" line 1", " line 2", "-line 3", " line 4", "-line 5", " line 6", " line 7"]]);
});

test("from nothing, to nothing, and a last line without an end", () => {
  expect(said("", "a\nb")).toEqual([["-", "+a", "+b"]]);
  expect(said("a", "a\n")).toEqual([[" a", "+"]]);
});

test("what the changes make of the first text is the second", () => {
  let seed = 7;
  const random = (most: number) => (seed = (seed * 48271) % 2147483647) % most;
  for (let round = 0; round < 200; round += 1) {
    const text = () => Array.from({ length: random(12) }, () => "abc"[random(3)]!).join("\n");
    const [before, after] = [text(), text()];
    const all = hunks(before, after, 1000).flat();
    if (before === after) expect(all).toEqual([]);
    else {
      expect(
        all
          .filter((line) => line.sign !== "+")
          .map((line) => line.text)
          .join("\n"),
      ).toBe(before);
      expect(
        all
          .filter((line) => line.sign !== "-")
          .map((line) => line.text)
          .join("\n"),
      ).toBe(after);
    }
  }
});

test("two long texts with nothing in common are wholly other ones", () => {
  const long = (word: string) => Array.from({ length: 5_000 }, (_, place) => `${word} ${place}`).join("\n");
  expect(hunks(long("a"), long("b"))[0]).toHaveLength(10_000);
});
