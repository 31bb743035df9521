/** All records that this server holds, also those that the command line made. The server filters, sorts and cuts pages. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { answer, api } from "../../api/client";
import { plural } from "../../lib/format";
import { Button, Empty, Heading, Trouble, Waiting } from "../../ui/parts";
import { type Column, Table } from "../../ui/table";
import { chosenColumns, type Row } from "./columns";
import { Filters } from "./filters";
import { AT_ONCE, isDescending, type Look, question, sortedBy, sortOf } from "./search";
import { Selected } from "./selected";
import { ViewBar } from "./view-bar";

const here = getRouteApi("/records");

export function RecordList() {
  const look: Look = here.useSearch();
  const navigate = useNavigate({ from: "/records" });
  const asked = question(look);
  const found = useQuery({
    queryKey: ["records", "table", asked],
    queryFn: () => answer(api.GET("/api/v1/records", { params: { query: asked } })),
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });
  const [selected, setSelected] = useState<readonly string[]>([]);
  const change = (search: Look, replace = false) => void navigate({ search, replace, resetScroll: false });
  const toggle = (id: string) =>
    setSelected(selected.includes(id) ? selected.filter((each) => each !== id) : [...selected, id]);
  return (
    <>
      <Heading title="Records" about="Everything that was measured, also on the command line." />
      <Filters look={look} onChange={change} />
      <ViewBar look={look} onChange={change} />
      {found.isPending ? (
        <Waiting />
      ) : !found.data ? (
        <Trouble error={found.error} again={() => void found.refetch()} />
      ) : found.data.items.length ? (
        <>
          {found.error && <Trouble error={found.error} />}
          <Table
            name="Records"
            stacked
            rows={found.data.items}
            identity={(row) => row.id}
            columns={[selecting(selected, toggle), ...columnsOf(look, change)]}
          />
        </>
      ) : (
        <Empty>{found.data.total || asked.start ? "No more records." : "No matches, or no records yet."}</Empty>
      )}
      {found.data && <Pages look={look} total={found.data.total} next={found.data.next} onChange={change} />}
      <Selected records={selected} clear={() => setSelected([])} />
    </>
  );
}

function columnsOf(look: Look, change: (look: Look) => void): Column<Row>[] {
  return chosenColumns(look.columns).map(({ title, cell, right, sort }) => ({
    title,
    cell,
    right,
    onSort: sort && (() => change(sortedBy(look, sort))),
    sorted: sort && sort === sortOf(look) ? (isDescending(look) ? "descending" : "ascending") : undefined,
  }));
}

function selecting(selected: readonly string[], toggle: (id: string) => void): Column<Row> {
  return {
    title: "Select",
    cell: (row) => (
      <input
        type="checkbox"
        aria-label={`Select ${row.model} on ${row.dataset}, ${row.id}`}
        checked={selected.includes(row.id)}
        onChange={() => toggle(row.id)}
      />
    ),
  };
}

interface Paged {
  look: Look;
  total: number;
  next: number | null;
  onChange: (look: Look) => void;
}

function Pages({ look, total, next, onChange }: Paged) {
  const { start } = question(look);
  const to = (begin: number) => onChange({ ...look, start: begin > 0 ? String(begin) : undefined });
  const end = Math.min(start + AT_ONCE, total);
  return (
    <nav aria-label="Pages" className="mt-4 flex flex-wrap items-center gap-3 text-sm text-muted">
      <span role="status">
        {start < total ? `${(start + 1).toLocaleString("en")} to ${end.toLocaleString("en")} of ` : ""}
        {plural(total, "record")}
      </span>
      <Button disabled={start === 0} onClick={() => to(start - AT_ONCE)}>
        Previous
      </Button>
      <Button disabled={next === null} onClick={() => to(next!)}>
        Next
      </Button>
    </nav>
  );
}
