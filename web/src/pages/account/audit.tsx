/** Who did what, newest first, a page at a time. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { answer, api } from "../../api/client";
import { Button, Card, Empty, Trouble, Waiting } from "../../ui/parts";
import { Table } from "../../ui/table";
import { When } from "../../ui/when";

const AT_ONCE = 50;

export function AuditLog() {
  const found = useInfiniteQuery({
    queryKey: ["audit"],
    queryFn: ({ pageParam }) =>
      answer(api.GET("/api/v1/audit", { params: { query: { limit: AT_ONCE, before: pageParam } } })),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ items }) => (items.length === AT_ONCE ? items[AT_ONCE - 1]!.number : undefined),
  });
  const rows = found.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Card title="Audit log">
      {found.error ? (
        <Trouble error={found.error} again={() => void found.refetch()} />
      ) : found.isPending ? (
        <Waiting />
      ) : rows.length ? (
        <Table
          name="Audit log"
          stacked
          rows={rows}
          identity={(row) => String(row.number)}
          columns={[
            { title: "Action", cell: (row) => row.what },
            { title: "About", cell: (row) => <code className="[overflow-wrap:anywhere]">{row.about}</code> },
            { title: "By", cell: (row) => row.owner },
            { title: "When", right: true, cell: (row) => <When at={row.at} /> },
          ]}
        />
      ) : (
        <Empty>Nothing was changed yet.</Empty>
      )}
      {found.hasNextPage && (
        <Button className="mt-4" disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          Show older entries
        </Button>
      )}
    </Card>
  );
}
