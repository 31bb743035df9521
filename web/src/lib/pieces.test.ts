import { expect, test } from "vitest";
import { piecesOf } from "./pieces";

const of = (text: string, ...spans: [number, number, string][]) =>
  piecesOf({ text, spans: spans.map((each) => [...each, null]) });

test("a text is cut where a span begins or ends", () => {
  expect(of("Anna lives in Rome.", [0, 4, "PER"], [14, 18, "LOC"])).toEqual([
    { text: "Anna", types: ["PER"] },
    { text: " lives in ", types: [] },
    { text: "Rome", types: ["LOC"] },
    { text: ".", types: [] },
  ]);
});

test("spans may overlap and reach beyond the text", () => {
  expect(of("abcd", [0, 3, "X"], [2, 9, "Y"])).toEqual([
    { text: "ab", types: ["X"] },
    { text: "c", types: ["X", "Y"] },
    { text: "d", types: ["Y"] },
  ]);
});

test("places are characters, however many units they take", () => {
  expect(of("🙂 Anna", [2, 6, "PER"])).toEqual([
    { text: "🙂 ", types: [] },
    { text: "Anna", types: ["PER"] },
  ]);
});

test("an empty text has no pieces", () => {
  expect(of("", [0, 4, "PER"])).toEqual([]);
});
