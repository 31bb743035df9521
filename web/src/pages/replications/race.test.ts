import { describe, expect, it } from "vitest";
import { race, reach, told, within } from "./race";

const variant = (words: string, expected: number, out = false) => ({
  pitfalls: ["color-layout"],
  words,
  expected,
  deviation: 0.01,
  gained: 1,
  lost: 0,
  out,
  why: out ? "cannot reach the claim" : null,
});

describe("a race", () => {
  const rounds = [
    { samples: 32, variants: [variant("far", 0.2), variant("near", 0.79), variant("no", 0.5, true)] },
    { samples: 64, variants: [variant("far", 0.3, true)] },
  ];

  it("shows the last that was told of each variant, those nearest to the claim first", () => {
    const { running, left } = race(rounds, 0.8);
    expect(running.map((each) => each.words)).toEqual(["near"]);
    expect(left.map((each) => [each.words, each.samples])).toEqual([
      ["no", 32],
      ["far", 64],
    ]);
  });

  it("is read from the events", () => {
    const at = { number: 1, at: "" };
    const goal = { metric: "top1", claimed: 0.8, measured: 0.6, low: 0.79, high: 0.81 };
    const found = told([
      { ...at, kind: "judged", ...goal },
      { ...at, kind: "progress", done: 1 },
      { ...at, kind: "tried", ...rounds[0]! },
    ]);
    expect(found.goal?.claimed).toBe(0.8);
    expect(found.goal?.unit).toBe("share"); // of an agent that tells none
    expect(found.rounds).toHaveLength(1);
  });
});

it("draws what lies far off at the edge", () => {
  const [low, high] = reach({ measured: 0.6, claimed: 0.8, unit: "share" });
  expect(low).toBeCloseTo(0.36);
  expect(high).toBeCloseTo(0.92);
  expect(within([low, high], 0)).toBe(0);
  expect(within([low, high], 1)).toBe(1);
});

it("takes no number for a share that is none", () => {
  const [low, high] = reach({ measured: 32.37, claimed: 33.69, unit: "dB" });
  expect(low).toBeCloseTo(30.786);
  expect(high).toBeCloseTo(34.482);
});
