import { expect, test } from "vitest";
import { aligned, depthOf, noteOf, rulesOf, shareOf, visible } from "./tokens";

test("a token is the darker the less likely it was", () => {
  expect([0, -2, -8, -99, 0.5].map((each) => depthOf(each))).toEqual([0, 0.25, 1, 1, 0]);
  expect(depthOf(null)).toBe(0);
});

test("what nobody would see is spelled out", () => {
  expect(visible("a\u202eb\u0007\tc\n")).toBe("a\\u202eb\\u0007⇥c⏎\n");
  expect(visible("<img src=x> é 猫")).toBe("<img src=x> é 猫");
});

test("a token says how likely it was", () => {
  expect(noteOf([" cat", 4, Math.log(0.25)])).toBe("token 4, log-likelihood -1.386, probability 25.0 %");
  expect(noteOf([" cat", 4, null])).toBe("token 4");
});

test("choices are set against the likeliest by each rule", () => {
  const rules = [["none", [-1, -2], 0]] as unknown as never[];
  const [rule] = rulesOf({ kind: "choices", side: "answer", choices: ["a", "b"], rules } as never);
  expect(rule!.title).toBe("likelihood");
  expect([0, 1].map((each) => shareOf(rule!, each))).toEqual([1, Math.exp(-1)]);
});

test("tokens of two records stand beside each other", () => {
  const steps = aligned(["a", "b", "c"], ["a", "x", "c", "d"], (each) => each);
  expect(steps.map(({ before, after }) => `${before ?? ""}/${after ?? ""}`)).toEqual(["a/a", "b/", "/x", "c/c", "/d"]);
  expect(aligned<string>([], [], (each) => each)).toEqual([]);
});
