import { expect, test } from "vitest";
import { doing, sentenceOf, story } from "./words";

let number = 0;
const event = (kind: string, more: object = {}) => ({ number: ++number, at: "", kind, ...more });

test("from the first second on it is said what goes on", () => {
  expect(doing("waiting", [])).toMatch(/^Queued/);
  expect(doing("running", [event("running", { agent: "lab-1" })])).toMatch(/^Preparing/);
  expect(doing("running", [event("downloading", { name: "net.onnx", done: 1048576, of: 4194304 })])).toBe(
    "Downloading net.onnx, 1.00 MiB of 4.00 MiB",
  );
  expect(doing("running", [event("building", { text: "building the stack onnxruntime-1.17" })])).toContain("building");
  expect(doing("running", [event("progress", { done: 37, of: 70, failed: 0 })])).toBe("37 of 70 samples");
});

test("a log has sizes and sentences, and one line for what only grows", () => {
  const told = story([
    event("running", { agent: "lab-1", attempt: 1 }),
    event("downloading", { name: "a", done: 0, of: 2048 }),
    event("downloading", { name: "a", done: 2048, of: 2048 }),
    event("downloading", { name: "b", done: 10, of: null }),
    event("progress", { done: 1, of: 70, failed: 0 }),
    event("progress", { done: 70, of: 70, failed: 2 }),
    event("finished", { record: "r" }),
  ]);
  expect(told.map((each) => sentenceOf(each).join(" ").trim())).toEqual([
    "Started on lab-1",
    "Downloading a, 2.00 KiB",
    "Downloading b, 10 B",
    "Progress 70 of 70 samples, 2 failed",
    "Finished",
  ]);
});

test("an event of a later server is shown without its keys and braces", () => {
  expect(sentenceOf(event("dancing", { text: "a waltz", steps: { left: 1 } }))).toEqual(["dancing", "a waltz"]);
});

test("a number that does not hold is told in its own unit", () => {
  const numbers = { measured: 32.37, claimed: 33.69, unit: "dB" };
  expect(sentenceOf(event("judged", numbers))[1]).toMatch(/^32\.37 dB where 33\.69 dB is claimed/);
  const shares = { measured: 0.5, claimed: 0.75 }; // of an agent that tells no unit
  expect(sentenceOf(event("judged", shares))[1]).toMatch(/^50\.00 % where 75\.00 % is claimed/);
});
