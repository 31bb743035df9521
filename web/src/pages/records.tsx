/** All records that this server holds, also those that the command line made; the filter is in the address. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { answer, api } from "../api/client";
import { plural } from "../lib/format";
import { KINDS, matches } from "../shown/record-words";
import { RecordTable } from "../shown/record-table";
import { Button, Empty, Heading, Trouble, Waiting } from "../ui/parts";
import { SearchBox } from "../ui/search-box";

const MOST = 1000;
const here = getRouteApi("/records");

export function RecordList() {
  const search = here.useSearch();
  const navigate = useNavigate({ from: "/records" });
  const kind = KINDS.find((each) => each === search.kind);
  const found = useQuery({
    queryKey: ["records", "all", kind],
    queryFn: () => answer(api.GET("/api/v1/records", { params: { query: { kind, limit: MOST } } })),
    placeholderData: (before) => before,
    refetchInterval: 10_000,
  });
  const all = found.data?.items ?? [];
  const rows = all.filter((row) => matches(row, search.q ?? ""));
  return (
    <>
      <Heading title="Records" about="Everything that was measured, newest first." />
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <div className="w-full sm:w-72">
          <SearchBox
            value={search.q}
            onChange={(q) => void navigate({ search: { ...search, q }, replace: true })}
            hint="Model, dataset, kind"
          />
        </div>
        <div className="flex flex-wrap gap-2" role="group" aria-label="Kind">
          {[undefined, ...KINDS].map((each) => (
            <Button
              key={each ?? "all"}
              aria-pressed={kind === each}
              className={kind === each ? "!border-accent !text-accent" : ""}
              onClick={() => void navigate({ search: { ...search, kind: each } })}
            >
              {each ?? "all"}
            </Button>
          ))}
        </div>
        {found.data && <span className="ml-auto text-sm text-muted">{plural(rows.length, "record")}</span>}
      </div>
      {found.isPending ? (
        <Waiting />
      ) : !found.data ? (
        <Trouble error={found.error} again={() => void found.refetch()} />
      ) : rows.length ? (
        <RecordTable rows={rows} />
      ) : (
        <Empty>{all.length ? "No matches. Broaden your search." : "No records yet."}</Empty>
      )}
      {all.length === MOST && <p className="mt-3 text-sm text-muted">{`These are the newest ${MOST}.`}</p>}
    </>
  );
}
