import { expect, test } from "vitest";
import { cells, points, samples, systemOf } from "./points";

const number = (value: number) => ({
  ...{ value, record: "r", low: null, high: null, unstable: false },
  ...{ dataset: "toys@1.0.0", scenario: "evaluation", samples: 70, whole: true, unit: "share" },
});
const row = {
  ...{
    model: "toy@1.0.0",
    dataset: "toys@1.0.0",
    total: 70,
    stack: "fake 1",
    machine: "here",
    size_bytes: 5,
    best_batch: 1,
    optimal_batch: null,
  },
  ...{ accuracy: number(0.5), top1: null, latency_s: number(0.02), p90_s: null, samples_per_s: null, missing: [] },
  ...{ fastest: true, most: false, comparable: true },
  sweep: [1, 2].map((size) => ({ batch_size: size, samples_per_s: 10 * size, speed_up: size })),
};

test("what lacks a number has no point", () => {
  expect(points([row], "latency")).toMatchObject([{ model: "toy", speed: 20, accuracy: 50, on_front: true }]);
  expect(points([row], "throughput")).toEqual([]);
});

test("a machine is named where there are several", () => {
  expect(systemOf([row])(row)).toBe("fake 1");
  expect(systemOf([row, { ...row, machine: "there" }])(row)).toBe("fake 1 on here");
});

test("a batch size is a cell", () => {
  expect(cells([row, { ...row, sweep: [] }]).map((each) => each.speed_up)).toEqual([1, 2]);
});

test("an accuracy over other samples is not drawn beside the rest", () => {
  const part = { ...row, comparable: false, accuracy: { ...number(0.9), samples: 12, whole: false } };
  expect(points([row, part], "latency").map((each) => each.accuracy)).toEqual([50]);
  expect(samples(part.accuracy, 70)).toBe("12 of 70");
  expect(samples(part.accuracy, null)).toBe("12, not all");
  expect(samples(row.accuracy, 70)).toBe("70");
});
