import { beforeEach, expect, test, vi } from "vitest";
import { basket, MOST, parse } from "./basket";

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
});

test("a record is in it once, until it is taken out", () => {
  basket.add("a");
  basket.add("b");
  basket.add("a");
  expect(basket.read()).toEqual(["a", "b"]);
  basket.toggle("a");
  expect(basket.read()).toEqual(["b"]);
  expect(basket.read()).toBe(basket.read());
});

test("of too many the newest stay", () => {
  for (let number = 0; number < MOST + 3; number += 1) basket.add(`r${number}`);
  expect(basket.read()).toHaveLength(MOST);
  expect(basket.has("r0")).toBe(false);
});

test("what another program left there is no list", () => {
  expect(parse("{")).toEqual([]);
  expect(parse('{"a": 1}')).toEqual([]);
  expect(parse('["a", 3]')).toEqual(["a"]);
});
