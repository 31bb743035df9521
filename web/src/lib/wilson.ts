/** The 95 % interval of a share that was seen in some of so many, by Wilson: it holds for few of them, too. */
export function wilson(share: number, count: number): [number, number] {
  if (count <= 0) return [0, 1];
  const z = 1.959964;
  const spread = 1 + (z * z) / count;
  const middle = (share + (z * z) / (2 * count)) / spread;
  const half = (z / spread) * Math.sqrt((share * (1 - share)) / count + (z * z) / (4 * count * count));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}
