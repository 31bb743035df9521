import { Link } from "@tanstack/react-router";
import type { Schemas } from "../api/client";
import { AddToComparison } from "../ui/add-to-comparison";
import { State } from "../ui/parts";
import { Table } from "../ui/table";
import { When } from "../ui/when";
import { Progress } from "./progress";

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
          title: "Requested",
          right: true,
          cell: (row) => <When at={row.created_at} />,
        },
        { title: "Compare", right: true, cell: (row) => row.record && <AddToComparison record={row.record} brief /> },
      ]}
    />
  );
}
