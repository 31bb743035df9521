/** How far the next line is indented: as this one, and deeper where a key has nothing behind it yet. */
export function indentAfter(line: string): string {
  const [, space = "", dashes = "", rest = ""] = /^(\s*)((?:-\s+)*)(.*)$/.exec(line) ?? [];
  const own = space + " ".repeat(dashes.length);
  return /:\s*(#.*)?$/.test(rest) ? `${own}  ` : own;
}
