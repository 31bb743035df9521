/** Where numbers are off: plots over the truth, the largest errors, and pairs of texts that are rated otherwise. */
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { plural } from "../../lib/format";
import { spelled } from "../../lib/parts";
import { Excerpt } from "../../shown/sample-content";
import { Card, Waiting } from "../../ui/parts";
import { qualityWords } from "../../ui/shown-shapes";
import { Table } from "../../ui/table";
import { SampleLink } from "./sample-link";

const ResidualPlot = lazy(() => import("./residual-plot"));
const PAIRS = 8;

export function NumbersBesideTruth({ record }: { record: Schemas["Record"] }) {
  const found = useQuery({
    queryKey: ["residuals", record.id],
    queryFn: () => answer(api.GET("/api/v1/records/{name}/residuals", { params: { path: { name: record.id } } })),
    staleTime: Infinity,
  }).data;
  if (!found?.samples) return null;
  const about = `${found.dataset}, ${plural(found.samples, "sample")}`;
  return (
    <>
      {found.points.length > 0 && (
        <div className={found.has_residuals ? "grid grid-cols-1 gap-6 lg:grid-cols-2" : ""}>
          <Card title="Predicted over true" aside={about}>
            <Suspense fallback={<Waiting />}>
              <ResidualPlot found={found} kind="predicted" name={record.id} />
            </Suspense>
            <Note found={found} />
          </Card>
          {found.has_residuals && (
            <Card title="Residuals" aside={about}>
              <Suspense fallback={<Waiting />}>
                <ResidualPlot found={found} kind="residual" name={record.id} />
              </Suspense>
              <Note found={found} />
            </Card>
          )}
        </div>
      )}
      {found.largest.length > 0 && <Largest found={found} about={about} />}
      {!found.has_residuals && <Pairs record={record} about={about} />}
    </>
  );
}

function Note({ found }: { found: Schemas["Residuals"] }) {
  const left = found.values - found.lost - found.points.length;
  const told = [
    left > 0 && `${found.points.length.toLocaleString("en")} of ${plural(found.values, "number")} are drawn.`,
    found.lost > 0 && `${plural(found.lost, "number")} cannot be drawn: too large, or not finite.`,
  ].filter(Boolean);
  return told.length ? <p className="mt-2 text-xs text-muted">{told.join(" ")}</p> : null;
}

function Largest({ found, about }: { found: Schemas["Residuals"]; about: string }) {
  type Row = Schemas["ResidualPoint"];
  return (
    <Card title="Largest errors" aside={about}>
      <Table<Row>
        name="Largest errors"
        rows={found.largest}
        identity={(each) => `${each.place} ${each.sample}`}
        columns={[
          { title: "Sample", cell: (each) => <SampleLink id={each.sample} /> },
          ...(found.is_several ? [{ title: "Number", right: true, cell: (each: Row) => each.place + 1 }] : []),
          { title: "True", right: true, cell: (each) => spelled(each.truth) },
          { title: "Predicted", right: true, cell: (each) => spelled(each.answer) },
          { title: "Error", right: true, cell: (each) => spelled(each.answer - each.truth) },
        ]}
        stacked
      />
    </Card>
  );
}

function Pairs({ record, about }: { record: Schemas["Record"]; about: string }) {
  const found = useQuery({
    queryKey: ["worst", record.id],
    queryFn: () =>
      answer(
        api.GET("/api/v1/records/{name}/samples", {
          params: { path: { name: record.id }, query: { sort: "quality", limit: PAIRS } },
        }),
      ),
    staleTime: Infinity,
  });
  const rows = found.data?.items.filter((each) => !each.error) ?? [];
  if (!rows.length) return null;
  return (
    <Card title="Pairs with the largest error" aside={`the ${rows.length} worst; ${about}`}>
      <Table
        name="Pairs with the largest error"
        rows={rows}
        identity={(each) => each.id}
        columns={[
          {
            title: "Pair",
            cell: (each) => (
              <>
                <Excerpt record={record.id} sample={each.id} className="block [overflow-wrap:anywhere]" />
                <SampleLink id={each.id} />
              </>
            ),
          },
          { title: "True", right: true, cell: (each) => each.truth ?? "–" },
          { title: "Predicted", right: true, cell: (each) => each.said ?? "–" },
          { title: "Quality", right: true, cell: (each) => qualityWords(each.quality) },
        ]}
        stacked
      />
    </Card>
  );
}
