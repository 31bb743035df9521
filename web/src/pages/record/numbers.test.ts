import { expect, test } from "vitest";
import { between, seconds, shownNumbers, spanOf } from "./numbers";

const interval = {
  ...{ value: 0.8571, title: "top-1", low: 0.757, high: 0.921, confidence: 0.95 },
  ...{ unit: "share", better: "higher" as const, samples: 70 },
};
const bare = { ...interval, low: null, high: null };

test("every metric is shown, of whatever task, in its own unit", () => {
  const found = shownNumbers({
    top1: interval,
    psnr: { ...interval, value: 37.6526, title: "PSNR", unit: "dB" },
    kappa: { ...bare, value: 12, title: "", unit: "number" },
    ece: { ...bare, value: 0.061, title: "calibration error", better: "lower" as const },
  });
  expect(found.map((each) => [each.name, each.value])).toEqual([
    ["Top-1", "85.71 %"],
    ["PSNR", "37.65 dB"],
    ["Kappa", "12.0"],
    ["Calibration error", "6.10 %"],
  ]);
  expect(found[3]?.beside).toBe("lower is better");
  expect(found[0]?.beside).toBe("95 % between 75.7 and 92.1 %");
});

test("a narrow interval has more digits", () => {
  expect(between({ ...interval, low: 0.7481, high: 0.7519 })).toBe("95 % between 74.81 and 75.19 %");
});

test("times have a unit that fits", () => {
  expect(seconds(0.0123)).toBe("12.3 ms");
  expect(seconds(2)).toBe("2.00 s");
  expect(spanOf({ value: 0.0005, low: 0.0004, high: 0.0006, confidence: 0.95 })).toBe("400 – 600 µs");
});
