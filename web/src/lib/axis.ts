/** Axes of measured numbers, whatever they are: all alike, tiny or huge. */

const LEAST_SHARE = 0.01;
const MOST_DIGITS = 6;

/** From the least to the largest, and never less than a hundredth of their size apart: two neighbours have names of
 * seventeen digits, which fit nowhere. */
export function reach(values: readonly number[]): [number, number] {
  const known = values.filter(Number.isFinite);
  if (!known.length) return [0, 1];
  const low = known.reduce((one, two) => Math.min(one, two));
  const high = known.reduce((one, two) => Math.max(one, two));
  const least = LEAST_SHARE * Math.max(Math.abs(low), Math.abs(high)) || 1;
  const missing = Math.max(0, least - (high - low)) / 2;
  return [low - missing, high + missing];
}

/** What stands at a tick: at most six digits that count, and a power of ten where the zeros would not fit. */
export function tick(value: number): string {
  const short = Number(value.toPrecision(MOST_DIGITS));
  const size = Math.abs(short);
  if (size === 0) return "0";
  return size >= 1e6 || size < 1e-4 ? short.toExponential().replace("e+", "e") : String(short);
}
