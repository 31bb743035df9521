/** Which names take most of the time, level by level. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { percent, time } from "../../lib/format";
import { Bar, Button, Card, Empty, Trouble, Waiting } from "../../ui/parts";
import { Table } from "../../ui/table";
import { LEVELS, type Level, levelName } from "./bands";

export function Most({ trace }: { trace: Schemas["TraceDetails"] }) {
  const known = LEVELS.filter((level) => trace.levels.includes(level));
  const [level, setLevel] = useState<Level>(
    known.includes("framework") ? "framework" : (known.at(-1) ?? "application"),
  );
  const found = useQuery({
    queryKey: ["names", trace.id, level],
    queryFn: () =>
      answer(
        api.GET("/api/v1/traces/{identity}/names", {
          params: { path: { identity: trace.id }, query: { level, limit: 50 } },
        }),
      ),
    staleTime: 60_000,
  });
  return (
    <Card
      title="What takes most of the time"
      aside={found.data && `${time(found.data.whole_ns)} in ${found.data.in_a_run ? "a run" : "all"}`}
    >
      {found.data && (
        <p className="mb-3 text-sm text-muted">
          {found.data.in_a_run
            ? "Time in one run, each layer at its median over the runs, as in Analyses. Each and Longest are of single spans."
            : "Totals over every span of the trace."}
        </p>
      )}
      <div className="mb-3 flex flex-wrap gap-2" role="group" aria-label="Level">
        {known.map((each) => (
          <Button
            key={each}
            aria-pressed={level === each}
            className={level === each ? "!border-accent !text-accent" : ""}
            onClick={() => setLevel(each)}
          >
            {levelName(each)}
          </Button>
        ))}
      </div>
      {found.error ? (
        <Trouble error={found.error} again={() => void found.refetch()} />
      ) : !found.data ? (
        <Waiting />
      ) : found.data.items.length ? (
        <Table
          name={`${levelName(level)} by time`}
          rows={found.data.items}
          identity={(row) => row.name}
          columns={[
            {
              title: "Name",
              cell: (row) => <span className="block min-w-36 [overflow-wrap:anywhere]">{row.name}</span>,
            },
            { title: "Times", right: true, cell: (row) => row.count.toLocaleString("en") },
            { title: "Time", right: true, cell: (row) => time(row.time_ns) },
            { title: "Each", right: true, cell: (row) => time(row.mean_ns) },
            { title: "Longest", right: true, cell: (row) => time(row.longest_ns) },
            { title: "Share", right: true, cell: (row) => percent(row.share, 1) },
            {
              title: "",
              cell: (row) => (
                <div className="w-24 pt-1.5">
                  <Bar share={row.share} label={`${row.name}: ${percent(row.share, 1)}`} />
                </div>
              ),
            },
          ]}
        />
      ) : (
        <Empty>Nothing at this level.</Empty>
      )}
      {found.data && found.data.total > found.data.items.length && (
        <p className="mt-2 text-xs text-muted">
          The first {found.data.items.length} of {found.data.total.toLocaleString("en")} names.
        </p>
      )}
    </Card>
  );
}
