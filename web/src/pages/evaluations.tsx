import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../api/client";
import { EvaluationTable } from "../shown/evaluation-table";
import { days } from "../lib/days";
import { Button, Empty, Heading, Trouble, Waiting } from "../ui/parts";
import { SearchBox } from "../ui/search-box";

type State = Schemas["Evaluation"]["state"];
const STATES: State[] = ["waiting", "running", "finished", "failed", "cancelled"];
const here = getRouteApi("/evaluations");

/** What the server is asked; days are whole days of whoever looks. */
function question({ since, until, state, ...search }: ReturnType<typeof here.useSearch>) {
  return { ...search, state: STATES.find((each) => each === state), ...days(since, until) };
}

export function Evaluations() {
  const search = here.useSearch();
  const navigate = useNavigate({ from: "/evaluations" });
  const found = useInfiniteQuery({
    queryKey: ["evaluations", search],
    queryFn: ({ pageParam }) =>
      answer(
        api.GET("/api/v1/evaluations", {
          params: { query: { ...question(search), after: pageParam, limit: 50 } },
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
      <div className="mb-4 flex flex-wrap items-end gap-3">
        <div className="w-full sm:w-72">
          <SearchBox
            value={search.q}
            onChange={(q) => void navigate({ search: { ...search, q }, replace: true })}
            hint="Model, dataset, agent, person"
          />
        </div>
        {(["since", "until"] as const).map((name) => (
          <label key={name} className="text-sm">
            <span className="mr-2">{name === "since" ? "From" : "To"}</span>
            <input
              type="date"
              value={search[name] ?? ""}
              onChange={(event) => void navigate({ search: { ...search, [name]: event.target.value || undefined } })}
              className="rounded-lg border border-line bg-card px-2 py-1.5"
            />
          </label>
        ))}
      </div>
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
        <Empty>{search.q || search.since || search.until ? "No matches." : "Nothing here yet."}</Empty>
      )}
      {found.hasNextPage && (
        <Button className="mt-4" disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          Older ones
        </Button>
      )}
    </>
  );
}
