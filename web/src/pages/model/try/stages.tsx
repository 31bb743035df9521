/** What an answer took its time for. */
import type { Schemas } from "../../../api/client";
import { time } from "../../../lib/format";
import { partsOf } from "./parts";

export function Stages({ of }: { of: Schemas["Prediction"] }) {
  const total = Math.max(of.wall_ns, 1);
  const shown = of.stages.length ? partsOf(of.stages, of.wall_ns, of.load_ns) : [];
  if (!shown.length) return null;
  return (
    <div>
      <p className="mb-1.5 flex justify-between text-xs text-muted">
        <span>Time</span>
        <span>{time(of.wall_ns)}</span>
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
            style={{ background: stage.paint, width: `${(100 * stage.duration_ns) / total}%` }}
          />
        ))}
      </div>
      <ul className="mt-2 flex flex-wrap gap-x-3 gap-y-1 text-xs text-muted">
        {shown.map((stage, place) => (
          <li key={place} className="flex items-center gap-1.5">
            <span aria-hidden="true" className="size-2 rounded-full" style={{ background: stage.paint }} />
            {`${stage.name} ${time(stage.duration_ns)}`}
          </li>
        ))}
      </ul>
    </div>
  );
}
