/** The spans in view as a table: what the canvas shows, for whoever cannot see or point at it. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { answer, api } from "../../api/client";
import { moment, time } from "../../lib/format";
import { Button, Card, Empty, Trouble } from "../../ui/parts";
import { Table } from "../../ui/table";
import { type Level, levelName } from "./bands";
import { useResting } from "./use-view";
import type { ViewStore } from "./view-store";

const PAGE = 25;

interface Props {
  trace: string;
  store: ViewStore;
  level?: string;
  search?: string;
  onSelect: (span: string) => void;
}

export function SpanTable({ trace, store, level, search, onSelect }: Props) {
  const view = useResting(store);
  const [start, setStart] = useState(0);
  const [from, to] = [Math.floor(view.from), Math.ceil(view.to)];
  useEffect(() => setStart(0), [from, to, level, search]);
  const query = { from_ns: from, to_ns: to, level: level as Level | undefined, name: search, start, limit: PAGE };
  const found = useQuery({
    queryKey: ["spans", trace, query],
    queryFn: () => answer(api.GET("/api/v1/traces/{identity}/spans", { params: { path: { identity: trace }, query } })),
    placeholderData: keepPreviousData,
  });
  const total = found.data?.total ?? 0;
  return (
    <Card
      title={search ? `Spans in view with “${search}”` : "Spans in view"}
      aside={<span aria-live="polite">{total.toLocaleString("en")}</span>}
    >
      {found.error ? (
        <Trouble error={found.error} again={() => void found.refetch()} />
      ) : !total && found.data ? (
        <Empty>No matches. Zoom out or broaden your search.</Empty>
      ) : (
        <Table
          name="Spans in view"
          rows={found.data?.items ?? []}
          identity={(row) => row.id ?? ""}
          columns={[
            {
              title: "Name",
              cell: (row) => (
                <button
                  type="button"
                  className="min-w-36 text-left text-accent [overflow-wrap:anywhere] hover:underline"
                  onClick={() => row.id && onSelect(row.id)}
                >
                  {row.name}
                </button>
              ),
            },
            { title: "Level", cell: (row) => <span className="whitespace-nowrap">{levelName(row.level)}</span> },
            { title: "Kind", cell: (row) => String(row.attributes.kind ?? "") },
            { title: "Begins", right: true, cell: (row) => moment(row.start_ns) },
            { title: "Duration", right: true, cell: (row) => time(row.spent_ns) },
          ]}
        />
      )}
      {total > PAGE && (
        <nav aria-label="Pages of spans" className="mt-3 flex items-center justify-between text-sm">
          <Button disabled={start === 0} onClick={() => setStart(Math.max(0, start - PAGE))}>
            Before
          </Button>
          <span className="text-muted">
            {start + 1} to {Math.min(start + PAGE, total)} of {total.toLocaleString("en")}
          </span>
          <Button disabled={start + PAGE >= total} onClick={() => setStart(start + PAGE)}>
            Next
          </Button>
        </nav>
      )}
    </Card>
  );
}
