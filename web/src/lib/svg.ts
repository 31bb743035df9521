/** A drawing, piece by piece. */
type Value = string | number | undefined;

export function svg(name: string, given: Record<string, Value> = {}, ...inside: (Node | string)[]): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(given)) if (value !== undefined) made.setAttribute(key, String(value));
  made.append(...inside);
  return made;
}

/** A text with as many letters as there is room for, at about this many pixels a letter. */
export function cut(text: string, room: number, letter = 6.2): string {
  const most = Math.max(1, Math.floor(room / letter));
  return text.length <= most ? text : `${text.slice(0, most - 1).trimEnd()}…`;
}
