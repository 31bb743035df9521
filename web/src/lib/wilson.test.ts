import { expect, test } from "vitest";
import { wilson } from "./wilson";

test("one right answer of one says little", () => {
  const [low, high] = wilson(1, 1);
  expect(low).toBeCloseTo(0.207, 3);
  expect(high).toBe(1);
});

test("an interval lies around its share, narrower with more samples, and never leaves 0 to 1", () => {
  let before = 2;
  for (const count of [1, 10, 100, 10_000]) {
    for (const share of [0, 0.3, 1]) {
      const [low, high] = wilson(share, count);
      expect(low).toBeGreaterThanOrEqual(0);
      expect(high).toBeLessThanOrEqual(1);
      expect(low).toBeLessThanOrEqual(share + 1e-9);
      expect(high).toBeGreaterThanOrEqual(share - 1e-9);
    }
    const [low, high] = wilson(0.3, count);
    expect(high - low).toBeLessThan(before);
    before = high - low;
  }
});

test("of no samples nothing is known", () => {
  expect(wilson(0, 0)).toEqual([0, 1]);
});
