import { expect, test } from "vitest";
import { firstAbove, isShown, paints, type Shape, shapesOf } from "./shapes";

const shapes = (value: unknown) => shapesOf(JSON.stringify(value));
const text = (words: string) => [{ kind: "text", side: "answer", text: words, name: "", score: null, remark: "" }];

test("a text is a text, however it is wrapped", () => {
  expect(shapes("hello")).toEqual(text("hello"));
  expect(shapes({ said: "HELLO" })).toEqual(text("HELLO"));
  expect(shapesOf("no JSON at all")).toEqual(text("no JSON at all"));
});

test("boxes are understood in the spellings of detectors", () => {
  const place = { left: 10, top: 20, right: 30, bottom: 60, relative: false };
  const wanted = { kind: "box", side: "answer", remark: "", ...place, name: "cat", score: 0.9 };
  for (const said of [
    [{ box: [10, 20, 30, 60], label: "cat", score: 0.9 }],
    [{ bbox: [10, 20, 20, 40], name: "cat", confidence: 0.9 }],
    [{ boundingbox: { xmin: 10, ymin: 20, xmax: 30, ymax: 60, label: "cat" }, probability: 0.9 }],
    { boxes: [[10, 20, 30, 60]], labels: ["cat"], scores: [0.9] },
    { detections: [{ x1: 10, y1: 20, x2: 30, y2: 60, class: "cat", score: 0.9 }] },
  ])
    expect(shapes(said)).toEqual([wanted]);
  expect(shapes([{ box: [0, 0, 0.5, 1] }])).toMatchObject([{ relative: true, score: null }]);
});

test("a mask has a class for each pixel", () => {
  const mask = { kind: "classes", side: "answer", width: 2, height: 2, classes: [0, 1, 2, 1], names: [] };
  const rows = [
    [0, 1],
    [2, 1],
  ];
  expect(shapes({ mask: rows })).toEqual([mask]);
  expect(shapes({ semanticsegment: { int_mask: [0, 1, 2, 1], width: 2, height: 2 } })).toEqual([mask]);
  expect(shapes({ mask: [[0, 1], [2]] })[0]!.kind).toBe("values");
});

test("what nobody foresaw is shown as it is", () => {
  expect(shapes({ a: 1 })).toEqual([{ kind: "values", side: "answer", text: '{\n  "a": 1\n}' }]);
  expect(shapes([1, 2])[0]!.kind).toBe("values");
});

const box = (side: "truth" | "answer", name: string, score: number | null): Shape =>
  ({ kind: "box", side, left: 0, top: 0, right: 1, bottom: 1, name, score, remark: "" }) as Shape;

test("unsure answers are hidden, truth never is", () => {
  expect(isShown(box("answer", "cat", 0.2), 0.3)).toBe(false);
  expect(isShown(box("answer", "cat", 0.3), 0.3)).toBe(true);
  expect(isShown(box("truth", "cat", null), 0.9)).toBe(true);
  expect(isShown(box("truth", "cat", null), 0.9, ["truth"])).toBe(false);
  expect(firstAbove([box("answer", "cat", 0.2), box("answer", "cat", 0.4)])).toBe(0.3);
  expect(firstAbove([box("answer", "cat", 0.2)])).toBe(0);
});

test("colours tell the sides apart where there are two, else the names", () => {
  const [cat, dog, truth] = [box("answer", "cat", 1), box("answer", "dog", 1), box("truth", "cat", null)];
  expect(paints([cat, dog])(cat)).not.toBe(paints([cat, dog])(dog));
  const both = paints([cat, dog, truth]);
  expect(both(cat)).toBe(both(dog));
  expect(both(cat)).not.toBe(both(truth));
});
