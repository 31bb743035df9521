import { expect, test } from "vitest";
import { compared } from "./compared";

const one = { name: "1. a", names: ["cat", "dog", "cow"], scores: [0.7, 0.2, 0.1] };

test("the same ranks are no difference, whatever the scores", () => {
  const { agree, first, rows } = compared([one, { ...one, name: "2. b", scores: [0.6, 0.3, 0.1] }]);
  expect([agree, first]).toEqual([true, ["cat", "cat"]]);
  expect(rows.map((row) => row.differs)).toEqual([false, false, false]);
  expect(rows[0]!.told.map((each) => each.score)).toEqual(["70.0 %", "60.0 %"]);
});

test("another order and a class that one does not name are marked", () => {
  const { agree, rows } = compared([one, { name: "2. b", names: ["dog", "cat", "owl"], scores: [3, 2, -1] }]);
  expect(agree).toBe(false);
  expect(rows.map((row) => [row.name, row.differs, row.told[1]!.rank])).toEqual([
    ["cat", true, 1],
    ["dog", true, 0],
    ["cow", true, null],
    ["owl", true, 2],
  ]);
  expect(rows[1]!.told[1]!.score).toBe("3.000");
});

test("answers without classes are only the same or not", () => {
  const text = { name: "1. a", names: [], scores: [], answer: '"yes"' };
  expect(compared([text, { ...text, name: "2. b" }])).toEqual({ agree: true, first: ["the same"], rows: [] });
  expect(compared([text, { ...text, answer: '"no"' }]).agree).toBe(false);
  expect(compared([text, { ...text, answer: null }]).first).toEqual(['"yes"', "nothing"]);
});
