/** What would change against the version that the text began with. */
import { useDeferredValue, useMemo } from "react";
import { plural } from "../../lib/format";
import { type DiffLine, hunks } from "../../lib/line-diff";
import { Fold } from "../../ui/fold";

const MOST_LINES = 400;
const LOOKS: Record<DiffLine["sign"], string> = {
  "-": "bg-bad-soft text-bad",
  "+": "bg-good-soft text-good",
  " ": "text-muted",
};

export function Differences({ before, after }: { before: string; after: string }) {
  const now = useDeferredValue(after);
  const found = useMemo(() => hunks(before, now), [before, now]);
  const changed = found.flat().filter((line) => line.sign !== " ");
  if (!changed.length) return null;
  const count = (sign: string) => changed.filter((line) => line.sign === sign).length;
  return (
    <Fold
      title={`Differences from the saved version: ${plural(count("-"), "line")} removed, ${plural(count("+"), "line")} added`}
    >
      {() => (
        <div
          tabIndex={0}
          role="region"
          aria-label="Differences"
          className="max-h-96 overflow-auto rounded-xl border border-line bg-card py-2 font-mono text-xs"
        >
          {found.map((hunk, place) => (
            <pre key={place} className="border-b border-dashed border-line py-1 last:border-0">
              {hunk.slice(0, MOST_LINES).map((line, at) => (
                <div key={at} className={`px-3 ${LOOKS[line.sign]}`}>
                  {line.sign} {line.text}
                </div>
              ))}
              {hunk.length > MOST_LINES && <div className="px-3 text-muted">… and more</div>}
            </pre>
          ))}
        </div>
      )}
    </Fold>
  );
}
