/** A table; on a phone it is scrolled sideways, or each row is a block of its own. What columns say is up to the caller. */
import type { ReactNode } from "react";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  right?: boolean;
  /** The order that the column gives, where the table is sorted by it. */
  sorted?: "ascending" | "descending";
  /** Sort by it, or turn its order. */
  onSort?: () => void;
}

const SCROLLED = { table: "", head: "", body: "", row: "", cell: "" };
const STACKED = {
  table: "max-sm:block",
  head: "max-sm:sr-only",
  body: "max-sm:block",
  row: "max-sm:block max-sm:py-2",
  cell: "max-sm:flex max-sm:items-baseline max-sm:justify-between max-sm:gap-4 max-sm:py-1 max-sm:whitespace-normal max-sm:empty:hidden max-sm:not-first:before:shrink-0 max-sm:not-first:before:text-xs max-sm:not-first:before:text-muted max-sm:not-first:before:content-[attr(data-title)]",
};

export function Table<Row>({
  rows,
  columns,
  name,
  identity,
  stacked = false,
}: {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  name: string;
  identity: (row: Row) => string;
  /** On a phone, rows one below the other with all that they say: for tables whose last columns matter. */
  stacked?: boolean;
}) {
  const looks = stacked ? STACKED : SCROLLED;
  // Roles are spelled out since tables that are laid out as blocks lose theirs.
  return (
    <div className="overflow-x-auto rounded-xl border border-line bg-card" tabIndex={0} role="region" aria-label={name}>
      <table role="table" className={`w-full text-sm ${looks.table}`}>
        <caption className="sr-only">{name}</caption>
        <thead role="rowgroup" className={looks.head}>
          <tr role="row" className="border-b border-line text-left text-xs text-muted">
            {columns.map((column) => (
              <th
                key={column.title}
                scope="col"
                role="columnheader"
                aria-sort={column.sorted}
                className={`px-4 py-2.5 font-medium ${column.right ? "text-right" : ""}`}
              >
                {column.onSort ? (
                  <button type="button" className="cursor-pointer font-medium hover:text-ink" onClick={column.onSort}>
                    {column.title}
                    {column.sorted && <span aria-hidden="true">{column.sorted === "ascending" ? " ↑" : " ↓"}</span>}
                  </button>
                ) : (
                  column.title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" className={looks.body}>
          {rows.map((row) => (
            <tr
              key={identity(row)}
              role="row"
              className={`border-b border-line last:border-0 hover:bg-soft ${looks.row}`}
            >
              {columns.map((column) => (
                <td
                  key={column.title}
                  role="cell"
                  data-title={column.title}
                  className={`px-4 py-2.5 align-top ${column.right ? "text-right whitespace-nowrap" : ""} ${looks.cell}`}
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
