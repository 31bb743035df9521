/** How close, how deep, and what is searched for. */
import type { Schemas } from "../../api/client";
import { Button } from "../../ui/parts";
import { LEVELS, levelName } from "./bands";
import { firstView, zoomed } from "./view";
import type { ViewStore } from "./view-store";

interface Props {
  head: Schemas["Timeline"];
  store: ViewStore;
  level?: string;
  onLevel: (level: string | undefined) => void;
}

export function Zoom({ head, store, level, onLevel }: Props) {
  const known = LEVELS.filter((each) => head.rows.some((row) => row.level === each));
  return (
    <div className="flex max-w-full min-w-0 flex-wrap items-center gap-2">
      <div className="flex flex-wrap gap-1" role="group" aria-label="Zoom">
        <Button aria-label="Zoom in" onClick={() => store.set(zoomed(store.view, 0.5, 0.5))}>
          +
        </Button>
        <Button aria-label="Zoom out" onClick={() => store.set(zoomed(store.view, 2, 0.5))}>
          −
        </Button>
        <Button onClick={() => store.set({ from: 0, to: store.duration })}>Whole</Button>
        {head.rows.some((row) => row.level === "framework") && (
          <Button onClick={() => store.set(firstView(head.rows, head.duration_ns))}>Layers</Button>
        )}
      </div>
      <label className="flex max-w-full items-center gap-2 text-sm text-muted">
        Down to
        <select
          value={level ?? ""}
          onChange={(event) => onLevel(event.target.value || undefined)}
          className="rounded-lg border border-line bg-card px-2 py-1.5 text-ink"
        >
          <option value="">everything</option>
          {known.slice(0, -1).map((each) => (
            <option key={each} value={each}>
              {levelName(each).toLowerCase()}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
