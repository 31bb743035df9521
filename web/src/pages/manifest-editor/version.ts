/** The name and the version that a manifest says it has, and the version that would be free. */

const LINE = (key: string) => new RegExp(`^${key}:[ \\t]*(["']?)([^\\s"'#]+)\\1[ \\t]*(?=#|$)`, "m");

export function said(text: string, key: "name" | "version" | "id"): string | null {
  return LINE(key).exec(text)?.[2] ?? null;
}

/** The text with another name or version. */
export function saying(text: string, key: "name" | "version", value: string): string {
  return LINE(key).test(text)
    ? text.replace(LINE(key), (line, quote: string) => line.replace(/:.*$/, `: ${quote}${value}${quote}`))
    : `${key}: ${value}\n${text}`;
}

/** A name of one's own for a copy of something that belongs to another. */
export const ownName = (name: string, owner: string): string =>
  `${name}-${
    owner
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-|-$/g, "") || "copy"
  }`;

/** One more than the largest, in its last number: 1.0.9 → 1.0.10. */
export function nextVersion(known: readonly string[]): string {
  const [largest] = known
    .map((each) => /^(\d+)\.(\d+)(?:\.(\d+))?/.exec(each))
    .filter((match) => match !== null)
    .map((match) => [match[1], match[2], match[3] ?? 0].map(Number) as [number, number, number])
    .sort((one, two) => two[0] - one[0] || two[1] - one[1] || two[2] - one[2]);
  return largest ? `${largest[0]}.${largest[1]}.${largest[2] + 1}` : "1.0.0";
}
