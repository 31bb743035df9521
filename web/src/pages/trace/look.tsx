/** The timeline with what belongs to it: zoom, search, the strip above, one span's facts, and the table below. */
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback, useDeferredValue, useEffect, useState } from "react";
import type { Schemas } from "../../api/client";
import { Card } from "../../ui/parts";
import { Minimap } from "./minimap";
import { SpanFacts } from "./span-facts";
import { SpanTable } from "./span-table";
import { type Seen, Timeline } from "./timeline";
import { Zoom } from "./toolbar";
import { useResting, useViewStore } from "./use-view";
import { around } from "./view";

const here = getRouteApi("/traces/$id");

export function Look({ trace, head }: { trace: Schemas["TraceDetails"]; head: Schemas["Timeline"] }) {
  const search = here.useSearch();
  const navigate = useNavigate({ from: "/traces/$id" });
  const store = useViewStore(head, search);
  const resting = useResting(store);
  const [words, setWords] = useState(search.q ?? "");
  const typed = useDeferredValue(words.trim()) || undefined;
  const selected = search.span ?? null;
  useEffect(() => {
    const now = { from: Math.round(resting.from), to: Math.round(resting.to), q: typed };
    void navigate({ search: (before) => ({ ...before, ...now }), replace: true, resetScroll: false });
  }, [resting, typed, navigate]);
  const select = useCallback(
    (span: string | null) =>
      void navigate({
        search: (before) => ({ ...before, span: span ?? undefined }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  const onSelect = useCallback(
    (seen: Seen | null) => {
      if (seen && seen.count > 1) store.set(around(seen.start_ns, seen.end_ns));
      else select(seen?.id ?? null);
    },
    [store, select],
  );
  return (
    <div className="space-y-6">
      <Card>
        <div className="mb-3 flex flex-wrap items-center justify-between gap-3">
          <Zoom
            head={head}
            store={store}
            level={search.level}
            onLevel={(level) => void navigate({ search: (before) => ({ ...before, level }), replace: true })}
          />
          <label className="min-w-0 grow text-sm sm:max-w-60">
            <span className="sr-only">Search spans by name</span>
            <input
              type="search"
              value={words}
              maxLength={200}
              onChange={(event) => setWords(event.target.value)}
              placeholder="Search spans by name"
              className="w-full rounded-lg border border-line bg-paper px-3 py-1.5"
            />
          </label>
        </div>
        <div className="space-y-2">
          <Minimap head={head} store={store} />
          <Timeline
            id={trace.id}
            label={`Timeline of ${trace.model ?? trace.service}`}
            head={head}
            store={store}
            level={search.level}
            search={typed}
            selected={selected}
            onSelect={onSelect}
          />
        </div>
        <p className="mt-2 text-xs text-muted">
          Wheel or pinch to zoom, drag to move, click for a span’s facts, click twice to zoom to it. Pale pieces group
          many short spans.
        </p>
      </Card>
      {selected && (
        <SpanFacts
          trace={trace.id}
          span={selected}
          onShow={(from, to) => store.set(around(from, to))}
          onSelect={select}
        />
      )}
      <SpanTable trace={trace.id} store={store} level={search.level} search={typed} onSelect={select} />
    </div>
  );
}
