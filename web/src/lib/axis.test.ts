import { describe, expect, it } from "vitest";
import { reach, tick } from "./axis";

describe("an axis", () => {
  it("spans what there is", () => {
    expect(reach([3, 1, 2])).toEqual([1, 3]);
    expect(reach([])).toEqual([0, 1]);
    expect(reach([NaN, Infinity, 4, 5])).toEqual([4, 5]);
  });
  it("is never so narrow that its ticks need all digits", () => {
    const [low, high] = reach([0.062742999999999993, 0.062743000000000007]);
    expect(high - low).toBeCloseTo(0.00062743, 8);
    expect((low + high) / 2).toBeCloseTo(0.062743, 12);
    expect(reach([0, 0])).toEqual([-0.5, 0.5]);
    expect(reach([-200])).toEqual([-201, -199]);
  });
  it("takes more values than a call can have arguments", () => {
    expect(reach(Array.from({ length: 300_000 }, (_, at) => at))).toEqual([0, 299_999]);
  });
  it("names its ticks briefly", () => {
    expect(tick(0)).toBe("0");
    expect(tick(0.30000000000000004)).toBe("0.3");
    expect(tick(25_000_000)).toBe("2.5e7");
    expect(tick(-0.0000125)).toBe("-1.25e-5");
    expect(tick(1234.5)).toBe("1234.5");
  });
});
