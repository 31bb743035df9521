import { expect, it } from "vitest";
import { question, sortedBy } from "./search";

it("asks for the newest first and leaves intermediate records out", () => {
  expect(question({})).toMatchObject({ sort: "created", descending: true, start: 0, intermediate: false });
});

it("turns the order with each click on the same column", () => {
  const first = sortedBy({ start: "50" }, "model");
  expect(question(first)).toMatchObject({ sort: "model", descending: false, start: 0 });
  const second = sortedBy(first, "model");
  expect(question(second)).toMatchObject({ sort: "model", descending: true });
  expect(question(sortedBy(second, "result"))).toMatchObject({ sort: "result", descending: true });
});

it("takes no days, pages and columns that are none", () => {
  const found = question({ since: "yesterday", until: "2026-13-45", start: "-5", sort: "words" });
  expect(found).toMatchObject({ since: undefined, until: undefined, start: 0, sort: "created" });
});

it("means whole days", () => {
  const { since, until } = question({ since: "2026-03-01", until: "2026-03-01" });
  expect(Date.parse(until!) - Date.parse(since!)).toBe(86_400_000 - 1);
});
