/** The summary over records, as in the CLOUD'20 paper: accuracy, size and speed, for each dataset by itself. */
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Schemas } from "../../api/client";
import { bytes, digits, time } from "../../lib/format";
import { headed, spelled } from "../../lib/measured";
import { colours } from "../../lib/series";
import { AddToComparison } from "../../ui/add-to-comparison";
import { Badge, Card } from "../../ui/parts";
import { Table } from "../../ui/table";
import { Against } from "./against";
import { HeatMap } from "./heat-map";
import { accuracyOf, samples, systemOf } from "./points";

export default function Overview({ overview, choose = false }: { overview: Schemas["Overview"]; choose?: boolean }) {
  return (
    <div className="space-y-10">
      {overview.tables.map((each) => (
        <OfDataset key={each.dataset} of={each} choose={choose} />
      ))}
      <Notes of={overview.notes} />
    </div>
  );
}

/** What was measured on one dataset: nothing of another one stands beside it. */
function OfDataset({ of, choose }: { of: Schemas["OverviewTable"]; choose: boolean }) {
  const legend = useMemo(() => colours(of.rows.map(systemOf(of.rows))), [of]);
  return (
    <div className="space-y-6" role="group" aria-label={`On ${of.dataset}`}>
      <h2 className="text-lg font-semibold [overflow-wrap:anywhere]">{of.dataset}</h2>
      <OverviewTable of={of} choose={choose} />
      <div className="grid gap-6 *:min-w-0 lg:grid-cols-2">
        <Against of={of} speed="latency" legend={legend} />
        <Against of={of} speed="throughput" legend={legend} />
      </div>
      <HeatMap of={of} />
    </div>
  );
}

function Notes({ of }: { of: string[] }) {
  if (!of.length) return null;
  return (
    <ul className="mt-3 list-disc space-y-1 pl-5 text-xs text-muted">
      {of.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}

function OverviewTable({ of, choose }: { of: Schemas["OverviewTable"]; choose: boolean }) {
  const measure = accuracyOf(of.rows);
  const missing = of.rows.flatMap((row) => row.missing.map((each) => ({ ...each, model: row.model })));
  return (
    <Card title="Overview">
      <Table
        name={`Overview of ${of.dataset}`}
        rows={of.rows}
        identity={(row) => `${row.model} ${row.stack} ${row.machine}`}
        columns={[
          { title: "Model", cell: (row) => <span className="font-medium">{row.model}</span> },
          { title: "Stack", cell: (row) => row.stack },
          { title: "Machine", cell: (row) => row.machine },
          {
            title: headed(measure.title),
            right: true,
            cell: (row) => (
              <Number
                of={row.accuracy}
                spell={(value) => spelled(value, measure.unit, 1)}
                front={row.fastest || row.most}
              />
            ),
          },
          { title: "Samples", right: true, cell: (row) => (row.accuracy ? samples(row.accuracy, row.total) : "–") },
          { title: "Graph", right: true, cell: (row) => bytes(row.size_bytes) },
          {
            title: "Online latency",
            right: true,
            cell: (row) => (
              <Number of={row.latency_s} spell={(value) => time(1e9 * value)} beside={row.latency_s?.scenario} />
            ),
          },
          {
            title: "Most samples/s",
            right: true,
            cell: (row) => (
              <Number
                of={row.samples_per_s}
                spell={digits}
                beside={row.best_batch ? `${row.samples_per_s?.scenario}, batch ${row.best_batch}` : ""}
              />
            ),
          },
          { title: "Best batch", right: true, cell: (row) => row.optimal_batch ?? "–" },
          ...(choose ? [{ title: "Compare", right: true, cell: Chooser }] : []),
        ]}
      />
      <Notes of={of.notes} />
      {missing.length > 0 && (
        <details className="mt-3 text-sm">
          <summary className="cursor-pointer text-muted">Not measured yet ({missing.length})</summary>
          <ul className="mt-2 space-y-1.5">
            {missing.map((each) => (
              <li key={each.command + each.model}>
                {each.what} of {each.model}: <code className="text-xs [overflow-wrap:anywhere]">{each.command}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Card>
  );
}

function Chooser(row: Schemas["OverviewRow"]) {
  const records = [row.accuracy?.record, row.latency_s?.record, row.samples_per_s?.record];
  const first = records.find((each) => each !== undefined);
  return first ? <AddToComparison record={first} brief /> : null;
}

function Number({
  of,
  spell,
  beside,
  front = false,
}: {
  of: Schemas["OverviewNumber"] | null;
  spell: (value: number) => string;
  beside?: string;
  front?: boolean;
}) {
  if (!of) return <span className="text-muted">–</span>;
  return (
    <>
      <Link to="/records/$id" params={{ id: of.record }} className="text-ink">
        {spell(of.value)}
      </Link>
      {of.unstable && (
        <span title="The machine was not quiet enough to believe it" className="text-warn">
          {" "}
          *
        </span>
      )}
      {front && (
        <span className="block">
          <Badge tone="accent">Pareto-optimal</Badge>
        </span>
      )}
      {beside && <span className="block text-xs text-muted">{beside}</span>}
    </>
  );
}
