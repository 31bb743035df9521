/** Every sample with its answer; the server sends what is looked at, so fifty thousand are as quick as fifty. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { percent, plural } from "../../lib/format";
import { Badge, Button, Card, Empty, Trouble } from "../../ui/parts";
import { Table } from "../../ui/table";

const PAGE = 100;
const here = getRouteApi("/records/$id");

export function Samples({ record }: { record: Schemas["Record"] }) {
  const search = here.useSearch();
  const navigate = useNavigate({ from: "/records/$id" });
  const [start, setStart] = useState(0);
  const only = search.only === "wrong" || search.only === "failed" ? search.only : undefined;
  const found = useQuery({
    queryKey: ["samples", record.id, only, start],
    queryFn: () =>
      answer(
        api.GET("/api/v1/records/{name}/samples", {
          params: { path: { name: record.id }, query: { only, start, limit: PAGE } },
        }),
      ),
    placeholderData: keepPreviousData,
  });
  const named = (number: number | undefined | null) =>
    number == null ? "–" : (record.class_names[number] ?? String(number));
  const total = found.data?.total ?? 0;
  return (
    <Card title="Samples" aside={plural(total, "sample")}>
      <div className="mb-3 flex flex-wrap gap-2" role="group" aria-label="Which samples">
        {([undefined, "wrong", "failed"] as const).map((each) => (
          <Button
            key={each ?? "all"}
            aria-pressed={only === each}
            className={only === each ? "!border-accent !text-accent" : ""}
            onClick={() => {
              setStart(0);
              void navigate({ search: { ...search, only: each } });
            }}
          >
            {each ?? "all"}
          </Button>
        ))}
      </div>
      {found.error ? (
        <Trouble error={found.error} />
      ) : !total ? (
        <Empty>None.</Empty>
      ) : (
        <Table
          name="Samples"
          rows={found.data?.items ?? []}
          identity={(row) => row.id}
          columns={[
            { title: "Sample", cell: (row) => <code className="text-xs">{row.id}</code> },
            { title: "Label", cell: (row) => named(row.label) },
            {
              title: "Answer",
              cell: (row) =>
                row.error ? <span className="text-bad">{row.error}</span> : (row.answer ?? named(row.classes?.[0])),
            },
            { title: "Score", right: true, cell: (row) => percent(row.scores?.[0], 1) },
            {
              title: "",
              right: true,
              cell: (row) =>
                row.right == null ? (
                  ""
                ) : (
                  <Badge tone={row.right ? "good" : "bad"}>{row.right ? "right" : "wrong"}</Badge>
                ),
            },
          ]}
        />
      )}
      {total > PAGE && (
        <nav aria-label="Pages" className="mt-3 flex items-center justify-between text-sm">
          <Button disabled={start === 0} onClick={() => setStart(Math.max(0, start - PAGE))}>
            Before
          </Button>
          <span className="text-muted">{`${start + 1} to ${Math.min(start + PAGE, total)} of ${total.toLocaleString("en")}`}</span>
          <Button disabled={start + PAGE >= total} onClick={() => setStart(start + PAGE)}>
            Next
          </Button>
        </nav>
      )}
    </Card>
  );
}
