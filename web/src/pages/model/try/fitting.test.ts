import { expect, test } from "vitest";
import { fitting } from "./fitting";

const NAMES = ["cifar10-test", "imagenet-70", "mnist", "mnist-test"];

test("what is claimed about comes first, then its relatives, and nothing else", () => {
  expect(fitting({ claims: [{ dataset: "imagenet-val" }] }, [], NAMES)).toEqual(["imagenet-70"]);
  expect(fitting({ claims: [{ dataset: "mnist-test@^1" }] }, [], NAMES)).toEqual(["mnist-test", "mnist"]);
  expect(fitting({ dataset: "mnist@^1" }, [], NAMES)).toEqual(["mnist", "mnist-test"]);
  expect(fitting({}, ["cifar10-test"], NAMES)).toEqual(["cifar10-test"]);
  expect(fitting({}, [], NAMES)).toEqual([]);
});
