import { expect, test } from "vitest";
import { apartIn, difference, headed, published, spelled, written } from "./measured";

test("a number is written in the unit of its measure", () => {
  expect(spelled(0.8286, "share", 1)).toBe("82.9 %");
  expect(spelled(37.6526, "dB")).toBe("37.65 dB");
  expect(spelled(0.25, "number")).toBe("0.25");
  expect(written(0.5, "share")).toBe("50.00");
  expect(headed("mean IoU")).toBe("Mean IoU");
});

test("a published number keeps its digits and has its own unit", () => {
  expect(published("75.10", "share")).toBe("75.10 %");
  expect(published("37.65", "dB")).toBe("37.65 dB");
  expect(published("0.9308", "number")).toBe("0.9308");
});

test("a difference is in points only where the number is a percentage", () => {
  expect([difference(-0.1234, "share"), apartIn("share")]).toEqual(["−12.3", "points"]);
  expect([difference(0.00004, "share"), difference(0.01, "share")]).toEqual(["0", "+1.0"]);
  expect([difference(-1.317, "dB"), apartIn("dB")]).toEqual(["−1.32", "dB"]);
  expect([difference(0.0042, "number"), apartIn("number")]).toEqual(["+0.0042", ""]);
});
