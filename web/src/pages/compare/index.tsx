/** Records side by side: what was measured, what differs, and of two what the difference comes to. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { basket, useBasket } from "../../lib/basket";
import { ago, plural } from "../../lib/format";
import { series } from "../../lib/series";
import { Button, Heading, Trouble, Waiting } from "../../ui/parts";
import { Everything } from "./everything";
import { Facts, Measures } from "./side-by-side";

const Charts = lazy(() => import("./charts"));
const OfTwo = lazy(() => import("./of-two"));
const here = getRouteApi("/compare");

export function Compare() {
  const search = here.useSearch();
  const navigate = useNavigate({ from: "/compare" });
  const chosen = useBasket();
  const records = [...new Set((search.records ?? "").split(",").filter(Boolean))];
  // Whoever comes by the navigation sees what is in the basket, and has an address to show to others.
  useEffect(() => {
    if (!search.records && chosen.length) void navigate({ search: { records: chosen.join(",") }, replace: true });
  }, [search.records, chosen, navigate]);
  const found = useQuery({
    queryKey: ["comparison", records],
    queryFn: () => answer(api.GET("/api/v1/comparisons", { params: { query: { record: records } } })),
    enabled: records.length > 0,
    staleTime: 60_000,
  });
  const show = (next: readonly string[]) => {
    basket.put(next);
    void navigate({ search: { records: next.join(",") || undefined } });
  };
  if (!records.length) return <Everything />;
  return (
    <>
      <Heading
        title="Compare"
        about={`${plural(records.length, "record")} side by side. Add more from a record's page, a model's page or the evaluations.`}
        actions={
          <>
            {records.length === 2 && (
              <Button onClick={() => show([...records].reverse())} title="Which of them is the first">
                Swap
              </Button>
            )}
            <Button onClick={() => show([])}>Clear</Button>
          </>
        }
      />
      {found.error ? (
        <Trouble error={found.error} again={() => void found.refetch()} />
      ) : !found.data ? (
        <Waiting what="Comparing" />
      ) : (
        <div className="space-y-6">
          <Chosen of={found.data.records} remove={(id) => show(records.filter((each) => each !== id))} />
          <Measures comparison={found.data} />
          <Suspense fallback={<Waiting />}>
            {found.data.pair && <OfTwo pair={found.data.pair} records={found.data.records} />}
            <Charts comparison={found.data} />
          </Suspense>
          <Facts comparison={found.data} />
        </div>
      )}
    </>
  );
}

function Chosen({ of, remove }: { of: Schemas["ComparedRecord"][]; remove: (id: string) => void }) {
  return (
    <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3" aria-label="Chosen records">
      {of.map((record, place) => (
        <li
          key={record.id}
          className="flex gap-3 rounded-xl border border-line bg-card p-4 text-sm"
          style={{ borderLeft: `4px solid ${series(place)}` }}
        >
          <div className="min-w-0 flex-1">
            <Link to="/records/$id" params={{ id: record.id }} className="font-medium [overflow-wrap:anywhere]">
              {record.model}
            </Link>
            <p className="text-muted [overflow-wrap:anywhere]">
              {record.kind} · {record.stack}
            </p>
            <p className="text-muted [overflow-wrap:anywhere]">
              {record.dataset}
              {record.part && <span className="text-warn">, {record.part} samples</span>}
            </p>
            <p className="text-muted [overflow-wrap:anywhere]">
              {record.machine} · {ago(record.created_at)}
            </p>
            {record.unstable.length > 0 && (
              <p className="mt-1 text-warn" title={record.unstable.join("; ")}>
                measured on a busy machine
              </p>
            )}
          </div>
          <button
            type="button"
            className="self-start rounded-md px-1.5 text-muted hover:bg-soft hover:text-ink"
            aria-label={`Take ${record.id} away`}
            onClick={() => remove(record.id)}
          >
            ✕
          </button>
        </li>
      ))}
    </ul>
  );
}
