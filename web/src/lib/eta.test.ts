import { expect, test } from "vitest";
import { secondsLeft, spellLeft } from "./eta";

const now = Date.parse("2026-01-01T00:01:00Z");
const started_at = "2026-01-01T00:00:00Z";

test("what is left follows from what is done", () => {
  expect(secondsLeft({ started_at, progress: { done: 25, of: 100 } }, now)).toBe(180);
  expect(secondsLeft({ started_at, progress: { done: 100, of: 100 } }, now)).toBe(0);
});

test("nothing is said where nothing is known", () => {
  expect(secondsLeft({ started_at, progress: { done: 0, of: 100 } }, now)).toBeNull();
  expect(secondsLeft({ started_at, progress: { done: 5, of: null } }, now)).toBeNull();
  expect(secondsLeft({ progress: { done: 5, of: 10 } }, now)).toBeNull();
  expect(spellLeft(null)).toBe("");
});

test("it is said in words of its size", () => {
  expect([0.2, 80, 600, 7200].map(spellLeft)).toEqual([
    "about 1 s left",
    "about 80 s left",
    "about 10 min left",
    "about 2 h left",
  ]);
});
