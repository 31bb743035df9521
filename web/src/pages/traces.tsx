import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { answer, api, type Schemas } from "../api/client";
import { ago, time } from "../lib/format";
import { Button, Empty, Heading, Trouble, Waiting } from "../ui/parts";
import { Table } from "../ui/table";

const here = getRouteApi("/traces");

export function Traces() {
  const search = here.useSearch();
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<string[]>([]);
  const found = useInfiniteQuery({
    queryKey: ["traces", search],
    queryFn: ({ pageParam }) =>
      answer(api.GET("/api/v1/traces", { params: { query: { ...search, after: pageParam, limit: 50 } } })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  });
  const rows = found.data?.pages.flatMap((page) => page.items) ?? [];
  const [left, right] = chosen;
  // Of three, the two that were chosen last.
  const toggle = (id: string) =>
    setChosen((before) => (before.includes(id) ? before.filter((each) => each !== id) : [...before, id].slice(-2)));
  return (
    <>
      <Heading
        title="Traces"
        about="Where the time went: profiles of models, and what programs sent over OpenTelemetry."
        actions={
          <>
            {(search.model ?? search.record) && (
              <Button onClick={() => void navigate({ to: "/traces" })}>only {search.model ?? search.record} ✕</Button>
            )}
            <Button
              kind="main"
              disabled={!left || !right}
              onClick={() => void navigate({ to: "/traces/compare", search: { left, right } })}
            >
              Two side by side
            </Button>
          </>
        }
      />
      {found.isPending ? (
        <Waiting />
      ) : found.error && !found.data ? (
        <Trouble error={found.error} again={() => void found.refetch()} />
      ) : rows.length ? (
        <List rows={rows} chosen={chosen} toggle={toggle} />
      ) : (
        <Empty>
          No traces yet. <code>mlmodelscope profile MODEL DATASET --level framework</code> makes one, and any program
          that speaks OTLP can send its own.
        </Empty>
      )}
      {found.hasNextPage && (
        <Button className="mt-4" disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          Older ones
        </Button>
      )}
    </>
  );
}

interface ListProps {
  rows: Schemas["TraceSummary"][];
  chosen: string[];
  toggle: (id: string) => void;
}

function List({ rows, chosen, toggle }: ListProps) {
  return (
    <Table
      name="Traces"
      rows={rows}
      identity={(row) => row.id}
      columns={[
        {
          title: "Of",
          cell: (row) => (
            <Link to="/traces/$id" params={{ id: row.id }} className="font-medium">
              {row.model ?? row.service}
            </Link>
          ),
        },
        {
          title: "Record",
          cell: (row) =>
            row.record ? (
              <Link to="/records/$id" params={{ id: row.record }}>
                <code className="text-xs whitespace-nowrap">{row.record}</code>
              </Link>
            ) : (
              <span className="text-muted">came over OTLP</span>
            ),
        },
        { title: "By", cell: (row) => row.owner },
        { title: "Spans", right: true, cell: (row) => row.spans.toLocaleString("en") },
        { title: "Duration", right: true, cell: (row) => time(row.duration_ns) },
        { title: "When", right: true, cell: (row) => ago(row.created_at) },
        {
          title: "Side by side",
          right: true,
          cell: (row) => (
            <input
              type="checkbox"
              aria-label={`Choose ${row.model ?? row.service} ${row.record ?? row.id}`}
              checked={chosen.includes(row.id)}
              onChange={() => toggle(row.id)}
            />
          ),
        },
      ]}
    />
  );
}
