import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../api/client";
import { plural } from "../lib/format";
import { Badge, Empty, Heading, Trouble, Waiting } from "../ui/parts";
import { SearchBox } from "../ui/search-box";
import { Table } from "../ui/table";

const here = getRouteApi("/stacks");

export function Stacks() {
  const { q } = here.useSearch();
  const navigate = useNavigate({ from: "/stacks" });
  const found = useQuery({
    queryKey: ["stacks", q],
    queryFn: () => answer(api.GET("/api/v1/stacks", { params: { query: { q } } })),
    placeholderData: (before) => before,
  });
  return (
    <>
      <Heading
        title="Stacks"
        about="A framework in one version with everything around it, built from nothing wherever it is needed."
      />
      <div className="mb-4 max-w-sm">
        <SearchBox value={q} onChange={(words) => void navigate({ search: { q: words }, replace: true })} />
      </div>
      {found.isPending ? (
        <Waiting />
      ) : !found.data ? (
        <Trouble error={found.error} again={() => void found.refetch()} />
      ) : found.data.items.length ? (
        <List rows={found.data.items} />
      ) : (
        <Empty>No matching stack. Broaden your search.</Empty>
      )}
    </>
  );
}

function List({ rows }: { rows: Schemas["Stack"][] }) {
  return (
    <Table
      name="Stacks"
      rows={rows}
      identity={(row) => row.name}
      columns={[
        {
          title: "Stack",
          cell: (row) => (
            <>
              <span className="font-medium">{row.name}</span>
              {row.description && <span className="block max-w-xl text-xs text-muted">{row.description}</span>}
            </>
          ),
        },
        { title: "Framework", cell: (row) => `${row.framework ?? "–"} ${row.framework_version ?? ""}` },
        { title: "Python", cell: (row) => row.python ?? "–" },
        { title: "Kind", cell: (row) => row.kind ?? "–" },
        { title: "Where", cell: (row) => <Where built={row.built} buildable={row.buildable} /> },
        {
          title: "",
          right: true,
          cell: (row) =>
            row.built.length + row.buildable.length > 0 && (
              <Link to="/new" search={{ stack: row.name }}>
                use it
              </Link>
            ),
        },
      ]}
    />
  );
}

function Where({ built, buildable }: { built: string[]; buildable: string[] }) {
  if (!built.length && !buildable.length) return <span className="text-muted">nowhere yet</span>;
  return (
    <span className="flex flex-wrap gap-1 whitespace-nowrap">
      {built.length > 0 && <Badge tone="good">{`built at ${plural(built.length, "agent")}`}</Badge>}
      {buildable.length > 0 && <Badge>{`${plural(buildable.length, "agent")} can build it`}</Badge>}
    </span>
  );
}
