/** What runs, which claims were decided, and what was measured lately, each with the way to all of it. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { answer, api } from "../../api/client";
import { published, spelled } from "../../lib/measured";
import { EvaluationTable } from "../../shown/evaluation-table";
import { RecordTable } from "../../shown/record-table";
import { Empty, State, Trouble, Verdict, Waiting } from "../../ui/parts";
import { Table } from "../../ui/table";
import { When } from "../../ui/when";

const OFTEN_MS = 5000;
const FEW = 5;

export function Lately() {
  return (
    <div className="space-y-8">
      <Running />
      <Verdicts />
      <Results />
    </div>
  );
}

function Part({ title, all, children }: { title: string; all: string; children: ReactNode }) {
  return (
    <section>
      <header className="mb-3 flex items-baseline justify-between gap-3">
        <h2 className="text-lg">{title}</h2>
        <Link to={all} className="text-sm">
          Show all<span className="sr-only"> of {title.toLowerCase()}</span>
        </Link>
      </header>
      {children}
    </section>
  );
}

function Running() {
  const found = useQuery({
    queryKey: ["home", "running"],
    queryFn: () => answer(api.GET("/api/v1/evaluations", { params: { query: { state: "running", limit: FEW } } })),
    refetchInterval: OFTEN_MS,
  });
  if (!found.data?.items.length) return null;
  return (
    <Part title="Running" all="/evaluations">
      <EvaluationTable rows={found.data.items} />
    </Part>
  );
}

function Verdicts() {
  const found = useQuery({
    queryKey: ["home", "verdicts"],
    queryFn: () => answer(api.GET("/api/v1/replications", { params: { query: { limit: FEW } } })),
    refetchInterval: OFTEN_MS,
  });
  if (!found.data?.items.length) return null;
  return (
    <Part title="Latest verdicts" all="/replications">
      <Table
        name="Latest verdicts"
        stacked
        rows={found.data.items}
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
          { title: "Dataset", cell: (row) => row.dataset },
          {
            title: "Claimed",
            cell: (row) => (row.claim ? `${row.claim.metric} ${published(row.claim.value, row.claim.unit)}` : "–"),
          },
          {
            title: "Measured",
            cell: (row) => (row.measured ? spelled(row.measured.value, row.claim?.unit) : "–"),
          },
          {
            title: "Verdict",
            cell: (row) => (row.verdict ? <Verdict of={row.verdict} /> : <State of={row.state} />),
          },
          { title: "Cause", cell: (row) => row.explained_by.join(", ") },
          { title: "When", right: true, cell: (row) => <When at={row.created_at} /> },
        ]}
      />
    </Part>
  );
}

function Results() {
  const found = useQuery({
    queryKey: ["home", "results"],
    queryFn: () => answer(api.GET("/api/v1/records", { params: { query: { limit: FEW } } })),
    refetchInterval: OFTEN_MS,
  });
  return (
    <Part title="Latest results" all="/records">
      {found.isPending ? (
        <Waiting />
      ) : !found.data ? (
        <Trouble error={found.error} again={() => void found.refetch()} />
      ) : found.data.items.length ? (
        <RecordTable rows={found.data.items} />
      ) : (
        <Empty>
          No results yet. On the command line, <code>mlmodelscope evaluate efficientnet-lite0 imagenet-70</code> makes
          the first in about a minute.
        </Empty>
      )}
    </Part>
  );
}
