import { expect, test } from "vitest";
import { requestOf } from "./request";

test("what is not filled in is not asked for", () => {
  expect(requestOf({ model: "resnet50" })).toEqual({ kind: "evaluate", model: "resnet50" });
});

test("the paper's example can be expressed", () => {
  const asked = requestOf({
    model: "resnet50",
    framework: "tensorflow",
    frameworkVersion: ">=1.10.x and <=1.13.0",
    vendor: "Intel",
    interconnect: "NVLink",
    agents: "all",
  });
  expect(asked.where).toEqual({
    framework: { name: "tensorflow", version: ">=1.10.x and <=1.13.0" },
    hardware: { cpu: { vendor: "Intel" }, interconnect: "NVLink" },
  });
  expect(asked.agents).toBe("all");
});

test("amounts are what there must be at least", () => {
  const { hardware } = requestOf({
    model: "m",
    cores: "8",
    memory: "32",
    acceleratorMemory: "16",
    flags: "avx2, fma",
  }).where!;
  expect(hardware).toEqual({
    cpu: { ncpu: ">=8", flags: ["avx2", "fma"] },
    memory: ">=32 GiB",
    gpu: { memory: ">=16 GiB" },
  });
});

test("labels are pairs, and what is no number is left out", () => {
  expect(requestOf({ model: "m", labels: "room=3, rack = b, odd", limit: "many" })).toEqual({
    kind: "evaluate",
    model: "m",
    where: { labels: { room: "3", rack: "b" } },
  });
});

test("a bench has a scenario, a profile a level", () => {
  expect(requestOf({ model: "m", kind: "bench", scenario: "offline" }).arguments).toEqual({ scenario: "offline" });
  expect(requestOf({ model: "m", kind: "profile" }).arguments).toEqual({ level: "framework" });
});
