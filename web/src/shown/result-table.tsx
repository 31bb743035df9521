/** Best numbers with their intervals and what was claimed, a line each: of a model on datasets, or of models on one. */
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../api/client";
import { published } from "../lib/measured";
import { Badge, Verdict } from "../ui/parts";
import { type Column, Table } from "../ui/table";
import { datasetOf, numberOf, samplesOf } from "./result-words";

type Result = Schemas["Result"];

interface Props {
  rows: readonly Result[];
  of: "model" | "dataset";
  name: string;
  /** Whether they are over the same samples, so that one comes first. */
  ranked?: boolean;
}

export function ResultTable({ rows, of, name, ranked = false }: Props) {
  return (
    <Table
      name={name}
      stacked
      rows={rows}
      identity={(row) => row.record}
      columns={[
        ...(of === "model" ? [DATASET] : [...(ranked ? [placeAmong(rows)] : []), MODEL]),
        {
          title: "Measured",
          cell: (row) => (
            <Link to="/records/$id" params={{ id: row.record }}>
              {numberOf(row)}
            </Link>
          ),
        },
        { title: "Samples", right: true, cell: samplesOf },
        { title: "Claimed", cell: (row) => row.claims.length > 0 && <Claimed claims={row.claims} /> },
        { title: "Stack", cell: (row) => row.stack ?? "–" },
      ]}
    />
  );
}

const DATASET: Column<Result> = {
  title: "Dataset",
  cell: (row) => (
    <Link to="/datasets/$name" params={{ name: row.dataset }} className="font-medium">
      {datasetOf(row)}
    </Link>
  ),
};

const placeAmong = (rows: readonly Result[]): Column<Result> => ({
  title: "#",
  cell: (row) => rows.indexOf(row) + 1,
});

const MODEL: Column<Result> = {
  title: "Model",
  cell: (row) => (
    <span>
      <Link to="/models/$name" params={{ name: row.model }} search={{ version: row.model_version }}>
        <span className="font-medium">{row.model}</span> <span className="text-muted">{row.model_version}</span>
      </Link>
      {row.split && <span className="block text-xs text-muted">{row.split}</span>}
      {!row.known && (
        <span className="block">
          <Badge tone="warn">another manifest of this name</Badge>
        </span>
      )}
    </span>
  ),
};

export function Claimed({ claims }: { claims: readonly Schemas["ModelClaim"][] }) {
  return (
    <ul className="space-y-1">
      {claims.map((claim) => (
        <li key={`${claim.value} ${claim.source}`} className="flex flex-wrap items-center gap-1.5">
          {published(claim.value, claim.unit)} <Verdict of={claim.verdict} />
        </li>
      ))}
    </ul>
  );
}
