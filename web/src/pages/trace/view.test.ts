import { expect, test } from "vitest";
import { around, firstView, moved, ticks, within, zoomed } from "./view";

test("zooming keeps what is under the pointer", () => {
  expect(zoomed({ from: 0, to: 100 }, 0.5, 0.25)).toEqual({ from: 12.5, to: 62.5 });
});

test("a view never leaves its trace, nor becomes too narrow to be seen", () => {
  expect(within({ from: -50, to: 50 }, 1000)).toEqual({ from: 0, to: 100 });
  expect(within({ from: 950, to: 1050 }, 1000)).toEqual({ from: 900, to: 1000 });
  expect(within({ from: -500, to: 5000 }, 1000)).toEqual({ from: 0, to: 1000 });
  const { from, to } = within({ from: 500, to: 500 }, 1000);
  expect(to - from).toBe(50);
});

test("moving is by a share of what is seen", () => {
  expect(moved({ from: 100, to: 200 }, 0.5)).toEqual({ from: 150, to: 250 });
});

test("ticks are round numbers inside the view", () => {
  expect(ticks({ from: 3, to: 48 }, 5)).toEqual([10, 20, 30, 40]);
});

test("a short span still has some room around it", () => {
  expect(around(10, 10)).toEqual({ from: 9, to: 11 });
});

test("where layers are a small part, they are what is seen first", () => {
  const row = { level: "framework", first_ns: 900, last_ns: 1000 };
  expect(firstView([row], 1000)).toEqual({ from: 894, to: 1000 });
  expect(firstView([{ ...row, first_ns: 0 }], 1000)).toEqual({ from: 0, to: 1000 });
  expect(firstView([], 1000)).toEqual({ from: 0, to: 1000 });
});
