import { describe, expect, it } from "vitest";
import { ago, bytes, percent, plural, time } from "./format";

describe("numbers for people", () => {
  it("has three digits that count", () => {
    expect(time(1234)).toBe("1.23 µs");
    expect(time(85_100_000)).toBe("85.1 ms");
    expect(time(0)).toBe("0.00 ns");
    expect(bytes(1536)).toBe("1.50 KiB");
    expect(bytes(12)).toBe("12 B");
    expect(percent(0.8286)).toBe("82.86 %");
    expect(percent(null)).toBe("–");
  });
  it("counts in words", () => {
    expect(plural(1, "sample")).toBe("1 sample");
    expect(plural(50000, "sample")).toBe("50,000 samples");
  });
  it("says how long ago", () => {
    const now = Date.parse("2026-11-16T12:00:00Z");
    expect(ago("2026-11-16T11:59:58Z", now)).toBe("just now");
    expect(ago("2026-11-16T09:00:00Z", now)).toBe("3 hours ago");
    expect(ago("2026-11-15T12:00:00Z", now)).toBe("yesterday");
  });
});
