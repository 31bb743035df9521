import { expect, test } from "vitest";
import { cells, points, systemOf } from "./points";

const number = (value: number) => ({ value, record: "r", low: null, high: null, unstable: false });
const row = {
  ...{ model: "toy@1.0.0", stack: "fake 1", machine: "here", size_bytes: 5, best_batch: 1, optimal_batch: null },
  ...{ top1: number(0.5), latency_s: number(0.02), p90_s: null, samples_per_s: null, missing: [] },
  ...{ fastest: true, most: false },
  sweep: [1, 2].map((size) => ({ batch_size: size, samples_per_s: 10 * size, speed_up: size })),
};

test("what lacks a number has no point", () => {
  expect(points([row], "latency")).toMatchObject([{ model: "toy", speed: 20, top1_percent: 50, on_front: true }]);
  expect(points([row], "throughput")).toEqual([]);
});

test("a machine is named where there are several", () => {
  expect(systemOf([row])(row)).toBe("fake 1");
  expect(systemOf([row, { ...row, machine: "there" }])(row)).toBe("fake 1 on here");
});

test("a batch size is a cell", () => {
  expect(cells([row, { ...row, sweep: [] }]).map((each) => each.speed_up)).toEqual([1, 2]);
});
