/** A leaderboard: the best number of each model, over the whole dataset apart from parts of it, and claims beside. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../../api/client";
import { plural } from "../../lib/format";
import { headed, published } from "../../lib/measured";
import { ResultTable } from "../../shown/result-table";
import { Fold } from "../../ui/fold";
import { Card, Empty, Trouble, Verdict, Waiting } from "../../ui/parts";
import { useMay } from "../../ui/shell";
import { Table } from "../../ui/table";

type Result = Schemas["Result"];
const MOST = 500;

export function Results({ name, version }: { name: string; version: string }) {
  const found = useQuery({
    queryKey: ["results", "dataset", name],
    queryFn: () => answer(api.GET("/api/v1/results", { params: { query: { dataset: name, limit: MOST } } })),
  });
  if (found.error) return <Trouble error={found.error} again={() => void found.refetch()} />;
  if (!found.data) return <Waiting />;
  const rows = found.data.items.filter((row) => row.dataset_version === version);
  const whole = byMetric(rows.filter((row) => row.whole));
  const parts = byMetric(rows.filter((row) => !row.whole));
  return (
    <Card title="Leaderboard" aside="the best number of each model, with its 95 % interval">
      <div className="space-y-5">
        {whole.map(([title, some]) => (
          <Part key={title} title={`${headed(title)}, all samples`} rows={some} ranked />
        ))}
        {parts.map(([title, some]) => (
          <Part key={title} title={`${headed(title)}, parts of the dataset`} rows={some} />
        ))}
        {!rows.length && <Empty>No model has been evaluated on it here yet.</Empty>}
        {found.data.claimed.length > 0 && (
          <Fold title={`${plural(found.data.claimed.length, "claim")} about it that no record here measures`}>
            {() => <NotMeasured claims={found.data.claimed} more={found.data.more_claimed} />}
          </Fold>
        )}
      </div>
    </Card>
  );
}

function Part({ title, rows, ranked }: { title: string; rows: Result[]; ranked?: boolean }) {
  return (
    <section>
      <h3 className="mb-2 text-sm font-medium">{title}</h3>
      <ResultTable name={title} of="dataset" rows={rows} ranked={ranked} />
    </section>
  );
}

/** Numbers of different measures have no common order. */
function byMetric(rows: Result[]): [string, Result[]][] {
  const found = new Map<string, Result[]>();
  for (const row of rows) found.set(row.headline.title, [...(found.get(row.headline.title) ?? []), row]);
  return [...found];
}

function NotMeasured({ claims, more }: { claims: Schemas["ModelClaim"][]; more: number }) {
  const may = useMay("run");
  return (
    <>
      <Table
        name="Claims that are not measured"
        stacked
        rows={claims}
        identity={(claim) => `${claim.model} ${claim.metric} ${claim.value} ${claim.source}`}
        columns={[
          {
            title: "Model",
            cell: (claim) => (
              <Link to="/models/$name" params={{ name: claim.model }} className="font-medium">
                {claim.model}
              </Link>
            ),
          },
          { title: "Claimed", cell: (claim) => `${claim.title} ${published(claim.value, claim.unit)}` },
          { title: "Verdict", cell: (claim) => <Verdict of={claim.verdict} /> },
          {
            title: "",
            right: true,
            cell: (claim) =>
              may && claim.checkable ? (
                <Link
                  to="/replications/new"
                  search={{
                    model: claim.model,
                    dataset: claim.dataset ?? undefined,
                    claim: `${claim.metric}=${claim.value}${claim.dataset ? `@${claim.dataset}` : ""}`,
                  }}
                  aria-label={`Check ${claim.metric} of ${claim.model}`}
                >
                  Check
                </Link>
              ) : null,
          },
        ]}
      />
      {more > 0 && <p className="mt-2 text-xs text-muted">{`${more.toLocaleString("en")} more are not listed.`}</p>}
    </>
  );
}
