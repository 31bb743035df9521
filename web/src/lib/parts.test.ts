import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { excerptOf, partOf, spelled } from "./parts";

const input = (more: Partial<Schemas["SampleInput"]>): Schemas["SampleInput"] => ({
  id: "a",
  kind: "text",
  texts: [],
  cells: [],
  more_cells: 0,
  sound: null,
  ...more,
});
const record = (...parts: string[]) => ({ plan: { inputs: parts.map((part) => ({ part })) } }) as never;

test("the first input says what samples are", () => {
  expect(partOf(record("audio", "image"))).toBe("audio");
  expect(partOf(record("id"))).toBeNull();
  expect(partOf(record())).toBeNull();
});

test("a line has the beginning of each text", () => {
  const texts = [
    { title: "Text", text: "x".repeat(999) },
    { title: "Second text", text: "" },
  ];
  expect(excerptOf(input({ texts }))).toBe(`${"x".repeat(160)}… · (empty)`);
});

test("a row is a few cells, a sound its length", () => {
  const cells = Array.from({ length: 9 }, (_, at) => ({ column: `c${at}`, value: String(at) }));
  expect(excerptOf(input({ cells }))).toBe("c0 0 · c1 1 · c2 2 · c3 3 · c4 4 · c5 5");
  const sound = { reason: null, remark: "", seconds: 1.5, about: "", peaks: [] };
  expect(excerptOf(input({ sound }))).toBe("1.50 s");
  expect(excerptOf(input({ sound: { ...sound, seconds: null } }))).toBe("sound");
});

test("numbers have six digits that count", () => {
  expect([spelled(1 / 3), spelled(1234567), spelled(4), spelled(1e-9)]).toEqual(["0.333333", "1234570", "4", "1e-9"]);
});
