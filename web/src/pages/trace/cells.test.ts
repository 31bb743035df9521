import { expect, test } from "vitest";
import { cell } from "./cells";

const column = (kind: string, unit = "") => ({ name: "n", title: "t", kind, unit });

test("a value is spelled as its column says", () => {
  expect(cell(column("time_ns"), 1.5e6)).toBe("1.50 ms");
  expect(cell(column("rate", "flop/s"), 4.12e9)).toBe("4.12 Gflop/s");
  expect(cell(column("share"), 0.125)).toBe("12.5 %");
  expect(cell(column("text"), [1, 64, 56])).toBe("1×64×56");
  expect(cell(column("number", "flop/byte"), 3)).toBe("3.00 flop/byte");
  expect(cell(column("count"), null)).toBe("–");
});
