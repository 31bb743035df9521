import { expect, test } from "vitest";
import { markOf } from "./tab-title";

const running = (done: number, of?: number) => ({ state: "running", progress: { done, of } });

test("what runs is counted together, and what has ended no more", () => {
  expect(markOf([running(30, 60)])).toBe("50 %");
  expect(markOf([running(30, 60), { state: "waiting", progress: null }])).toBe("25 %");
  expect(markOf([{ state: "finished", progress: { done: 60, of: 60 } }])).toBe("");
  expect(markOf([])).toBe("");
});

test("what cannot be counted is at its beginning, and nothing is ever beyond its end", () => {
  expect(markOf([running(7)])).toBe("0 %");
  expect(markOf([running(7, 0)])).toBe("0 %");
  expect(markOf([running(70, 60)])).toBe("100 %");
});
