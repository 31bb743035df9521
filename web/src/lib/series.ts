/** Colours for several things in one chart; they follow light and dark by themselves. */
const LETTERS = "abcdefgh";

export function series(place: number): string {
  return `var(--series-${LETTERS[place % LETTERS.length]})`;
}

/** A colour for each name, the same one wherever the names are in the same order. */
export function colours(names: readonly string[]): { domain: string[]; range: string[] } {
  const domain = [...new Set(names)];
  return { domain, range: domain.map((_, place) => series(place)) };
}
