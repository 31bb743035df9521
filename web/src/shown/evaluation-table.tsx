/** Evaluations, a line each: what was requested, what came of it, how long it took. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../api/client";
import { time } from "../lib/format";
import { AddToComparison } from "../ui/add-to-comparison";
import { Button, State } from "../ui/parts";
import { useMay, useMe } from "../ui/shell";
import { Table } from "../ui/table";
import { When } from "../ui/when";
import { Progress } from "./progress";
import { numberOf } from "./record-words";

type Evaluation = Schemas["Evaluation"];

export function EvaluationTable({ rows }: { rows: Schemas["Evaluation"][] }) {
  return (
    <Table
      name="Evaluations"
      stacked
      rows={rows}
      identity={(row) => row.id}
      columns={[
        {
          title: "Model",
          cell: (row) => (
            <Link to="/models/$name" params={{ name: row.model }} className="font-medium">
              {row.model}
            </Link>
          ),
        },
        { title: "Dataset", cell: (row) => row.dataset },
        { title: "Kind", cell: (row) => row.kind },
        {
          title: "State",
          cell: (row) => (
            <Link to="/evaluations/$id" params={{ id: row.id }} aria-label={`Evaluation ${row.id}: ${row.state}`}>
              <State of={row.state} />
            </Link>
          ),
        },
        { title: "Result (95 % interval)", cell: (row) => <Result of={row} /> },
        { title: "Progress", cell: (row) => <Progress of={row} /> },
        { title: "Agent", cell: (row) => row.agent ?? "–" },
        { title: "By", cell: (row) => row.owner },
        {
          title: "Requested",
          right: true,
          cell: (row) => <When at={row.created_at} />,
        },
        { title: "Duration", right: true, cell: (row) => (row.took_s == null ? "–" : time(row.took_s * 1e9)) },
        { title: "Compare", right: true, cell: (row) => row.record && <AddToComparison record={row.record} brief /> },
        { title: "Actions", right: true, cell: (row) => <EndOrDelete of={row} /> },
      ]}
    />
  );
}

/** The number that counts leads to its record. */
function Result({ of: { record, headline } }: { of: Evaluation }) {
  if (!record) return "–";
  return (
    <Link to="/records/$id" params={{ id: record }}>
      {headline ? numberOf(headline) : "record"}
    </Link>
  );
}

/** For whoever asked for it, and administrators: end what waits or runs, forget what has ended. */
function EndOrDelete({ of: { id, owner, state, cancelling } }: { of: Evaluation }) {
  const me = useMe();
  const [run, admin] = [useMay("run"), useMay("admin")];
  const queries = useQueryClient();
  const hasEnded = ["finished", "failed", "cancelled"].includes(state);
  const path = { path: { identity: id } };
  const act = useMutation({
    mutationFn: async () => {
      if (hasEnded) await answer(api.DELETE("/api/v1/evaluations/{identity}", { params: path }));
      else await answer(api.POST("/api/v1/evaluations/{identity}/cancel", { params: path }));
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["evaluations"] }),
  });
  if (!run || !(admin || me.data?.owner === owner)) return null;
  const asked = hasEnded ? "Delete this evaluation from the list? Its record stays." : "Cancel this evaluation?";
  return (
    <>
      <Button
        className="!px-2 !py-0.5 !text-xs"
        aria-label={`${hasEnded ? "Delete" : "Cancel"} evaluation ${id}`}
        disabled={act.isPending || cancelling}
        onClick={() => window.confirm(asked) && act.mutate()}
      >
        {hasEnded ? "Delete" : cancelling ? "cancelling" : "Cancel"}
      </Button>
      {act.error && (
        <span role="alert" className="block text-xs text-bad">
          {act.error.message}
        </span>
      )}
    </>
  );
}
