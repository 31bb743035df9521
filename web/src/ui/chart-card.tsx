/** A chart with its title, what its colours mean, and the numbers behind it for whoever cannot see it. */
import { type ReactNode, useId } from "react";
import { Chart } from "./chart";
import { Fold } from "./fold";
import { Card } from "./parts";
import { type Column, Table } from "./table";

interface Props<Row extends object> {
  title: string;
  name: string;
  about?: ReactNode;
  legend?: { domain: string[]; range: string[] };
  data: readonly Row[];
  columns: readonly Column<Row>[];
  draw: (width: number) => SVGSVGElement | HTMLElement;
}

export function ChartCard<Row extends object>({ title, name, about, legend, data, columns, draw }: Props<Row>) {
  return (
    <Card title={title}>
      {about && <p className="-mt-1 mb-3 text-sm text-muted">{about}</p>}
      {legend && legend.domain.length > 1 && <Legend {...legend} />}
      <Chart name={name} data={data} draw={draw} />
      <Fold title="The numbers" className="mt-3">
        {() => (
          <div className="max-h-96 overflow-auto">
            <Numbers title={title} data={data} columns={columns} />
          </div>
        )}
      </Fold>
    </Card>
  );
}

function Numbers<Row extends object>({ title, data, columns }: Pick<Props<Row>, "title" | "data" | "columns">) {
  const id = useId();
  const places = new Map(data.map((row, place) => [row, `${id}${place}`]));
  return <Table name={title} rows={data} columns={columns} identity={(row) => places.get(row)!} />;
}

export function Legend({ domain, range }: { domain: string[]; range: string[] }) {
  return (
    <ul className="mb-2 flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted" aria-label="Colors">
      {domain.map((name, place) => (
        <li key={name} className="flex min-w-0 items-center gap-1.5">
          <span aria-hidden="true" className="size-2.5 shrink-0 rounded-sm" style={{ background: range[place] }} />
          <span className="max-w-80 truncate" title={name}>
            {name}
          </span>
        </li>
      ))}
    </ul>
  );
}
