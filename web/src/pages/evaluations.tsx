import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../api/client";
import { EvaluationTable } from "../shown/evaluation-table";
import { Button, Empty, Heading, Trouble, Waiting } from "../ui/parts";

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
  const only = search.model ?? search.agent ?? (search.request && "one request");
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
        {only && (
          <Button onClick={() => void navigate({ search: { state: search.state } })}>
            only {only} <span aria-label="Take this filter away">✕</span>
          </Button>
        )}
      </div>
      {found.error && found.data && (
        <div className="mb-4">
          <Trouble error={found.error} />
        </div>
      )}
      {found.isPending ? (
        <Waiting />
      ) : found.error && !found.data ? (
        <Trouble error={found.error} again={() => void found.refetch()} />
      ) : rows.length ? (
        <EvaluationTable rows={rows} />
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
