import { describe, expect, it } from "vitest";
import { completions } from "./completions";
import type { Node } from "./schema";

const STEPS: Record<string, Node> = {
  decode: {
    anyOf: [
      { type: "object", properties: { color_layout: { enum: ["RGB", "BGR"], description: "Order of the colours." } } },
      { type: "null" },
    ],
    description: "Read a picture.",
  },
  resize: { type: "object", properties: { method: { enum: ["bilinear", "bicubic"] }, keep: { type: "boolean" } } },
};
const SCHEMA: Node = {
  type: "object",
  $defs: {
    Input: {
      type: "object",
      required: ["type"],
      properties: {
        type: { enum: ["image", "text"], description: "Modality of the input.\nMore of it." },
        processing: {
          anyOf: [
            { type: "object", properties: STEPS },
            { type: "array", items: { anyOf: [{ enum: ["decode"] }, { type: "object", properties: STEPS }] } },
          ],
          description: "Steps.",
        },
      },
    },
  },
  properties: {
    name: { type: "string", description: "What it is called." },
    task: { enum: ["classification", "no"], default: "classification" },
    inputs: { anyOf: [{ type: "array", items: { $ref: "#/$defs/Input" } }, { $ref: "#/$defs/Input" }] },
    description: { type: "string" },
  },
};

/** The cursor is where the bar is. */
function at(marked: string) {
  const offset = marked.indexOf("|");
  return completions(SCHEMA, marked.replace("|", ""), offset);
}
const labels = (marked: string) => at(marked)?.options.map((each) => each.label) ?? null;

describe("keys", () => {
  it("are those of the depth, with what they mean", () => {
    expect(labels("na|")).toEqual(["name", "task", "inputs", "description"]);
    expect(at("na|")?.from).toBe(0);
    expect(at("na|")?.options[0]).toMatchObject({ apply: "name: ", detail: "What it is called." });
  });

  it("are not offered twice, wherever they stand", () => {
    expect(labels("name: a\n|\ntask: no\n")).toEqual(["inputs", "description"]);
  });

  it("of an item are found behind its dash and below it", () => {
    expect(labels("inputs:\n  - |")).toEqual(["type", "processing"]);
    expect(labels("inputs:\n  - type: image\n    |")).toEqual(["processing"]);
    expect(labels("inputs:\n- type: image\n  pro|")).toEqual(["processing"]);
  });

  it("that are needed say so, in one line", () => {
    expect(at("inputs:\n  - |")?.options[0]?.detail).toBe("needed. Modality of the input.");
  });

  it("of steps and of their parameters are known", () => {
    const above = "inputs:\n  - type: image\n    processing:\n      ";
    expect(labels(`${above}|`)).toEqual(["decode", "resize", "- decode", "- resize"]);
    expect(labels(`${above}decode: {|`)).toEqual(["color_layout"]);
    expect(labels(`${above}decode:\n        co|`)).toEqual(["color_layout"]);
    expect(labels(`${above}decode: {}\n      |`)).toEqual(["resize"]);
    expect(labels(`${above}- decode:\n      - |`)).toEqual(["decode", "resize"]);
  });

  it("begin a list where one is meant", () => {
    expect(at("inputs:\n  |")?.options.map((each) => each.apply)).toContain("- type: ");
  });
});

describe("values", () => {
  it("are those that may stand there; words that YAML takes for others are quoted", () => {
    expect(at("task: |")?.options).toMatchObject([
      { apply: "classification", detail: "unless it is said" },
      { apply: '"no"', detail: "" },
    ]);
    expect(at("task: cl|")?.from).toBe(6);
  });

  it("are found between braces, behind other keys", () => {
    const above = "inputs:\n  - processing: {decode: {color_layout: RGB}, resize: ";
    expect(labels(`${above}{method: bi|`)).toEqual(["bilinear", "bicubic"]);
    expect(labels(`${above}{method: bicubic, |`)).toEqual(["keep"]);
    expect(labels(`${above}{keep: |`)).toEqual(["true", "false"]);
  });
});

it("says nothing in comments, quotes and texts of several lines", () => {
  expect(labels("# na|")).toBeNull();
  expect(labels("task: no # |")).toBeNull();
  expect(labels('task: "|')).toBeNull();
  expect(labels("description: >\n  na|")).toBeNull();
  expect(labels("name: |")).toBeNull();
  expect(labels("somewhere:\n  |")).toBeNull();
});
