import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../api/client";
import { ago } from "../lib/format";
import { AddToComparison } from "../ui/add-to-comparison";
import { Bar, Button, Empty, Heading, State, Trouble, Waiting } from "../ui/parts";
import { Table } from "../ui/table";

type State = Schemas["Evaluation"]["state"];
const STATES: State[] = ["waiting", "running", "finished", "failed", "cancelled"];
const here = getRouteApi("/evaluations");

export function Evaluations() {
  const search = here.useSearch();
  const navigate = useNavigate({ from: "/evaluations" });
  const found = useInfiniteQuery({
    queryKey: ["evaluations", search],
    queryFn: ({ pageParam }) =>
      answer(
        api.GET("/api/v1/evaluations", {
          params: { query: { ...search, state: search.state as State | undefined, after: pageParam, limit: 50 } },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    refetchInterval: (query) => ((query.state.data?.pages.length ?? 0) > 1 ? false : 2000),
  });
  const rows = found.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <>
      <Heading title="Evaluations" about="What was asked for, newest first, and what became of it." />
      <div className="mb-4 flex flex-wrap gap-2" role="group" aria-label="State">
        {[undefined, ...STATES].map((state) => (
          <Button
            key={state ?? "all"}
            aria-pressed={search.state === state}
            className={search.state === state ? "!border-accent !text-accent" : ""}
            onClick={() => void navigate({ search: { ...search, state } })}
          >
            {state ?? "all"}
          </Button>
        ))}
        {(search.model ?? search.agent) && (
          <Button onClick={() => void navigate({ search: { state: search.state } })}>
            only {search.model ?? search.agent} ✕
          </Button>
        )}
      </div>
      {found.isPending ? (
        <Waiting />
      ) : found.error && !found.data ? (
        <Trouble error={found.error} again={() => void found.refetch()} />
      ) : rows.length ? (
        <List rows={rows} />
      ) : (
        <Empty>Nothing here yet.</Empty>
      )}
      {found.hasNextPage && (
        <Button className="mt-4" disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          Older ones
        </Button>
      )}
    </>
  );
}

function List({ rows }: { rows: Schemas["Evaluation"][] }) {
  return (
    <Table
      name="Evaluations"
      rows={rows}
      identity={(row) => row.id}
      columns={[
        {
          title: "Model",
          cell: (row) => (
            <Link to="/evaluations/$id" params={{ id: row.id }} className="font-medium">
              {row.model}
            </Link>
          ),
        },
        { title: "Dataset", cell: (row) => row.dataset },
        { title: "Kind", cell: (row) => row.kind },
        { title: "State", cell: (row) => <State of={row.state} /> },
        { title: "Progress", cell: (row) => <Progress of={row} /> },
        { title: "Agent", cell: (row) => row.agent ?? "–" },
        { title: "By", cell: (row) => row.owner },
        {
          title: "Asked",
          right: true,
          cell: (row) => (
            <time dateTime={row.created_at} title={row.created_at}>
              {ago(row.created_at)}
            </time>
          ),
        },
        { title: "Compare", right: true, cell: (row) => row.record && <AddToComparison record={row.record} brief /> },
      ]}
    />
  );
}

export function Progress({ of: { progress, state, error } }: { of: Schemas["Evaluation"] }) {
  if (error) return <span className="text-bad">{error.message}</span>;
  if (!progress?.of || state === "finished") return null;
  return (
    <div className="w-28 pt-1.5">
      <Bar share={progress.done / progress.of} label={`${progress.done} of ${progress.of}`} />
    </div>
  );
}
