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

/** As it was published, with its digits: `75.10 %`. */
export const published = (value: string, unit: string | null | undefined): string =>
  `${value} ${unitOf(unit).symbol}`.trim();

/** What two numbers lie apart in: percentages lie points apart. */
export const apartIn = (unit: string | null | undefined): string => {
  const { symbol } = unitOf(unit);
  return symbol === "%" ? "points" : symbol;
};

/** How far two numbers lie apart, with a sign and without the unit: `−12.3`, `+0.42`. */
export function difference(value: number, unit: string | null | undefined, places?: number): string {
  const { symbol, factor } = unitOf(unit);
  const digits = symbol ? (places ?? (symbol === "%" ? 1 : 2)) : 4;
  const size = Math.abs(factor * value);
  return size < (symbol ? 0.005 : 0.00005) ? "0" : `${value > 0 ? "+" : "−"}${size.toFixed(digits)}`;
}

/** As the head of a column: `Top-1`. */
export const headed = (title: string): string => title.charAt(0).toUpperCase() + title.slice(1);
