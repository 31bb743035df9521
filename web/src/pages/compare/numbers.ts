/** Numbers of a comparison for people. */
import type { Schemas } from "../../api/client";
import { bytes, digits, percent, time } from "../../lib/format";

type Kind = Schemas["Measure"]["kind"];

export function spell(value: number, kind: Kind): string {
  switch (kind) {
    case "share":
      return percent(value);
    case "time_s":
      return time(1e9 * value);
    case "bytes":
      return bytes(value);
    case "count":
      return value.toLocaleString("en");
    default:
      return digits(value);
  }
}

/** Its interval, unless none is known. */
export function between({ low, high, value }: Schemas["Between"], kind: Kind): string | null {
  return low === value && high === value ? null : `${spell(low, kind)} … ${spell(high, kind)}`;
}

/** How much more or less than the first one, where both are known: `× 1.25`. */
export function times(value: Schemas["Between"] | null, first: Schemas["Between"] | null): string | null {
  if (!value || !first || !first.value || value === first) return null;
  return `× ${digits(value.value / first.value)}`;
}
