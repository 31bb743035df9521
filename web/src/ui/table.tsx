/** A table that can be scrolled sideways on a phone; what its columns say is up to the caller. */
import type { ReactNode } from "react";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  right?: boolean;
}

export function Table<Row>({
  rows,
  columns,
  name,
  identity,
}: {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  name: string;
  identity: (row: Row) => string;
}) {
  return (
    <div className="overflow-x-auto rounded-xl border border-line bg-card" tabIndex={0} role="region" aria-label={name}>
      <table className="w-full text-sm">
        <caption className="sr-only">{name}</caption>
        <thead>
          <tr className="border-b border-line text-left text-xs text-muted">
            {columns.map((column) => (
              <th
                key={column.title}
                scope="col"
                className={`px-4 py-2.5 font-medium ${column.right ? "text-right" : ""}`}
              >
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={identity(row)} className="border-b border-line last:border-0 hover:bg-soft">
              {columns.map((column) => (
                <td
                  key={column.title}
                  className={`px-4 py-2.5 align-top ${column.right ? "text-right whitespace-nowrap" : ""}`}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
