/** Tokens of language models for people: how dark an unlikely one is, and characters that nobody would see. */
import type { Schemas } from "../api/client";

/** Minus the logarithm of a probability that is as dark as can be; the reports have the same. */
const UNLIKELY = 8;

/** From 0, for a token that was sure, to 1; nothing where that is not known. */
export function depthOf(log: number | null | undefined): number {
  return log == null ? 0 : Math.min(1, Math.max(0, -log) / UNLIKELY);
}

const SHOWN: Record<string, string> = { "\n": "⏎\n", "\t": "⇥", "\r": "␍" };

/** What nobody would see, or what would turn the text around, spelled out; the ends of lines stay. */
export function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}]/gu,
    (each) => SHOWN[each] ?? `\\u${each.codePointAt(0)!.toString(16).padStart(4, "0")}`,
  );
}

export function noteOf([, token, log]: Token): string {
  if (log == null) return `token ${token}`;
  return `token ${token}, log-likelihood ${log.toFixed(3)}, probability ${(100 * Math.exp(Math.min(0, log))).toPrecision(3)} %`;
}

export type Token = readonly [string, number, number | null];
export const tokensOf = (shape: Schemas["TokensShape"]): Token[] => shape.tokens as unknown as Token[];

export interface Rule {
  name: string;
  title: string;
  values: number[];
  chosen: number;
}

const TITLES: Record<string, string> = {
  none: "likelihood",
  characters: "by characters",
  bytes: "by bytes",
  tokens: "by tokens",
  unconditional: "beyond the choice alone",
};

export function rulesOf(shape: Schemas["ChoicesShape"]): Rule[] {
  const rules = shape.rules as unknown as [string, number[], number][];
  return rules.map(([name, values, chosen]) => ({ name, title: TITLES[name] ?? name, values, chosen }));
}

/** How likely a choice is by a rule, set against the likeliest. */
export function shareOf(rule: Rule, choice: number): number {
  return Math.exp(Math.max(-60, rule.values[choice]! - Math.max(...rule.values)));
}

/** What happened to tokens between two records: those that both have, and those that one has. */
export interface Step<T> {
  before?: T;
  after?: T;
}

const MOST = 2_000;

/** Two rows of tokens beside each other, by their longest common subsequence; long ones place by place. */
export function aligned<T>(before: readonly T[], after: readonly T[], key: (each: T) => string): Step<T>[] {
  if (before.length > MOST || after.length > MOST || sameKeys(before, after, key)) return placed(before, after);
  const width = after.length + 1;
  const lengths = new Uint16Array((before.length + 1) * width);
  for (let a = before.length - 1; a >= 0; a--)
    for (let b = after.length - 1; b >= 0; b--)
      lengths[a * width + b] =
        key(before[a]!) === key(after[b]!)
          ? lengths[(a + 1) * width + b + 1]! + 1
          : Math.max(lengths[(a + 1) * width + b]!, lengths[a * width + b + 1]!);
  const found: Step<T>[] = [];
  let a = 0;
  let b = 0;
  while (a < before.length || b < after.length) {
    if (a < before.length && b < after.length && key(before[a]!) === key(after[b]!))
      found.push({ before: before[a++], after: after[b++] });
    else if (b >= after.length || (a < before.length && lengths[(a + 1) * width + b]! >= lengths[a * width + b + 1]!))
      found.push({ before: before[a++] });
    else found.push({ after: after[b++] });
  }
  return found;
}

function sameKeys<T>(before: readonly T[], after: readonly T[], key: (each: T) => string): boolean {
  return before.length === after.length && before.every((each, place) => key(each) === key(after[place]!));
}

function placed<T>(before: readonly T[], after: readonly T[]): Step<T>[] {
  return Array.from({ length: Math.max(before.length, after.length) }, (_, at) => ({
    ...(at < before.length && { before: before[at] }),
    ...(at < after.length && { after: after[at] }),
  }));
}
