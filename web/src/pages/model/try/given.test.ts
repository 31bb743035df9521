import { expect, test } from "vitest";
import { carriesCode, checked, typeOf, wantsOf } from "./given";

const text = (words: string) => new TextEncoder().encode(words);
const MOST = 1000;

test("a file is what it begins like, whatever it is called", () => {
  expect(typeOf(new Uint8Array([0xff, 0xd8, 0xff, 0xe0]))).toBe("image/jpeg");
  expect(typeOf(text("RIFF....WEBPVP8 "))).toBe("image/webp");
  expect(typeOf(text("  <svg onload='alert(1)'>"))).toBe("text/html");
  expect(typeOf(text("\uFEFF<!DOCTYPE html>"))).toBe("text/html");
  expect(typeOf(text("just words"))).toBeNull();
});

test("what cannot be a picture is said before it is sent", async () => {
  const refused = (content: BlobPart, name: string) => checked(new Blob([content]), name, "image", MOST);
  await expect(refused("<svg/>", "a.png")).rejects.toThrow("may hold scripts");
  await expect(refused("%PDF-1.7", "a.pdf")).rejects.toThrow("PDF");
  await expect(refused("words", "a.txt")).rejects.toThrow("unsupported file type");
  await expect(refused("", "a.png")).rejects.toThrow("is empty");
  await expect(refused("x".repeat(MOST + 1), "a.png")).rejects.toThrow("at most");
});

test("a model that takes anything is given anything", async () => {
  const given = await checked(new Blob(["words"]), "a.txt", "anything", MOST);
  expect(given).toMatchObject({ kind: "file", name: "a.txt" });
});

test("a manifest says what its model takes", () => {
  expect(wantsOf({ inputs: [{ type: "image" }] })).toBe("image");
  expect(wantsOf({ inputs: [{ type: "speech" }] })).toBe("audio");
  expect(wantsOf({ task: "object_detection" })).toBe("image");
  expect(wantsOf({ task: "text_generation", inputs: [] })).toBe("text");
  expect(wantsOf({ task: "general" })).toBe("anything");
  expect(carriesCode({ run: { code: "def run(): …" } })).toBe(true);
  expect(carriesCode({ run: null })).toBe(false);
});
