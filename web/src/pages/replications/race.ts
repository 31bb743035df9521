/** A search as it stands: every variant by what was last told of it, and which of them may still be the cause. */
import type { Happening } from "../../api/events";
import type { Schemas } from "../../api/client";

export type Round = Schemas["TriedRound"];
export type Goal = Schemas["Goal"];

export type Runner = Schemas["TriedVariant"] & { key: string; samples: number };

export interface Race {
  running: Runner[];
  left: Runner[];
}

/** Those nearest to the claim first. */
export function race(rounds: readonly Round[], claimed: number | undefined): Race {
  const last = new Map<string, Runner>();
  for (const round of rounds)
    for (const variant of round.variants) {
      const key = `${variant.pitfalls.join("+")}|${variant.words}`;
      last.set(key, { ...variant, key, samples: round.samples });
    }
  const distance = (each: Runner) => (claimed === undefined ? 0 : Math.abs(each.expected - claimed));
  const sorted = [...last.values()].sort((one, two) => distance(one) - distance(two) || two.samples - one.samples);
  return { running: sorted.filter((each) => !each.out), left: sorted.filter((each) => each.out) };
}

/** Rounds and what is looked for, as the events tell them. */
export function told(events: readonly Happening[]): { rounds: Round[]; goal: Goal | null } {
  const rounds = events.filter((event) => event.kind === "tried") as unknown as Round[];
  const goal = events.findLast((event) => event.kind === "judged") as unknown as Goal | undefined;
  return { rounds, goal: goal ? { ...goal, unit: goal.unit ?? "share" } : null }; // older agents tell no unit
}

/** The gap with room on both sides: what lies beyond is drawn at the edge, or it would squeeze all the others. */
export function reach({ measured, claimed, unit }: Pick<Goal, "measured" | "claimed" | "unit">): [number, number] {
  const gap = Math.max(Math.abs(claimed - measured), 0.005);
  const [least, most] = unit === "share" ? [0, 1] : [-Infinity, Infinity];
  return [
    Math.max(least, Math.min(measured, claimed) - 1.2 * gap),
    Math.min(most, Math.max(measured, claimed) + 0.6 * gap),
  ];
}

/** Where a number lies between two others, as a share that never leaves the picture. */
export function within([low, high]: [number, number], value: number): number {
  return high > low ? Math.max(0, Math.min(1, (value - low) / (high - low))) : 0;
}
