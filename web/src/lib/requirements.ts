/** Packages of a stack, as its manifest lists them for pip, and how two stacks differ in them. */

export interface Package {
  name: string;
  /** `1.17.3`, or what a manifest leaves open, such as `>=1.2`; empty where it says nothing. */
  version: string;
  /** Whether one release is named. */
  pinned: boolean;
  hashes: number;
}

export function packagesOf(requirements: unknown): Package[] {
  return (Array.isArray(requirements) ? requirements : []).map((each) => packageOf(String(each)));
}

function packageOf(text: string): Package {
  const [wanted = "", ...options] = text.trim().split(/\s+(?=--|@\s)/);
  const match = /^([A-Za-z0-9._-]+(?:\[[^\]]*\])?)\s*(.*)$/s.exec(wanted);
  const asked = (match?.[2] ?? "").split(";")[0]!.trim();
  const pin = /^={2,3}\s*([^\s,*]+)$/.exec(asked);
  return {
    name: match?.[1] ?? wanted,
    version: pin?.[1] ?? asked,
    pinned: pin !== null,
    hashes: options.filter((option) => option.startsWith("--hash")).length,
  };
}

/** How firmly a list of packages is held. */
export function lockOf(packages: readonly Package[]): string {
  if (!packages.length) return "none";
  const pinned = packages.filter((each) => each.pinned).length;
  const hashed = packages.filter((each) => each.hashes > 0).length;
  if (hashed === packages.length) return "every package by version and hash";
  if (pinned === packages.length) return hashed ? `by version, ${hashed} also by hash` : "by version";
  return `${pinned} of ${packages.length} by version`;
}

export interface Difference {
  name: string;
  left: string;
  right: string;
}

/** Names are compared as pip does: `Foo_Bar` is `foo-bar`. */
export function differencesOf(left: readonly Package[], right: readonly Package[]): Difference[] {
  const sides = [left, right].map((side) => new Map(side.map((each) => [plain(each.name), each.version || "any"])));
  const names = [...new Set(sides.flatMap((side) => [...side.keys()]))].sort();
  return names
    .map((name) => ({ name, left: sides[0]!.get(name) ?? "–", right: sides[1]!.get(name) ?? "–" }))
    .filter((each) => each.left !== each.right);
}

const plain = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, "-");
