import { expect, test } from "vitest";
import { rankedQueries } from "./rankings";

test("rankings come with their ranks", () => {
  const best = [
    { id: "d1", similarity: 0.9, gain: 0 },
    { id: "d2", similarity: null, gain: 2 },
  ];
  const query = { id: "q", ndcg10: 0.5, best, missed: [{ id: "d9", rank: 40, gain: 1 }], relevant: 2 };
  const { queries, documents } = rankedQueries({ queries: [query, { id: "old", ndcg10: 1 }], documents: 60 });
  expect(documents).toBe(60);
  expect(queries).toHaveLength(1);
  expect(queries[0]!.best.map(({ rank, similarity }) => [rank, similarity])).toEqual([
    [1, 0.9],
    [2, null],
  ]);
  expect(queries[0]!.missed).toEqual([{ id: "d9", rank: 40, similarity: null, gain: 1 }]);
});

test("a stranger's details break nothing", () => {
  for (const queries of [undefined, null, 3, "no", [3], [{ best: 7 }], [{ best: [null] }], { best: [] }])
    expect(rankedQueries({ queries }).queries).toEqual([]);
  const [query] = rankedQueries({ queries: [{ best: [{}], ndcg10: "x" }] }).queries;
  expect(query).toMatchObject({ id: "undefined", ndcg: 0, missed: [] });
});
