/** The same sample as the model sees it both ways, and a line between them that can be moved. */
import { useState } from "react";

export function Slider({ before, after, name }: { before: string; after: string; name: string }) {
  const [share, setShare] = useState(50);
  const looks = "absolute inset-0 size-full object-fill [image-rendering:pixelated]";
  return (
    <div>
      <div className="relative aspect-square w-full overflow-hidden rounded-lg border border-line bg-soft has-focus-visible:outline-2 has-focus-visible:outline-accent">
        <img src={after} alt={`${name}, with the change`} className={looks} draggable={false} />
        <img
          src={before}
          alt={`${name}, as the manifest says`}
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
          aria-label={`How much of ${name} is as the manifest says`}
          aria-valuetext={`${share} % as the manifest says`}
          onChange={(event) => setShare(Number(event.target.value))}
          className="absolute inset-0 size-full cursor-ew-resize opacity-0"
        />
      </div>
      <p className="mt-1 flex justify-between text-xs text-muted" aria-hidden="true">
        <span>before</span>
        <span>after</span>
      </p>
    </div>
  );
}
