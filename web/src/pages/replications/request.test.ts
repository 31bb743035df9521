import { expect, it } from "vitest";
import { formOf, missing, requestOf } from "./request";

it("takes a claim from an address", () => {
  const form = formOf({ model: "m", claim: "top1=82.86@imagenet-70" });
  expect([form.metric, form.value, form.dataset]).toEqual(["top1", "82.86", "imagenet-70"]);
  expect(requestOf(form)).toEqual({
    kind: "replicate",
    model: "m",
    dataset: "imagenet-70",
    options: {},
    arguments: { claim: "top1=82.86@imagenet-70", explain: true },
  });
});

it("keeps the digits of a number, which say how much is claimed", () => {
  const asked = requestOf({ ...formOf({ model: "m" }), metric: "ap", value: "75.10" });
  expect(asked.arguments).toMatchObject({ claim: "ap=75.10" });
});

it("says nothing of what was not said", () => {
  const asked = requestOf({ ...formOf({ model: "m" }), limit: "20", within: "0.5", budget: "3" });
  expect(asked.arguments).toEqual({ within: 0.005, budget: 3, explain: true });
  expect(asked.options).toEqual({ limit: 20, stratified: true });
});

it("asks for what pitfalls cost without a claim", () => {
  const asked = requestOf(formOf({ model: "m", kind: "sensitivity", claim: "top1=70" }));
  expect(asked).toEqual({ kind: "sensitivity", model: "m", dataset: undefined, options: {} });
});

it("wants a number as published, and what it is of", () => {
  expect(missing(formOf({}))).toMatch("model");
  const form = { ...formOf({ model: "m" }), metric: "psnr" };
  expect(missing({ ...form, value: "75,1" })).toMatch("75.1");
  expect(missing({ ...form, metric: "", value: "75.1" })).toMatch("metric");
  for (const value of ["75.1", "37.65dB", "-0.5", "4.5 %", ""]) expect(missing({ ...form, value })).toBeNull();
});
