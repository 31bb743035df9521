import { expect, it } from "vitest";
import { describe as story } from "./draw";
import { chance, change, type Cost, headline, layout, rowsOf, spread, strength, told, twoLines } from "./heat";

const cost = (pitfall: string, words: string, difference: number): Cost => ({
  pitfall,
  title: pitfall,
  words,
  difference,
  value: 0.8 + difference,
  others: {},
  gained: 0,
  lost: 0,
  samples: 70,
  difference_low: difference,
  difference_high: difference,
  p_value: 1,
  flips: 0,
  failed: 0,
  idle: difference === 0,
});

it("puts what costs most first", () => {
  const rows = rowsOf([cost("crop", "none", -0.02), cost("mean", "0", -0.5), cost("crop", "wide", -0.1)]);
  expect(rows.map((row) => [row.pitfall, row.costs.map((each) => each.words)])).toEqual([
    ["mean", ["0"]],
    ["crop", ["wide", "none"]],
  ]);
});

it("keeps every cell on the page, however narrow it is", () => {
  const rows = rowsOf(Array.from({ length: 23 }, (_, at) => cost(`p${at % 3}`, String(at), -at / 100)));
  for (const width of [300, 390, 700, 1200]) {
    const { cells, height } = layout(rows, width);
    expect(cells).toHaveLength(23);
    for (const each of cells) {
      expect(each.x + each.width).toBeLessThanOrEqual(width + 0.5);
      expect(each.y + each.height).toBeLessThanOrEqual(height);
    }
  }
});

it("shows a small change beside a large one", () => {
  expect(strength(0, 0.5)).toBe(0);
  expect(strength(-0.5, 0.5)).toBe(-1);
  expect(strength(0.005, 0.5)).toBeCloseTo(0.1);
  expect([-0.1234, 0.01, 0].map((at) => change(at, "share"))).toEqual(["−12.3", "+1.0", "0"]);
});

it("writes decibels as decibels, and not as percentage points", () => {
  expect([-1.3217, 0.0004, 6.0206].map((at) => change(at, "dB"))).toEqual(["−1.322", "0", "+6.021"]);
  expect(change(-0.01234, "number")).toBe("−0.0123");
  expect(story(cost("luma-range", "luma of 0 to 255", -1.3217), "dB")).toContain("−1.322 dB (−1.322 to −1.322)");
  expect(story(cost("crop", "none", -0.02), "share")).toContain("−2.0 points");
});

it("tells no change of any answer from a number that stays the same", () => {
  const idle = { ...cost("exif", "applied", 0), idle: true, samples: 12 };
  expect([headline(idle, "share"), spread(idle, "share")]).toEqual(["same answers", "all 12"]);
  const even = { ...cost("crop", "none", 0), idle: false, flips: 2, difference_low: -0.1, difference_high: 0.1 };
  expect([headline(even, "share"), spread(even, "share")]).toEqual(["0", "−10.0 to +10.0"]);
  expect(spread({ ...even, difference_low: 0, difference_high: 0 }, "share")).toBe("2 answers changed");
});

it("keeps the digits in which numbers differ", () => {
  expect([told(0.9308, "number"), told(0.9374, "number"), told(33.69, "dB")]).toEqual(["0.9308", "0.9374", "33.69 dB"]);
  expect([chance(0.5), chance(0.0025), chance(0)]).toEqual(["0.50", "2.5e-3", "<1e-15"]);
});

it("puts what raises an error first", () => {
  const rows = rowsOf([cost("mean", "0", -0.1), cost("crop", "none", 0.2), cost("crop", "wide", 0.3)], "lower");
  expect(rows.map((row) => row.costs.map((each) => each.words))).toEqual([["wide", "none"], ["0"]]);
});

const upTo = (letters: number) => (line: string) => line.length <= letters;

it("writes what a cell says in two lines", () => {
  expect(twoLines("`cast` by scale", upTo(20))).toEqual(["cast by scale"]);
  expect(twoLines("labels in the order of the alphabet", upTo(20))).toEqual(["labels in the order", "of the alphabet"]);
  expect(twoLines("one two three four five six", upTo(9))).toEqual(["one two", "three fo…"]);
  expect(twoLines("incomprehensibilities aside", upTo(9))).toEqual(["incompre…", "aside"]);
  const wide = (line: string) => line.replaceAll("w", "ww").length <= 9; // as letters are: not all alike
  expect(twoLines("www www www", wide)).toEqual(["www", "www…"]);
});
