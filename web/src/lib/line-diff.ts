/** Two texts line by line: what was taken away, what was added, with some lines around it. */
export interface DiffLine {
  sign: "-" | "+" | " ";
  text: string;
}

const AROUND = 2;
const MOST_CELLS = 4_000_000;

/** Runs of lines with changes; none where the texts are the same. */
export function hunks(before: string, after: string, around = AROUND): DiffLine[][] {
  const lines = lineDiff(before.split("\n"), after.split("\n"));
  const found: DiffLine[][] = [];
  let end = -1;
  lines.forEach((line, place) => {
    if (line.sign === " ") return;
    const from = Math.max(0, place - around);
    if (from > end || !found.length) found.push(lines.slice(from, place + around + 1));
    else found[found.length - 1]!.push(...lines.slice(end, place + around + 1));
    end = Math.min(lines.length, place + around + 1);
  });
  return found;
}

/** What both begin and end with is put aside first: people change a few lines of many. */
function lineDiff(before: readonly string[], after: readonly string[]): DiffLine[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  const room = Math.min(before.length, after.length) - head;
  while (tail < room && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ sign: " ", text }));
  return [
    ...same(before.slice(0, head)),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...same(before.slice(before.length - tail)),
  ];
}

/** By the longest common subsequence; texts that are too long for that are taken as wholly other ones. */
function middle(before: readonly string[], after: readonly string[]): DiffLine[] {
  const [rows, columns] = [before.length, after.length];
  const removed = (text: string): DiffLine => ({ sign: "-", text });
  const added = (text: string): DiffLine => ({ sign: "+", text });
  if (rows * columns > MOST_CELLS) return [...before.map(removed), ...after.map(added)];
  const wide = columns + 1;
  const common = new Uint32Array((rows + 1) * wide);
  for (let row = rows - 1; row >= 0; row -= 1)
    for (let column = columns - 1; column >= 0; column -= 1)
      common[row * wide + column] =
        before[row] === after[column]
          ? common[(row + 1) * wide + column + 1]! + 1
          : Math.max(common[(row + 1) * wide + column]!, common[row * wide + column + 1]!);
  const found: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < rows || column < columns)
    if (row < rows && column < columns && before[row] === after[column]) {
      found.push({ sign: " ", text: before[row]! });
      row += 1;
      column += 1;
    } else if (
      row < rows &&
      (column === columns || common[(row + 1) * wide + column]! >= common[row * wide + column + 1]!)
    ) {
      found.push(removed(before[row]!));
      row += 1;
    } else {
      found.push(added(after[column]!));
      column += 1;
    }
  return found;
}
