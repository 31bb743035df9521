import { expect, test } from "vitest";
import { shapeOf } from "./shapes";

const shape = (value: unknown) => shapeOf(JSON.stringify(value));

test("a text is a text, however it is wrapped", () => {
  expect(shape("hello")).toEqual({ kind: "text", text: "hello" });
  expect(shape({ said: "HELLO" })).toEqual({ kind: "text", text: "HELLO" });
  expect(shapeOf("no JSON at all")).toEqual({ kind: "text", text: "no JSON at all" });
});

test("boxes are understood in the spellings of detectors", () => {
  const wanted = { left: 10, top: 20, right: 30, bottom: 60, relative: false, name: "cat", score: 0.9 };
  for (const said of [
    [{ box: [10, 20, 30, 60], label: "cat", score: 0.9 }],
    [{ bbox: [10, 20, 20, 40], name: "cat", confidence: 0.9 }],
    [{ boundingbox: { xmin: 10, ymin: 20, xmax: 30, ymax: 60, label: "cat" }, probability: 0.9 }],
    { boxes: [[10, 20, 30, 60]], labels: ["cat"], scores: [0.9] },
    { detections: [{ x1: 10, y1: 20, x2: 30, y2: 60, class: "cat", score: 0.9 }] },
  ])
    expect(shape(said)).toEqual({ kind: "boxes", boxes: [wanted] });
  expect(shape([{ box: [0, 0, 0.5, 1] }])).toMatchObject({ boxes: [{ relative: true, score: null }] });
});

test("a mask has a class for each pixel", () => {
  const mask = { width: 2, height: 2, classes: [0, 1, 2, 1], names: [] };
  const rows = [
    [0, 1],
    [2, 1],
  ];
  expect(shape({ mask: rows })).toEqual({ kind: "mask", mask });
  expect(shape({ semanticsegment: { int_mask: [0, 1, 2, 1], width: 2, height: 2 } })).toEqual({ kind: "mask", mask });
  expect(shape({ mask: [[0, 1], [2]] }).kind).toBe("values");
});

test("what nobody foresaw is shown as it is", () => {
  expect(shape({ a: 1 })).toEqual({ kind: "values", text: '{\n  "a": 1\n}' });
  expect(shape([1, 2]).kind).toBe("values");
});
