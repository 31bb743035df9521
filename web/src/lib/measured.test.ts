import { expect, test } from "vitest";
import { headed, spelled, written } from "./measured";

test("a number is written in the unit of its measure", () => {
  expect(spelled(0.8286, "share", 1)).toBe("82.9 %");
  expect(spelled(37.6526, "dB")).toBe("37.65 dB");
  expect(spelled(0.25, "number")).toBe("0.25");
  expect(written(0.5, "share")).toBe("50.00");
  expect(headed("mean IoU")).toBe("Mean IoU");
});
