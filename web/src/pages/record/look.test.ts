import { expect, test } from "vitest";
import { isNarrowed, questionOf, readLook } from "./look";

test("an address is read as far as it makes sense", () => {
  expect(readLook({ tab: "samples", only: "wrong", above: 0.9, q: 281, label: "7" })).toEqual({
    tab: "samples",
    only: "wrong",
    above: 0.9,
    q: "281",
    label: 7,
  });
  expect(readLook({ tab: "odd", only: 3, above: "much", q: "", sample: {} })).toEqual({});
});

test("what is sorted by comes with the highest first", () => {
  expect(questionOf({ sort: "score" })).toMatchObject({ sort: "score", descending: true });
  expect(questionOf({ sort: "latency", order: "up" })).toMatchObject({ descending: false });
  expect(questionOf({}).descending).toBeUndefined();
});

test("class 0 is a class", () => {
  expect(isNarrowed({ label: 0 })).toBe(true);
  expect(isNarrowed({ tab: "samples", sort: "score" })).toBe(false);
});
