/** Two traces below one another, on one scale: whoever zooms one, zooms both. */
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { plural, time } from "../../lib/format";
import { Button, Card, Heading, Trouble, Waiting } from "../../ui/parts";
import { SpanFacts } from "./span-facts";
import { type Seen, Timeline } from "./timeline";
import { Zoom } from "./toolbar";
import { useHead, useTrace } from "./use-head";
import { useResting, useViewStore } from "./use-view";
import { around } from "./view";
import type { ViewStore } from "./view-store";

const here = getRouteApi("/traces/compare");

export function TracesBeside() {
  const { left, right } = here.useSearch();
  const heads = [useHead(left), useHead(right)];
  const error = heads.find((each) => each.error)?.error;
  return (
    <>
      <Heading title="Two traces side by side" about="One scale, one zoom: where the longer one loses its time." />
      <div className="mb-5 grid gap-4 sm:grid-cols-2">
        <Picker side="left" title="Above" chosen={left} />
        <Picker side="right" title="Below" chosen={right} />
      </div>
      {error ? (
        <Trouble error={error} again={() => heads.forEach((each) => void each.refetch())} />
      ) : !left || !right ? null : heads[0]!.data && heads[1]!.data ? (
        <Both key={`${left} ${right}`} ids={[left, right]} heads={[heads[0]!.data, heads[1]!.data]} />
      ) : (
        <Waiting />
      )}
    </>
  );
}

function Picker({ side, title, chosen }: { side: "left" | "right"; title: string; chosen?: string }) {
  const search = here.useSearch();
  const navigate = useNavigate({ from: "/traces/compare" });
  const found = useQuery({
    queryKey: ["traces", "all"],
    queryFn: () => answer(api.GET("/api/v1/traces", { params: { query: { limit: 500 } } })),
  });
  const items = found.data?.items ?? [];
  const known = !chosen || items.some((each) => each.id === chosen);
  return (
    <label className="block min-w-0 text-sm">
      <span className="mb-1 block font-medium">{title}</span>
      <select
        value={chosen ?? ""}
        onChange={(event) =>
          void navigate({
            search: { ...search, from: undefined, to: undefined, [side]: event.target.value || undefined },
          })
        }
        className="w-full rounded-lg border border-line bg-card px-3 py-1.5"
      >
        <option value="">Choose a trace</option>
        {!known && <option value={chosen}>{chosen}</option>}
        {items.map((each) => (
          <option key={each.id} value={each.id}>
            {each.model ?? each.service} · {each.record ?? each.id.slice(0, 8)} · {time(each.duration_ns)}
          </option>
        ))}
      </select>
    </label>
  );
}

type Heads = [Schemas["Timeline"], Schemas["Timeline"]];

/** When the layers of a trace begin; they are laid below one another where that is wanted. */
function beginning(head: Schemas["Timeline"]): number {
  const layers = head.rows.filter((row) => row.level === "framework");
  return layers.length ? Math.min(...layers.map((row) => row.first_ns)) : 0;
}

function Both({ ids, heads }: { ids: [string, string]; heads: Heads }) {
  const search = here.useSearch();
  const navigate = useNavigate({ from: "/traces/compare" });
  const store = useViewStore(heads[0], search, Math.max(heads[0].duration_ns, heads[1].duration_ns));
  const resting = useResting(store);
  const atLayers = search.align !== "start";
  const offset = atLayers ? beginning(heads[1]) - beginning(heads[0]) : 0;
  useEffect(() => {
    const now = { from: Math.round(resting.from), to: Math.round(resting.to) };
    void navigate({ search: (before) => ({ ...before, ...now }), replace: true, resetScroll: false });
  }, [resting, navigate]);
  return (
    <div className="space-y-6">
      <Card>
        <div className="flex flex-wrap items-center justify-between gap-3">
          <Zoom
            head={heads[0].rows.length >= heads[1].rows.length ? heads[0] : heads[1]}
            store={store}
            level={search.level}
            onLevel={(level) => void navigate({ search: (before) => ({ ...before, level }), replace: true })}
          />
          <Button
            aria-pressed={atLayers}
            className={atLayers ? "!border-accent !text-accent" : ""}
            onClick={() =>
              void navigate({
                search: (before) => ({ ...before, align: atLayers ? "start" : undefined }),
                replace: true,
              })
            }
          >
            Begin with the first layer
          </Button>
        </div>
      </Card>
      <Side id={ids[0]} head={heads[0]} store={store} offset={0} level={search.level} />
      <Side id={ids[1]} head={heads[1]} store={store} offset={offset} level={search.level} />
    </div>
  );
}

interface SideProps {
  id: string;
  head: Schemas["Timeline"];
  store: ViewStore;
  offset: number;
  level?: string;
}

function Side({ id, head, store, offset, level }: SideProps) {
  const trace = useTrace(id);
  const [selected, setSelected] = useState<string | null>(null);
  const onSelect = useCallback(
    (seen: Seen | null) => {
      if (seen && seen.count > 1) store.set(around(seen.start_ns - offset, seen.end_ns - offset));
      else setSelected(seen?.id ?? null);
    },
    [store, offset],
  );
  const name = trace.data ? (trace.data.model ?? trace.data.service) : "";
  return (
    <Card
      title={
        <Link to="/traces/$id" params={{ id }}>
          {name || id}
        </Link>
      }
      aside={trace.data && `${trace.data.resource.stack ?? ""} · ${plural(trace.data.spans, "span")}`}
    >
      <Timeline
        id={id}
        label={`Timeline of ${name} ${id.slice(0, 6)}`}
        head={head}
        store={store}
        offset={offset}
        level={level}
        selected={selected}
        onSelect={onSelect}
      />
      {selected && (
        <div className="mt-4">
          <SpanFacts
            trace={id}
            span={selected}
            onShow={(from, to) => store.set(around(from - offset, to - offset))}
            onSelect={setSelected}
          />
        </div>
      )}
    </Card>
  );
}
