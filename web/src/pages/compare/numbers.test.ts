import { expect, test } from "vitest";
import { between, spell, times } from "./numbers";

test("numbers have their units", () => {
  expect(spell(0.829, "share")).toBe("82.90 %");
  expect(spell(0.0234, "time_s")).toBe("23.4 ms");
  expect(spell(174 * 1024 * 1024, "bytes")).toBe("174 MiB");
});

test("an interval is shown where one is known", () => {
  expect(between({ value: 0.5, low: 0.4, high: 0.6 }, "share")).toBe("40.00 % … 60.00 %");
  expect(between({ value: 2, low: 2, high: 2 }, "number")).toBeNull();
});

test("others are told as times the first", () => {
  const first = { value: 2, low: 2, high: 2 };
  expect(times({ value: 5, low: 5, high: 5 }, first)).toBe("× 2.50");
  expect(times(first, first)).toBeNull();
  expect(times(null, first)).toBeNull();
});
