/** Datasets with results, by task; one of them opens to its table. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../../api/client";
import { headed } from "../../lib/measured";
import { type Chosen, Leaderboard, partOf } from "../../shown/leaderboard";
import { Button, Empty, Heading, Trouble, Waiting } from "../../ui/parts";
import { Table } from "../../ui/table";
import { When } from "../../ui/when";

type Board = Schemas["Board"];
const here = getRouteApi("/leaderboards");

export function Leaderboards() {
  const { dataset, ...chosen } = here.useSearch();
  return dataset ? <One dataset={dataset} chosen={chosen} /> : <All />;
}

function One({ dataset, chosen }: { dataset: string; chosen: Chosen }) {
  const navigate = useNavigate({ from: "/leaderboards" });
  return (
    <>
      <Heading
        title={`Leaderboard of ${dataset}`}
        about="Each model's best-founded result: the most samples, and of those the newest. Ranks whose intervals overlap the first are marked."
        actions={<Button onClick={() => void navigate({ search: {} })}>All leaderboards</Button>}
      />
      <p className="mb-4 text-sm">
        <Link to="/datasets/$name" params={{ name: dataset }}>
          About {dataset}
        </Link>
      </p>
      <Leaderboard
        dataset={dataset}
        chosen={chosen}
        onChange={(next, replace) => void navigate({ search: { dataset, ...next }, replace, resetScroll: false })}
      />
    </>
  );
}

function All() {
  const found = useQuery({
    queryKey: ["leaderboards"],
    queryFn: () => answer(api.GET("/api/v1/leaderboards")),
  });
  const byTask = new Map<string, Board[]>();
  for (const board of found.data?.items ?? []) byTask.set(board.task, [...(byTask.get(board.task) ?? []), board]);
  return (
    <>
      <Heading
        title="Leaderboards"
        about="Measured results by task and dataset. Metrics, versions, splits, and samples of a dataset have tables of their own."
      />
      {found.isPending ? (
        <Waiting />
      ) : !found.data ? (
        <Trouble error={found.error} again={() => void found.refetch()} />
      ) : byTask.size ? (
        <div className="space-y-8">
          {[...byTask].sort().map(([task, boards]) => (
            <section key={task}>
              <h2 className="mb-3 text-lg">{headed(task.replaceAll("_", " "))}</h2>
              <Boards task={task} boards={boards} />
            </section>
          ))}
        </div>
      ) : (
        <Empty>No results yet. Evaluate a model, and its dataset appears here.</Empty>
      )}
    </>
  );
}

function Boards({ task, boards }: { task: string; boards: Board[] }) {
  return (
    <Table
      name={task}
      stacked
      rows={boards}
      identity={(row) => row.id}
      columns={[
        {
          title: "Dataset",
          cell: (row) => (
            <Link to="/leaderboards" search={{ dataset: row.dataset, board: row.id }} className="font-medium">
              {row.dataset}
              {row.split && `:${row.split}`} <span className="font-normal text-muted">{row.version}</span>
            </Link>
          ),
        },
        { title: "Metric", cell: (row) => row.title },
        { title: "Samples", cell: partOf },
        { title: "Models", right: true, cell: (row) => row.models.toLocaleString("en") },
        { title: "Records", right: true, cell: (row) => row.records.toLocaleString("en") },
        { title: "Newest", right: true, cell: (row) => <When at={row.newest} /> },
      ]}
    />
  );
}
