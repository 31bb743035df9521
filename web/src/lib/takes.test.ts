import { expect, test } from "vitest";
import { asPage, gives, inMillions, takes } from "./takes";

test("a picture is told with the size that the model gets", () => {
  const steps = [
    { name: "decode", parameters: { color_layout: "RGB" } },
    { name: "resize", parameters: { dimensions: [256, 256] } },
    { name: "crop", parameters: { dimensions: [3, 224, 225] } },
  ];
  const inputs = [{ type: "image", layer_name: "images", element_type: "float32", processing: steps }];
  expect(takes({ inputs })).toEqual([
    { words: "a picture, 224 × 225 pixels in 3 channels", detail: "images: float32, RGB" },
  ]);
});

test("a tensor is told with its shape, a text with its layers", () => {
  expect(takes({ inputs: [{ type: "tensor", shape: [-1, 3], element_type: "int8" }] })).toEqual([
    { words: "a tensor, of shape any × 3", detail: "int8" },
  ]);
  const text = { type: "text", layers: { ids: "ids", mask: "mask" }, element_type: "int64" };
  expect(takes({ inputs: [text] })[0]!.detail).toBe("ids, mask: int64");
  expect(gives({ outputs: [{ type: "logits" }] })[0]!.words).toBe("a score for each class");
  expect([takes({}), gives({ outputs: "nonsense" })]).toEqual([[], []]);
});

test("parameters are said in millions", () => {
  expect([950, 4_652_008, 7_615_616_512, 1_500].map(inMillions)).toEqual([
    "950",
    "4.65 million",
    "7.62 billion",
    "1.5 thousand",
  ]);
});

test("only pages become links", () => {
  expect(asPage(" https://arxiv.org/abs/1905.11946 ")?.host).toBe("arxiv.org");
  for (const other of ["javascript:alert(1)", "data:text/html,x", "ftp://x/y", "Tan and Le, 2019", "//evil", ""])
    expect(asPage(other)).toBeNull();
});
