import { expect, it } from "vitest";
import { indentAfter } from "./indent";
import { placeOf, units } from "./place";
import { nextVersion, ownName, said, saying } from "./version";

it("finds a place, also behind letters that take two units", () => {
  expect(placeOf("a: 1\nresise: 2\n", 2, 1)).toEqual({ from: 5, to: 11 });
  expect(placeOf("d: {🙂🙂, x: 1}", 1, 8)).toEqual({ from: 9, to: 10 });
  expect(units("🙂a", 1)).toBe(2);
});

it("keeps a place inside of the text, whatever was said", () => {
  expect(placeOf("ab", 99, 99)).toEqual({ from: 2, to: 2 });
  expect(placeOf("", 0, 0)).toEqual({ from: 0, to: 0 });
});

it("reads and changes the version alone", () => {
  const text = 'name: mine\nversion: "1.0.0" # first\nframework:\n  version: 2\n';
  expect([said(text, "name"), said(text, "version"), said("x: 1", "name")]).toEqual(["mine", "1.0.0", null]);
  expect(said(saying(text, "version", "1.0.1"), "version")).toBe("1.0.1");
  expect(said(saying(text, "name", ownName("mine", "Ada L.")), "name")).toBe("mine-ada-l");
  expect(saying("name: a\n", "version", "2.0.0")).toBe("version: 2.0.0\nname: a\n");
});

it("counts on from the largest version", () => {
  expect(nextVersion(["1.0.9", "1.0.10", "0.9"])).toBe("1.0.11");
  expect(nextVersion([])).toBe("1.0.0");
});

it("goes on where a line began, and deeper below a key", () => {
  expect(indentAfter("    crop: {method: center}")).toBe("    ");
  expect(indentAfter("inputs: # in this order")).toBe("  ");
  expect(indentAfter("  - type: image")).toBe("    ");
  expect(indentAfter("  - processing:")).toBe("      ");
  expect(indentAfter("")).toBe("");
});
