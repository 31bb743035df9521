/** What `mlmodelscope analyze` makes of a trace: the roofline, the tables of the XSP paper, and what is missing. */
import { useQuery } from "@tanstack/react-query";
import { answer, api, type Schemas } from "../../api/client";
import { digits, plural, time } from "../../lib/format";
import { Fold } from "../../ui/fold";
import { Button, Card, Empty, Figure, Trouble, Waiting } from "../../ui/parts";
import { type Column, Table } from "../../ui/table";
import { cell, large } from "./cells";
import { Roofline } from "./roofline";
import { csv, save } from "./table-file";

const SHOWN = 25;

export default function Analyses({ trace }: { trace: string }) {
  const found = useQuery({
    queryKey: ["analyses", trace],
    queryFn: () => answer(api.GET("/api/v1/traces/{identity}/analyses", { params: { path: { identity: trace } } })),
    staleTime: 60_000,
  });
  if (found.error) return <Trouble error={found.error} again={() => void found.refetch()} />;
  if (!found.data) return <Waiting what="Analyzing" />;
  const { analyses, missing, peak, latency_ns, batch_size } = found.data;
  const roofs = analyses.filter((each) => each.id === "A14" || each.id === "A9");
  return (
    <div className="space-y-6">
      <div className="grid gap-4 sm:grid-cols-3">
        {latency_ns != null && (
          <Figure
            name="Latency"
            value={time(latency_ns)}
            beside={batch_size ? `batch ${batch_size}, with nothing looking on` : "with nothing looking on"}
          />
        )}
        {peak && (
          <>
            <Figure name="The machine's best" value={`${large(peak.flops_per_s)}flop/s`} beside={peak.how} />
            <Figure
              name="Its memory"
              value={`${large(peak.bytes_per_s)}B/s`}
              beside={`ridge at ${digits(peak.intensity)} operations a byte`}
            />
          </>
        )}
      </div>
      {roofs.map((each) => (
        <Roofline key={each.id} analysis={each} peak={peak} />
      ))}
      {analyses.map((each) => (
        <AnalysisTable key={each.id} of={each} />
      ))}
      {!analyses.length && <Empty>This trace has no layers that could be analyzed.</Empty>}
      {missing.length > 0 && <MissingOnes of={missing} />}
    </div>
  );
}

function AnalysisTable({ of }: { of: Schemas["TraceAnalysis"] }) {
  const at = of.columns.findIndex((column) => column.name === "time_ns");
  const rows = of.rows.map((values, place) => ({ values, place }));
  if (at >= 0 && rows.length > SHOWN)
    rows.sort((one, two) => Number(two.values[at] ?? 0) - Number(one.values[at] ?? 0));
  const shown = rows.slice(0, SHOWN);
  return (
    <Card
      title={`${of.id} ${of.title}`}
      aside={
        <Button className="!px-2 !py-0.5 !text-xs" onClick={() => save(`${of.id}.csv`, csv(of))}>
          CSV
        </Button>
      }
    >
      <Fold
        open={of.id === "A2" || of.id === "A6" || of.id === "A10"}
        title={
          shown.length < of.total
            ? `${shown.length} of ${of.total.toLocaleString("en")} rows, those that take most`
            : plural(of.total, "row")
        }
      >
        {() => (
          <div className="max-h-96 overflow-y-auto">
            <Table
              name={of.title}
              rows={shown}
              identity={(row) => String(row.place)}
              columns={of.columns.map((column, place): Column<(typeof shown)[number]> => ({
                title: column.title || column.name,
                right: column.kind !== "text",
                cell: ({ values }) => <Value column={column} value={values[place]} />,
              }))}
            />
          </div>
        )}
      </Fold>
      {of.notes.length > 0 && (
        <ul className="mt-3 list-disc space-y-1 pl-5 text-xs text-muted">
          {of.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </Card>
  );
}

/** Names of kernels are long: they have room, and are broken where they must. */
function Value({ column, value }: { column: Schemas["AnalysisColumn"]; value: unknown }) {
  const text = cell(column, value);
  if (column.kind !== "text") return text;
  return text.length > 24 ? (
    <span className="block min-w-56 [overflow-wrap:anywhere]">{text}</span>
  ) : (
    <span className="whitespace-nowrap">{text}</span>
  );
}

function MissingOnes({ of }: { of: Schemas["MissingAnalysis"][] }) {
  return (
    <Card title="What is missing">
      <ul className="space-y-2 text-sm">
        {of.map((each) => (
          <li key={each.id}>
            <span className="font-medium">
              {each.id}, {each.title}
            </span>
            : {each.why}.
            {each.command && (
              <code className="mt-0.5 block text-xs text-muted [overflow-wrap:anywhere]">{each.command}</code>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
