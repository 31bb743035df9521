/** How loud a sound is in the course of time: the highest and the lowest value in each column. */
const HEIGHT = 56;

export function Waveform({
  peaks,
  about,
  className = "h-14",
}: {
  peaks: readonly (readonly number[])[];
  about: string;
  className?: string;
}) {
  const middle = HEIGHT / 2;
  const ends = peaks as readonly (readonly [number, number])[];
  const loudest = Math.max(1e-4, ...ends.flatMap(([low, high]) => [-low, high]));
  const scale = (middle - 2) / loudest;
  const path = ends.map(
    ([low, high], at) =>
      `M${at + 0.5} ${(middle - scale * high).toFixed(1)}V${(middle - scale * low + 0.5).toFixed(1)}`,
  );
  return (
    <svg
      viewBox={`0 0 ${Math.max(1, peaks.length)} ${HEIGHT}`}
      preserveAspectRatio="none"
      role={about ? "img" : undefined}
      aria-label={about || undefined}
      aria-hidden={about ? undefined : true}
      className={`block w-full ${className}`}
    >
      <path d={path.join("")} fill="none" stroke="var(--accent)" strokeWidth="1" vectorEffect="non-scaling-stroke" />
    </svg>
  );
}
