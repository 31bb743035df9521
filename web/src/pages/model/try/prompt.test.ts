import { expect, test } from "vitest";
import { hasTemplate, isLanguageModel, promptOf } from "./prompt";

test("a manifest with a step `chat` has a template, however it is written", () => {
  expect(hasTemplate({ inputs: [{ processing: [{ name: "chat", parameters: {} }] }] })).toBe(true);
  expect(hasTemplate({ inputs: [{ processing: [{ chat: { file: "template" } }] }] })).toBe(true);
  expect(hasTemplate({ inputs: [{ processing: { chat: {} } }] })).toBe(true);
  expect(hasTemplate({ inputs: [{ processing: { encode_prompt: {} } }] })).toBe(false);
  expect(hasTemplate({})).toBe(false);
});

test("a language model is one by its task", () => {
  expect(isLanguageModel({ task: "language_model" })).toBe(true);
  expect(isLanguageModel({ task: "text_generation" })).toBe(false);
  expect(isLanguageModel(undefined)).toBe(false);
});

test("a prompt is whatever the answer has of it", () => {
  expect(promptOf(null)).toBe(null);
  expect(promptOf({ contexts: [{ text: "a", tokens: [1], pieces: ["a"], turns: null }] })).toMatchObject({
    text: "a",
    turns: [],
    more: 0,
  });
});
