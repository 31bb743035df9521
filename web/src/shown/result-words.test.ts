import { expect, test } from "vitest";
import { datasetOf, numberOf, samplesOf } from "./result-words";

const headline = { name: "top1", title: "top-1", value: 0.751, low: 0.7472, high: 0.7548, unit: "share" } as const;

test("a number is told with its interval, where it has one", () => {
  expect(numberOf({ headline: { ...headline, better: "higher" } })).toBe("top-1 75.10 % (74.7 – 75.5 %)");
  expect(numberOf({ headline: { ...headline, low: null, high: null, better: "higher" } })).toBe("top-1 75.10 %");
});

test("a whole dataset is told apart from a part of it", () => {
  expect(samplesOf({ samples: 50_000, total: 50_000, whole: true })).toBe("all 50,000");
  expect(samplesOf({ samples: 500, total: 50_000, whole: false })).toBe("500 of 50,000");
  expect(samplesOf({ samples: 500, total: null, whole: false })).toBe("500, a part");
});

test("a split belongs to the dataset", () => {
  expect([datasetOf({ dataset: "x", split: null }), datasetOf({ dataset: "x", split: "test" })]).toEqual([
    "x",
    "x, test",
  ]);
});
