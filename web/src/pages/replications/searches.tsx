/** What was checked lately: claims, and what pitfalls would cost. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../../api/client";
import { ago } from "../../lib/format";
import { published, spelled } from "../../lib/measured";
import { Button, Card, Empty, State, Trouble, Verdict, Waiting } from "../../ui/parts";
import { Table } from "../../ui/table";

const OFTEN_MS = 3000;

export function Searches() {
  const found = useInfiniteQuery({
    queryKey: ["replications"],
    queryFn: ({ pageParam }) =>
      answer(api.GET("/api/v1/replications", { params: { query: { after: pageParam, limit: 10 } } })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    refetchInterval: (query) => ((query.state.data?.pages.length ?? 0) > 1 ? false : OFTEN_MS),
  });
  const rows = found.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <>
      <Card title="Checked here">
        {found.isPending ? (
          <Waiting />
        ) : found.error && !found.data ? (
          <Trouble error={found.error} again={() => void found.refetch()} />
        ) : rows.length ? (
          <Table
            name="Replications"
            rows={rows}
            identity={(row) => row.id}
            columns={[
              {
                title: "Model",
                cell: (row) => (
                  <Link to="/replications/$id" params={{ id: row.id }} className="font-medium">
                    {row.model}
                  </Link>
                ),
              },
              { title: "On", cell: (row) => row.dataset },
              {
                title: "Claimed",
                right: true,
                cell: (row) => (row.claim ? claimed(row.claim, row.verdicts.length) : "–"),
              },
              {
                title: "Measured",
                right: true,
                cell: (row) => (row.measured ? spelled(row.measured.value, row.claim?.unit) : "–"),
              },
              {
                title: "Verdict",
                cell: (row) => (row.verdict ? <Verdict of={row.verdict} /> : <State of={row.state} />),
              },
              { title: "Because of", cell: (row) => row.explained_by.join(", ") },
              { title: "When", right: true, cell: (row) => ago(row.created_at) },
            ]}
          />
        ) : (
          <Empty>Nothing was checked here yet. Choose a claim below.</Empty>
        )}
        {found.hasNextPage && (
          <Button className="mt-4" disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
            Older ones
          </Button>
        )}
      </Card>
      <Sensitivities />
    </>
  );
}

/** The claim with the worst verdict, and how many others were checked with it. */
function claimed(claim: Schemas["Claimed"], all: number): string {
  const others = all > 1 ? ` and ${all - 1} more` : "";
  return `${claim.metric} ${published(claim.value, claim.unit)}${others}`;
}

function Sensitivities() {
  const found = useQuery({
    queryKey: ["sensitivities"],
    queryFn: () => answer(api.GET("/api/v1/sensitivities", { params: { query: { limit: 10 } } })),
    refetchInterval: OFTEN_MS,
  });
  if (!found.data?.items.length) return null;
  return (
    <Card title="What pitfalls would cost">
      <Table
        name="Sensitivities"
        rows={found.data.items}
        identity={(row) => row.id}
        columns={[
          {
            title: "Model",
            cell: (row) => (
              <Link to="/sensitivities/$id" params={{ id: row.id }} className="font-medium">
                {row.model}
              </Link>
            ),
          },
          { title: "On", cell: (row) => row.dataset },
          { title: "State", cell: (row) => <State of={row.state} /> },
          { title: "When", right: true, cell: (row) => ago(row.created_at) },
        ]}
      />
    </Card>
  );
}
