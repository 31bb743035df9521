/** Numbers in the units of their measures, as people write them. */
import { digits } from "./format";

export interface Unit {
  symbol: string;
  /** By which a number is multiplied to be written so. */
  factor: number;
}

const UNITS: Record<string, Unit> = {
  share: { symbol: "%", factor: 100 },
  dB: { symbol: "dB", factor: 1 },
};

export const unitOf = (name: string | null | undefined): Unit => UNITS[name ?? ""] ?? { symbol: "", factor: 1 };

/** The number alone: `82.9`. */
export function written(value: number, unit: string | null | undefined, places?: number): string {
  const { symbol, factor } = unitOf(unit);
  return symbol ? (factor * value).toFixed(places ?? 2) : digits(value);
}

/** With its unit: `82.9 %`. */
export const spelled = (value: number, unit: string | null | undefined, places?: number): string =>
  `${written(value, unit, places)} ${unitOf(unit).symbol}`.trim();

/** As the head of a column: `Top-1`. */
export const headed = (title: string): string => title.charAt(0).toUpperCase() + title.slice(1);
