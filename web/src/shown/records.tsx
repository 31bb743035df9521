/** What was found out, newest first. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api } from "../api/client";
import { ago } from "../lib/format";
import { AddToComparison } from "../ui/add-to-comparison";
import { Card, Empty, Trouble, Waiting } from "../ui/parts";
import { Table } from "../ui/table";
import { kindOf, resultOf } from "./record-words";

export function Records({ of }: { of: { model: string } | { dataset: string } }) {
  const found = useQuery({
    queryKey: ["records", of],
    queryFn: () => answer(api.GET("/api/v1/records", { params: { query: { ...of, limit: 50 } } })),
  });
  if (found.error) return <Trouble error={found.error} again={() => void found.refetch()} />;
  if (!found.data) return <Waiting />;
  return (
    <Card title="Records">
      {found.data.items.length ? (
        <Table
          name="Records"
          stacked
          rows={found.data.items}
          identity={(row) => row.id}
          columns={[
            {
              title: "Record",
              cell: (row) => (
                <Link to="/records/$id" params={{ id: row.id }}>
                  <code>{row.id}</code>
                </Link>
              ),
            },
            { title: "Kind", cell: kindOf },
            "model" in of
              ? { title: "Dataset", cell: (row) => row.dataset }
              : { title: "Model", cell: (row) => row.model },
            { title: "Result", right: true, cell: (row) => resultOf(row) },
            { title: "Samples", right: true, cell: (row) => row.samples.toLocaleString("en") },
            { title: "When", right: true, cell: (row) => ago(row.created_at) },
            { title: "Compare", right: true, cell: (row) => <AddToComparison record={row.id} brief /> },
          ]}
        />
      ) : (
        <Empty>Nothing was evaluated here yet.</Empty>
      )}
    </Card>
  );
}
