import { expect, test } from "vitest";
import { wordsOf } from "./ask";
import { readChosen, writeChosen } from "./chosen";

test("what stands side by side is the same after it was in an address", () => {
  const text = "a,b@1.0.0~onnxruntime-1.17,a~~lab-1";
  const found = readChosen(text);
  expect(found.map((each) => [each.model, each.version, each.stack, each.agent])).toEqual([
    ["a", undefined, undefined, undefined],
    ["b", "1.0.0", "onnxruntime-1.17", undefined],
    ["a", undefined, undefined, "lab-1"],
  ]);
  expect(writeChosen(found)).toBe(text);
  expect(readChosen(" ,,~x")).toEqual([]);
  expect(readChosen(Array(50).fill("a").join(","))).toHaveLength(8);
});

test("what happens is said in words", () => {
  const event = (kind: string, more: object = {}) => wordsOf({ number: 1, at: "", kind, ...more });
  expect(event("taken", { agent: "lab-1" })).toBe("lab-1 looks at it");
  expect(event("downloading", { name: "w.bin", done: 1, of: 3 })).toBe("Downloading w.bin, 33 %");
  expect(event("opening")).toBe("Opening the model");
});
