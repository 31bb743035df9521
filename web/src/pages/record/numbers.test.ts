import { expect, test } from "vitest";
import { between, seconds, shownNumbers, spanOf } from "./numbers";

const interval = { value: 0.8571, low: 0.757, high: 0.921, confidence: 0.95 };

test("every metric that is a number is shown, of whatever task", () => {
  const found = shownNumbers({
    top1: interval,
    top5: null,
    mean_iou: { ...interval, value: 0.5 },
    word_errors: 12,
    calibration: { ece: 0.061, bins: [] },
    refused: { top5: "no" },
    per_class: {},
  });
  expect(found.map((each) => [each.name, each.value])).toEqual([
    ["Top-1 accuracy", "85.71 %"],
    ["Mean iou", "50.00 %"],
    ["Word errors", "12.0"],
    ["Calibration error", "6.10 %"],
  ]);
  expect(found[0]?.beside).toBe("95 % between 75.7 and 92.1 %");
});

test("a narrow interval has more digits", () => {
  expect(between({ value: 0.75, low: 0.7481, high: 0.7519, confidence: 0.95 })).toBe("95 % between 74.81 and 75.19 %");
});

test("times have a unit that fits", () => {
  expect(seconds(0.0123)).toBe("12.3 ms");
  expect(seconds(2)).toBe("2.00 s");
  expect(spanOf({ value: 0.0005, low: 0.0004, high: 0.0006, confidence: 0.95 })).toBe("400 – 600 µs");
});
