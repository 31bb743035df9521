/** Records, a line each: what was measured on what, what came of it, when. */
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../api/client";
import { AddToComparison } from "../ui/add-to-comparison";
import { Table } from "../ui/table";
import { When } from "../ui/when";
import { datasetOf, kindOf, resultOf } from "./record-words";

export function RecordTable({ rows }: { rows: readonly Schemas["RecordSummary"][] }) {
  return (
    <Table
      name="Records"
      stacked
      rows={rows}
      identity={(row) => row.id}
      columns={[
        {
          title: "Model",
          cell: (row) => (
            <Link to="/records/$id" params={{ id: row.id }} className="font-medium" title={row.id}>
              {row.model} <span className="font-normal text-muted">{row.model_version}</span>
            </Link>
          ),
        },
        { title: "Dataset", cell: datasetOf },
        { title: "Result (95 % interval)", cell: resultOf },
        { title: "Kind", cell: kindOf },
        {
          title: "When",
          right: true,
          cell: (row) => <When at={row.created_at} />,
        },
        { title: "Compare", right: true, cell: (row) => <AddToComparison record={row.id} brief /> },
      ]}
    />
  );
}
