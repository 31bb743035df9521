import { expect, test } from "vitest";
import { partsOf } from "./parts";

const STAGES = ["decode", "resize", "crop", "mean", "cast", "layout", "run", "softmax", "top"].map((name) => ({
  name,
  duration_ns: 10,
}));

test("the parts of a time add up to it, the opening of the model included", () => {
  const parts = partsOf(STAGES, 4540, 4000);
  expect(parts.reduce((sum, part) => sum + part.duration_ns, 0)).toBe(4540);
  expect(parts[0]).toMatchObject({ name: "open the model", duration_ns: 4000 });
  expect(parts.at(-1)).toMatchObject({ name: "around it", duration_ns: 450 });
});

test("no two parts have one color", () => {
  const parts = partsOf(STAGES, 1000, 500);
  expect(new Set(parts.map((part) => part.paint)).size).toBe(parts.length);
});

test("nothing is around stages that take all of the time", () => {
  expect(partsOf(STAGES, 90).map((part) => part.name)).toEqual(STAGES.map((stage) => stage.name));
});
