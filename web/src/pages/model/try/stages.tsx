/** What an answer took its time for. */
import type { Schemas } from "../../../api/client";
import { time } from "../../../lib/format";

const PAINTS = ["bg-accent-mid", "bg-warn/70", "bg-good/60", "bg-muted/60", "bg-bad/50", "bg-ink/40"];

export function Stages({ of, wall }: { of: readonly Schemas["StageTime"][]; wall: number }) {
  const total = of.reduce((sum, stage) => sum + stage.duration_ns, 0) || 1;
  const shown = of.map((stage, place) => ({
    ...stage,
    share: stage.duration_ns / total,
    // What most people look for stands out.
    paint: stage.name === "run" || stage.name === "answer" ? "bg-accent" : PAINTS[place % PAINTS.length]!,
  }));
  if (!shown.length) return null;
  return (
    <div>
      <p className="mb-1.5 flex justify-between text-xs text-muted">
        <span>Time</span>
        <span>{time(wall)}</span>
      </p>
      <div
        className="flex h-3 gap-px overflow-hidden rounded-full bg-soft"
        role="img"
        aria-label={shown.map((stage) => `${stage.name} ${time(stage.duration_ns)}`).join(", ")}
      >
        {shown.map((stage, place) => (
          <span
            key={place}
            title={`${stage.name} ${time(stage.duration_ns)}`}
            className={stage.paint}
            style={{ width: `${100 * stage.share}%` }}
          />
        ))}
      </div>
      <ul className="mt-2 flex flex-wrap gap-x-3 gap-y-1 text-xs text-muted">
        {shown.map((stage, place) => (
          <li key={place} className="flex items-center gap-1.5">
            <span aria-hidden="true" className={`size-2 rounded-full ${stage.paint}`} />
            {`${stage.name} ${time(stage.duration_ns)}`}
          </li>
        ))}
      </ul>
    </div>
  );
}
