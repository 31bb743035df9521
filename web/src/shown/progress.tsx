/** How far an evaluation is, or what became of it. */
import type { Schemas } from "../api/client";
import { secondsLeft, spellLeft } from "../lib/eta";
import { Bar } from "../ui/parts";

export function Progress({ of: evaluation }: { of: Schemas["Evaluation"] }) {
  const { progress, state, error } = evaluation;
  if (error) return <span className="text-bad">{error.message}</span>;
  if (!progress?.of || state !== "running") return null;
  return (
    <div className="w-32 pt-1.5">
      <Bar share={progress.done / progress.of} label={`${progress.done} of ${progress.of}`} />
      <span className="mt-1 block text-xs text-muted">{spellLeft(secondsLeft(evaluation))}</span>
    </div>
  );
}
