/** Results on one dataset, best first, with the published numbers beside them; only what may be compared is in a table. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../api/client";
import { plural, time } from "../lib/format";
import { spelled, written } from "../lib/measured";
import { Badge, Button, Empty, Trouble, Verdict, Waiting } from "../ui/parts";
import { SearchBox } from "../ui/search-box";
import { type Column, Table } from "../ui/table";
import { When } from "../ui/when";

type Place = Schemas["BoardPlace"];
type Board = Schemas["Board"];
const AT_ONCE = 100;

export interface Chosen {
  board?: string;
  q?: string;
  start?: string;
}

interface Props {
  dataset: string;
  chosen: Chosen;
  onChange: (chosen: Chosen, replace?: boolean) => void;
}

export function Leaderboard({ dataset, chosen, onChange }: Props) {
  const start = Math.max(0, Math.trunc(Number(chosen.start)) || 0);
  const query = { board: chosen.board, q: chosen.q, start, limit: AT_ONCE };
  const found = useQuery({
    queryKey: ["leaderboard", dataset, query],
    queryFn: () => answer(api.GET("/api/v1/leaderboards/{dataset}", { params: { path: { dataset }, query } })),
    placeholderData: keepPreviousData,
  });
  if (found.error) return <Trouble error={found.error} again={() => void found.refetch()} />;
  if (!found.data) return <Waiting />;
  const { boards, board, items, total, next } = found.data;
  if (!board) return <Empty>Nothing was measured on {dataset} yet.</Empty>;
  return (
    <>
      <div className="mb-4 flex flex-wrap items-end gap-3">
        {boards.length > 1 && (
          <label className="min-w-0 text-sm">
            <span className="mb-1 block font-medium">Table</span>
            <select
              value={board.id}
              onChange={(event) => onChange({ board: event.target.value })}
              className="w-full rounded-lg border border-line bg-card px-3 py-2"
            >
              {boards.map((each) => (
                <option key={each.id} value={each.id}>
                  {`${named(each)} – ${each.title}, ${partOf(each)} (${plural(each.models, "model")})`}
                </option>
              ))}
            </select>
          </label>
        )}
        <div className="w-full sm:w-64">
          <SearchBox
            value={chosen.q}
            onChange={(q) => onChange({ board: chosen.board, q }, true)}
            hint="Model, machine"
          />
        </div>
      </div>
      <p className="mb-3 text-sm text-muted">
        {named(board)}: {board.title}, {partOf(board)}; {board.better} is better. Only results on the same samples are
        in one table.
      </p>
      {items.length ? (
        <Table
          name={`Leaderboard of ${dataset}`}
          stacked
          rows={items}
          identity={(row) => row.record}
          columns={columnsOf(board)}
        />
      ) : (
        <Empty>No matches.</Empty>
      )}
      <nav aria-label="Pages" className="mt-4 flex flex-wrap items-center gap-3 text-sm text-muted">
        <span role="status">{plural(total, "result")}</span>
        {(start > 0 || next !== null) && (
          <>
            <Button
              disabled={start === 0}
              onClick={() => onChange({ ...chosen, start: String(Math.max(0, start - AT_ONCE)) })}
            >
              Previous
            </Button>
            <Button disabled={next === null} onClick={() => onChange({ ...chosen, start: String(next) })}>
              Next
            </Button>
          </>
        )}
      </nav>
    </>
  );
}

export const named = (board: Board): string =>
  `${board.dataset}${board.split ? `:${board.split}` : ""}@${board.version}`;

/** Whole sets and samples of them never share a table. */
export const partOf = (board: Board): string => (board.subset ? `only ${board.subset}` : "all samples");

function columnsOf(board: Board): Column<Place>[] {
  return [
    {
      title: "Rank",
      cell: (row) => (
        <>
          {row.rank}
          {row.ties_first && row.rank > 1 && (
            <span className="text-muted" title="Its interval and that of the first overlap.">
              {" "}
              ≈ 1
            </span>
          )}
        </>
      ),
    },
    {
      title: "Model",
      cell: (row) => (
        <Link to="/models/$name" params={{ name: row.model }} search={{ version: row.model_version }}>
          <span className="font-medium">{row.model}</span> <span className="text-muted">{row.model_version}</span>
        </Link>
      ),
    },
    {
      title: `Measured ${board.title} (95 % interval)`,
      cell: (row) => (
        <Link to="/records/$id" params={{ id: row.record }}>
          {spelled(row.value, row.unit)}
          {row.low != null && row.high != null && (
            <span className="text-muted">{` (${written(row.low, row.unit, 1)} – ${spelled(row.high, row.unit, 1)})`}</span>
          )}
        </Link>
      ),
    },
    { title: "Published", cell: (row) => <Published of={row} /> },
    { title: "Samples", right: true, cell: (row) => (row.samples - row.failed).toLocaleString("en") },
    {
      title: "Latency, p50",
      right: true,
      cell: (row) => (row.latency_s == null ? "–" : <span title={row.machine ?? ""}>{time(row.latency_s * 1e9)}</span>),
    },
    { title: "Framework", cell: (row) => row.framework ?? "–" },
    { title: "When", right: true, cell: (row) => <When at={row.created_at} /> },
  ];
}

function Published({ of: { claims } }: { of: Place }) {
  if (!claims.length) return <span className="text-muted">–</span>;
  return (
    <ul className="space-y-1">
      {claims.map((claim) => (
        <li key={claim.key} title={claim.source ?? undefined}>
          {claim.published}
          {claim.conditions && <span className="text-muted"> ({claim.conditions})</span>}{" "}
          {claim.status === "unchecked" ? <Badge>unchecked</Badge> : <Verdict of={claim.status} />}
        </li>
      ))}
    </ul>
  );
}
