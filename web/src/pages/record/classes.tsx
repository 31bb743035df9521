/** How good it is at each class, what each is taken for, and the pairs that are mixed up most. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { percent, plural } from "../../lib/format";
import { Button, Card, Empty, Trouble, Waiting } from "../../ui/parts";
import { Table } from "../../ui/table";

type Class = Schemas["ClassAccuracy"];
const AT_FIRST = 100;
const ORDERS = {
  worst: (a: Class, b: Class) => a.accuracy.value - b.accuracy.value || b.seen - a.seen,
  best: (a: Class, b: Class) => b.accuracy.value - a.accuracy.value || b.seen - a.seen,
  name: (a: Class, b: Class) => a.name.localeCompare(b.name),
  samples: (a: Class, b: Class) => b.seen - a.seen,
};

export function Classes({ record }: { record: Schemas["Record"] }) {
  const found = useQuery({
    queryKey: ["classes", record.id],
    queryFn: () => answer(api.GET("/api/v1/records/{name}/classes", { params: { path: { name: record.id } } })),
    staleTime: Infinity,
  });
  if (found.error) return <Trouble error={found.error} again={() => void found.refetch()} />;
  if (!found.data) return <Waiting />;
  return (
    <div className="space-y-6">
      <p className="text-muted">{found.data.about}</p>
      {found.data.columns.length > 0 ? (
        <>
          {record.details?.pixel_confusion || record.details?.box_confusion ? (
            <Taken pairs={found.data.confused} unit={record.details.pixel_confusion ? "pixel" : "box"} />
          ) : null}
          <Measured record={record.id} table={found.data} />
        </>
      ) : (
        <>
          <Confused record={record.id} pairs={found.data.confused} />
          <ByClass record={record.id} classes={found.data.items} />
        </>
      )}
    </div>
  );
}

/** Pixels or boxes of one class that were answered as another. */
function Taken({ pairs, unit }: { pairs: Schemas["ConfusedPair"][]; unit: "pixel" | "box" }) {
  const most = pairs[0]?.count ?? 1;
  const about =
    unit === "pixel" ? "pixels answered as another class" : "boxes over a thing of another class, score from 0.3";
  return (
    <Card title="Confusions" aside={pairs.length ? about : undefined}>
      {pairs.length === 0 ? (
        <Empty>No confusions.</Empty>
      ) : (
        <ol className="grid gap-x-8 gap-y-1 text-sm sm:grid-cols-2" aria-label="Most confused pairs">
          {pairs.slice(0, 20).map((pair) => (
            <li
              key={`${pair.label} ${pair.answer}`}
              className="relative flex items-baseline justify-between gap-3 overflow-hidden rounded-md px-2 py-1.5"
            >
              <span
                className="absolute inset-y-0 left-0 bg-bad-soft"
                style={{ width: `${(100 * pair.count) / most}%` }}
                aria-hidden="true"
              />
              <span className="relative min-w-0 [overflow-wrap:anywhere]">
                {pair.label_name} <span className="text-muted">as</span> {pair.answer_name}
              </span>
              <span className="relative shrink-0 tabular-nums">{pair.count.toLocaleString("en")}</span>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

function Confused({ record, pairs }: { record: string; pairs: Schemas["ConfusedPair"][] }) {
  const [all, setAll] = useState(false);
  const most = pairs[0]?.count ?? 1;
  return (
    <Card title="Confusions" aside={pairs.length ? "most frequent first" : undefined}>
      {pairs.length === 0 ? (
        <Empty>No answer was wrong.</Empty>
      ) : (
        <ol className="grid gap-x-8 gap-y-1 text-sm sm:grid-cols-2" aria-label="Most confused pairs">
          {pairs.slice(0, all ? undefined : 12).map((pair) => (
            <li key={`${pair.label} ${pair.answer}`}>
              <Link
                to="/records/$id"
                params={{ id: record }}
                search={{ tab: "samples", label: pair.label, answer: pair.answer }}
                className="relative flex items-baseline justify-between gap-3 overflow-hidden rounded-md px-2 py-1.5 text-ink hover:bg-soft"
              >
                <span
                  className="absolute inset-y-0 left-0 bg-bad-soft"
                  style={{ width: `${(100 * pair.count) / most}%`, opacity: 0.5 }}
                />
                <span className="relative min-w-0">
                  {pair.label_name} <span className="text-muted">as</span> {pair.answer_name}
                </span>
                <span className="relative shrink-0 text-muted">{`${pair.count} ×`}</span>
              </Link>
            </li>
          ))}
        </ol>
      )}
      {pairs.length > 12 && !all && (
        <Button className="mt-3" onClick={() => setAll(true)}>{`All ${pairs.length}`}</Button>
      )}
    </Card>
  );
}

function ByClass({ record, classes }: { record: string; classes: Class[] }) {
  const [words, setWords] = useState("");
  const [order, setOrder] = useState<keyof typeof ORDERS>("worst");
  const [all, setAll] = useState(false);
  const rows = useMemo(
    () => classes.filter((each) => each.name.toLowerCase().includes(words.trim().toLowerCase())).sort(ORDERS[order]),
    [classes, words, order],
  );
  return (
    <Card title="Class by class" aside={plural(rows.length, "class").replace("classs", "classes")}>
      <div className="mb-3 flex flex-wrap gap-3 text-sm">
        <input
          type="search"
          aria-label="Find a class"
          placeholder="Find a class"
          value={words}
          onChange={(event) => setWords(event.target.value)}
          className="min-w-0 flex-1 rounded-lg border border-line bg-paper px-3 py-1.5"
        />
        <select
          aria-label="Order of the classes"
          value={order}
          onChange={(event) => setOrder(event.target.value as keyof typeof ORDERS)}
          className="rounded-lg border border-line bg-paper px-3 py-1.5"
        >
          <option value="worst">worst first</option>
          <option value="best">best first</option>
          <option value="name">by name</option>
          <option value="samples">most samples first</option>
        </select>
      </div>
      {rows.length === 0 ? (
        <Empty>No class is called that.</Empty>
      ) : (
        <Table
          name="Classes"
          rows={rows.slice(0, all ? undefined : AT_FIRST)}
          identity={(row) => String(row.label)}
          columns={[
            {
              title: "Class",
              cell: (row) => (
                <Link to="/records/$id" params={{ id: record }} search={{ tab: "samples", label: row.label }}>
                  {row.name}
                </Link>
              ),
            },
            { title: "Right", right: true, cell: (row) => `${row.right} of ${row.seen}` },
            { title: "Accuracy", right: true, cell: (row) => percent(row.accuracy.value, 1) },
            { title: "95 % interval", cell: (row) => <Whisker of={row.accuracy} /> },
            {
              title: "Mostly taken for",
              cell: (row) => (row.taken_for ? `${row.taken_for.answer_name} (${row.taken_for.count})` : "–"),
            },
          ]}
        />
      )}
      {rows.length > AT_FIRST && !all && (
        <Button className="mt-3" onClick={() => setAll(true)}>{`All ${rows.length.toLocaleString("en")}`}</Button>
      )}
    </Card>
  );
}

/** What is measured of each class, whatever the task is; a column's title sorts by it. */
function Measured({ record, table }: { record: string; table: Schemas["ClassTable"] }) {
  const [words, setWords] = useState("");
  const [order, setOrder] = useState("");
  const [all, setAll] = useState(false);
  const rows = useMemo(() => {
    const found = table.measured.filter((each) => each.name.toLowerCase().includes(words.trim().toLowerCase()));
    if (order === "name") return found.sort((a, b) => a.name.localeCompare(b.name));
    const place = table.columns.findIndex((each) => each.name === order);
    return place < 0 ? found : found.sort((a, b) => (b.values[place] ?? -1) - (a.values[place] ?? -1));
  }, [table, words, order]);
  return (
    <Card title="Class by class" aside={plural(rows.length, "class").replace("classs", "classes")}>
      <div className="mb-3 flex flex-wrap gap-3 text-sm">
        <input
          type="search"
          aria-label="Find a class"
          placeholder="Find a class"
          value={words}
          onChange={(event) => setWords(event.target.value)}
          className="min-w-0 flex-1 rounded-lg border border-line bg-paper px-3 py-1.5"
        />
        <select
          aria-label="Order of the classes"
          value={order}
          onChange={(event) => setOrder(event.target.value)}
          className="rounded-lg border border-line bg-paper px-3 py-1.5"
        >
          <option value="">worst first</option>
          <option value="name">by name</option>
          {table.columns.map((each) => (
            <option key={each.name} value={each.name}>{`highest ${each.title} first`}</option>
          ))}
        </select>
      </div>
      {rows.length === 0 ? (
        <Empty>No class is called that.</Empty>
      ) : (
        <Table
          name="Classes"
          rows={rows.slice(0, all ? undefined : AT_FIRST)}
          identity={(row) => String(row.label)}
          columns={[
            {
              title: "Class",
              cell: (row) => (
                <Link to="/records/$id" params={{ id: record }} search={{ tab: "samples", label: row.label }}>
                  {row.name}
                </Link>
              ),
            },
            ...table.columns.map((column, place) => ({
              title: column.title,
              right: true,
              cell: (row: Schemas["ClassMeasures"]) => <Value of={row.values[place]} isCount={column.is_count} />,
            })),
          ]}
        />
      )}
      {rows.length > AT_FIRST && !all && (
        <Button className="mt-3" onClick={() => setAll(true)}>{`All ${rows.length.toLocaleString("en")}`}</Button>
      )}
    </Card>
  );
}

function Value({ of, isCount }: { of: number | null | undefined; isCount: boolean }) {
  if (of == null) return <>–</>;
  if (isCount) return <>{of.toLocaleString("en")}</>;
  return (
    <span className="inline-flex items-center gap-2 align-middle">
      <span aria-hidden="true" className="h-1.5 w-16 overflow-hidden rounded-full bg-soft max-sm:hidden">
        <span className="block h-full bg-accent" style={{ width: `${100 * Math.min(1, Math.max(0, of))}%` }} />
      </span>
      <span className="min-w-14">{percent(of, 1)}</span>
    </span>
  );
}

/** Where the accuracy may lie, from 0 to 100 %. */
function Whisker({ of }: { of: Class["accuracy"] }) {
  const [value, low, high] = [of.value, of.low, of.high].map((each) => 100 * each) as [number, number, number];
  return (
    <svg
      viewBox="0 0 100 10"
      preserveAspectRatio="none"
      role="img"
      aria-label={`between ${percent(of.low, 0)} and ${percent(of.high, 0)}`}
      className="h-2.5 w-32"
    >
      <rect x="0" y="4" width="100" height="2" fill="var(--soft)" />
      <rect x={low} y="3" width={Math.max(high - low, 0.5)} height="4" fill="var(--accent-mid)" />
      <rect x={Math.min(Math.max(value - 0.75, 0), 98.5)} y="0" width="1.5" height="10" fill="var(--accent)" />
    </svg>
  );
}
