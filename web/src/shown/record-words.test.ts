import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { datasetOf, kindOf, resultOf } from "./record-words";

const row = {
  id: "20260131-101502-3f9a",
  status: "finished",
  kind: "bench",
  scenario: "offline",
  made_for: "sensitivity",
  model: "resnet50",
  model_version: "1.0.0",
  dataset: "imagenet",
  samples: 50000,
  headline: { name: "top1", title: "top-1", value: 0.7601, low: 0.7563, high: 0.7638, unit: "share", better: "higher" },
  top1: 0.7601,
  top1_low: 0.7563,
  top1_high: 0.7638,
} as Schemas["RecordSummary"];

test("a line has the kind of work, the samples and the interval", () => {
  expect(kindOf(row)).toBe("bench, offline, for sensitivity");
  expect(datasetOf(row)).toBe("imagenet, 50,000 samples");
  expect(resultOf(row)).toBe("top-1 76.01 % (75.6 – 76.4 %)");
  expect(resultOf({ ...row, headline: null })).toBe("–");
  expect(resultOf({ ...row, status: "interrupted" })).toBe("interrupted");
});
