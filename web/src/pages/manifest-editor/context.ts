/** Where a cursor stands in a manifest: which keys lead there, whether a key or a value is being written. */
import { ITEM, type Step } from "./schema";

export interface Context {
  /** Keys from the outermost to the one whose value, or whose inside, is being written. */
  path: Step[];
  role: "key" | "value";
  /** Where what is being written begins. */
  from: number;
  /** Keys that stand there already. */
  used: Set<string>;
  /** Whether it is between braces, where no line may be begun. */
  flow: boolean;
}

interface Line {
  indent: number;
  /** Columns of the dashes that begin it. */
  dashes: number[];
  /** Column of what follows them. */
  column: number;
  key: string | null;
  /** Whether the key has its value below. */
  opens: boolean;
  /** Whether a text of several lines follows. */
  block: boolean;
}

const KEY = /^("[^"]*"|'[^']*'|[^\s#:{}[\],&*!|>'"%@`][^:#]*?)\s*:(?:\s+(.*))?$/;

function readLine(text: string): Line | null {
  const bare = withoutComment(text);
  if (!bare.trim() || /^(---|\.\.\.)/.test(bare)) return null;
  const indent = bare.length - bare.trimStart().length;
  const dashes: number[] = [];
  let column = indent;
  while (/^-(\s|$)/.test(bare.slice(column))) {
    dashes.push(column);
    const rest = bare.slice(column + 1);
    column += 1 + (rest.length - rest.trimStart().length);
  }
  const match = KEY.exec(bare.slice(column).trimEnd());
  const value = match?.[2]?.trim() ?? "";
  return {
    indent,
    dashes,
    column,
    key: match ? match[1]!.replaceAll(/^["']|["']$/g, "") : null,
    opens: match !== null && value === "",
    block: /^[|>][+-]?\d*$/.test(value),
  };
}

/** A hash begins a comment at the beginning of a line or after a space, outside of quotes. */
function withoutComment(text: string): string {
  let quote = "";
  for (let place = 0; place < text.length; place += 1) {
    const letter = text[place]!;
    if (quote) quote = letter === quote ? "" : quote;
    else if ((letter === '"' || letter === "'") && (place === 0 || /[\s[{,:]/.test(text[place - 1]!))) quote = letter;
    else if (letter === "#" && (place === 0 || /\s/.test(text[place - 1]!))) return text.slice(0, place);
  }
  return text;
}

/** Null where nothing can be said: in a comment, in quotes, in a text of several lines. */
export function contextAt(text: string, offset: number): Context | null {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const written = text.slice(start, offset);
  if (withoutComment(written) !== written) return null;
  const above = text.slice(0, start).split("\n").slice(0, -1).map(readLine);
  const dashes: number[] = [];
  let column = written.length - written.trimStart().length;
  while (/^-\s/.test(written.slice(column))) {
    dashes.push(column);
    const rest = written.slice(column + 1);
    column += 1 + (rest.length - rest.trimStart().length);
  }
  const content = written.slice(column);
  const first = dashes[0] ?? column;
  if (inBlockText(above, written.trim() ? first : written.length)) return null;
  const { path, used } = parents(above, dashes, column);
  const below = text.slice(start).split("\n").slice(1).map(readLine);
  for (const name of siblingsBelow(below, column, dashes.length ? undefined : first)) used.add(name);
  const pair = /^("[^"]*"|'[^']*'|[^\s#:{}[\],'"][^:#{}[\],]*?)\s*:(\s+|$)/.exec(content);
  if (!pair) {
    const inside = flowAt(content, start + column);
    if (inside) return { ...inside, path: [...path, ...inside.path] };
    return { path, role: "key", from: start + column, used, flow: false };
  }
  const inner = [...path, pair[1]!.replaceAll(/^["']|["']$/g, "")];
  const value = content.slice(pair[0].length);
  if (pair[2] === "") return null; // a colon needs a space behind it
  const inside = flowAt(value, start + column + pair[0].length);
  if (inside) return { ...inside, path: [...inner, ...inside.path] };
  if (/^["'|>&*!]/.test(value)) return null;
  return { path: inner, role: "value", from: offset - value.length, used: new Set(), flow: false };
}

function inBlockText(above: readonly (Line | null)[], indent: number): boolean {
  for (let place = above.length - 1; place >= 0; place -= 1) {
    const line = above[place];
    if (!line || line.indent >= indent) continue;
    return line.block;
  }
  return false;
}

/** The keys above that a place belongs to, and those beside it. */
function parents(above: readonly (Line | null)[], dashes: readonly number[], column: number) {
  const path: Step[] = [];
  const used = new Set<string>();
  let limit = column;
  let child: "map" | "list" = "map";
  for (const dash of [...dashes].reverse()) {
    path.unshift(ITEM);
    limit = dash;
    child = "list";
  }
  let beside = dashes.length === 0;
  for (let place = above.length - 1; place >= 0 && (limit > 0 || child === "list"); place -= 1) {
    const line = above[place];
    if (!line) continue;
    if (line.key !== null && line.column === limit && child === "map" && beside) used.add(line.key);
    if (line.key !== null && line.opens && (line.column < limit || (line.column === limit && child === "list"))) {
      path.unshift(line.key);
      limit = line.column;
      child = "map";
      beside = false;
    }
    for (const dash of [...line.dashes].reverse())
      if (dash < limit) {
        path.unshift(ITEM);
        limit = dash;
        child = "list";
        beside = false;
      }
  }
  if (limit === 0 && beside) for (const line of above) if (line?.key && line.column === 0) used.add(line.key);
  return { path, used };
}

function* siblingsBelow(below: readonly (Line | null)[], column: number, outer: number | undefined) {
  for (const line of below) {
    if (!line) continue;
    if (line.indent < column || (outer === undefined && line.dashes.length > 0 && line.indent <= column)) return;
    if (line.key !== null && line.column === column && !line.dashes.length) yield line.key;
  }
}

/** Inside of braces and brackets on one line; null where all of them are closed, or there are none. */
function flowAt(value: string, offset: number): Context | null {
  const open: { kind: "{" | "["; key: string | null; used: Set<string>; from: number }[] = [];
  let quote = "";
  for (let place = 0; place < value.length; place += 1) {
    const letter = value[place]!;
    const top = open.at(-1);
    if (quote) quote = letter === quote ? "" : quote;
    else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === "{" || letter === "[") {
      if (!top && value.slice(0, place).trim()) return null;
      open.push({ kind: letter, key: null, used: new Set(), from: place + 1 });
    } else if (letter === "}" || letter === "]") open.pop();
    else if (top && letter === ",") Object.assign(top, { key: null, from: place + 1 });
    else if (top?.kind === "{" && letter === ":" && top.key === null && /\s|$/.test(value[place + 1] ?? "")) {
      top.key = value.slice(top.from, place).trim();
      top.used.add(top.key);
      top.from = place + 1;
    }
  }
  const last = open.at(-1);
  if (!last || quote) return null;
  const path: Step[] = [];
  for (const [depth, each] of open.entries()) {
    const inner = depth === open.length - 1;
    if (each.kind === "[") path.push(ITEM);
    else if (each.key !== null) path.push(each.key);
    else if (!inner) return null;
  }
  const rest = value.slice(last.from);
  const from = offset + last.from + (rest.length - rest.trimStart().length);
  const role = last.kind === "{" && last.key === null ? "key" : "value";
  return { path, role, from, used: last.used, flow: true };
}
