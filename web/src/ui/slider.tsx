/** Two pictures of the same thing over each other, and a line between them that can be moved, with keys as well. */
import { useState } from "react";

interface Side {
  address: string;
  /** What it is, for who cannot see it. */
  told: string;
  /** Below it. */
  title: string;
}

export function Slider({
  before,
  after,
  label,
  square = false,
}: {
  before: Side;
  after: Side;
  /** What the line is about. */
  label: string;
  /** Pictures may be of different shapes, and are stretched into a square. */
  square?: boolean;
}) {
  const [share, setShare] = useState(50);
  const looks = "absolute inset-0 size-full object-fill [image-rendering:pixelated]";
  return (
    <div>
      <div
        className={`relative w-full overflow-hidden rounded-lg border border-line bg-soft has-focus-visible:outline-2 has-focus-visible:outline-accent ${square ? "aspect-square" : "leading-none"}`}
      >
        <img
          src={after.address}
          alt={after.told}
          className={square ? looks : "w-full [image-rendering:pixelated]"}
          draggable={false}
        />
        <img
          src={before.address}
          alt={before.told}
          className={looks}
          style={{ clipPath: `inset(0 ${100 - share}% 0 0)` }}
          draggable={false}
        />
        <span
          aria-hidden="true"
          className="pointer-events-none absolute inset-y-0 w-0.5 -translate-x-1/2 bg-white shadow-[0_0_0_1px_rgb(0_0_0/0.4)]"
          style={{ left: `${share}%` }}
        >
          <span className="absolute top-1/2 left-1/2 flex size-8 -translate-1/2 items-center justify-center rounded-full bg-white text-sm text-black shadow">
            ⇔
          </span>
        </span>
        <input
          type="range"
          min={0}
          max={100}
          value={share}
          aria-label={label}
          aria-valuetext={`${share} % ${before.title}`}
          onChange={(event) => setShare(Number(event.target.value))}
          className="absolute inset-0 size-full cursor-ew-resize opacity-0"
        />
      </div>
      <p className="mt-1 flex justify-between text-xs text-muted" aria-hidden="true">
        <span>{before.title}</span>
        <span>{after.title}</span>
      </p>
    </div>
  );
}
