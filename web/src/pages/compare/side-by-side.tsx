/** A column for each record: its numbers with their intervals, and the facts in which they differ. */
import type { Schemas } from "../../api/client";
import { type ReactNode, useState } from "react";
import { series } from "../../lib/series";
import { Badge, Card } from "../../ui/parts";
import { between, spell, times } from "./numbers";

type Comparison = Schemas["Comparison"];

export function Measures({ comparison }: { comparison: Comparison }) {
  if (!comparison.measures.length) return null;
  return (
    <Columns title="Numbers" records={comparison.records}>
      {comparison.measures.map((measure) => (
        <Line key={measure.name} name={measure.comparable ? measure.title : `${measure.title} (other samples)`}>
          {measure.values.map((value, place) => (
            <td key={comparison.records[place]!.id} className="px-4 py-2.5 align-top">
              {value ? (
                <>
                  <span className={measure.best === place ? "font-semibold text-good" : "font-medium"}>
                    {spell(value.value, measure.kind)}
                  </span>{" "}
                  {measure.best === place && <Badge tone="good">best</Badge>}
                  <span className="block text-xs whitespace-nowrap text-muted">{between(value, measure.kind)}</span>
                  <span className="block text-xs text-muted">
                    {place > 0 && measure.comparable && times(value, measure.values[0] ?? null)}
                  </span>
                </>
              ) : (
                <span className="text-muted">–</span>
              )}
            </td>
          ))}
        </Line>
      ))}
    </Columns>
  );
}

export function Facts({ comparison }: { comparison: Comparison }) {
  const [all, setAll] = useState(false);
  const shown = comparison.facts.filter((fact) => all || fact.differs);
  return (
    <Columns
      title="What differs"
      records={comparison.records}
      aside={
        <label className="flex items-center gap-2">
          <input type="checkbox" checked={all} onChange={(event) => setAll(event.target.checked)} /> also what is the
          same
        </label>
      }
    >
      {shown.map((fact) => (
        <Line key={fact.name} name={fact.name}>
          {fact.values.map((value, place) => (
            <td
              key={comparison.records[place]!.id}
              className={`px-4 py-2.5 align-top [overflow-wrap:anywhere] ${fact.differs ? "bg-warn-soft" : "text-muted"}`}
            >
              {value || "–"}
            </td>
          ))}
        </Line>
      ))}
      {!shown.length && (
        <tr>
          <td className="px-4 py-3 text-muted" colSpan={comparison.records.length + 1}>
            Nothing: the plans and machines are the same.
          </td>
        </tr>
      )}
    </Columns>
  );
}

function Columns({
  title,
  records,
  aside,
  children,
}: {
  title: string;
  records: Comparison["records"];
  aside?: ReactNode;
  children: ReactNode;
}) {
  return (
    <Card title={title} aside={aside}>
      <div className="overflow-x-auto rounded-lg border border-line" tabIndex={0} role="region" aria-label={title}>
        <table className="w-full text-sm">
          <caption className="sr-only">{title}</caption>
          <thead>
            <tr className="border-b border-line text-left text-xs text-muted">
              <td className="px-4 py-2.5" />
              {records.map((record, place) => (
                <th key={record.id} scope="col" className="min-w-36 px-4 py-2.5 align-bottom font-medium">
                  <span
                    aria-hidden="true"
                    className="mr-1.5 inline-block size-2.5 rounded-sm"
                    style={{ background: series(place) }}
                  />
                  <span className="[overflow-wrap:anywhere]">{record.name}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </div>
    </Card>
  );
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <tr className="border-b border-line last:border-0">
      <th scope="row" className="px-4 py-2.5 text-left align-top font-normal text-muted sm:whitespace-nowrap">
        {name}
      </th>
      {children}
    </tr>
  );
}
