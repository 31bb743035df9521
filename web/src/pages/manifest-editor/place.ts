/** The server counts lines and letters from one; the editor counts the units that JavaScript's texts are made of. */

/** Where a line and a column are in a text, and where the word there ends. */
export function placeOf(text: string, line: number, column: number): { from: number; to: number } {
  const lines = text.split("\n");
  const number = Math.max(1, Math.min(line || 1, lines.length));
  const start = lines.slice(0, number - 1).reduce((sum, each) => sum + each.length + 1, 0);
  const said = lines[number - 1]!;
  const from = start + Math.min(said.length, units(said, Math.max(0, (column || 1) - 1)));
  const word = /^("[^"]*"|'[^']*'|[^\s:,{}[\]]+)/.exec(text.slice(from, start + said.length));
  return { from, to: from + (word?.[0].length ?? Math.min(1, start + said.length - from)) };
}

/** How many units the first letters of a text have. */
export function units(text: string, letters: number): number {
  let place = 0;
  for (let count = 0; count < letters && place < text.length; count += 1)
    place += text.codePointAt(place)! > 0xffff ? 2 : 1;
  return place;
}
