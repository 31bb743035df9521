/** That a trace was taken, and the way to it. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../../api/client";
import { digits, time } from "../../lib/format";
import { Card, Fact, Facts, Figure, Trouble } from "../../ui/parts";
import { Table } from "../../ui/table";

/** With its sign: what is measured with a level may also be quicker, by chance. */
function change(share: number): string {
  const value = digits(100 * Math.abs(share));
  return `${Number(value) === 0 ? "" : share < 0 ? "−" : "+"}${value} %`;
}

function said({ low, high }: Schemas["LevelCost"]): string {
  if (low == null || high == null) return "–";
  return low > 0 ? "slower" : high < 0 ? "quicker" : "no difference seen";
}

export function Profile({ record, profile }: { record: Schemas["Record"]; profile: Schemas["ProfileRecord"] }) {
  const found = useQuery({
    queryKey: ["trace of", record.id],
    queryFn: () => answer(api.GET("/api/v1/traces", { params: { query: { record: record.id, limit: 1 } } })),
  });
  const trace = found.data?.items[0];
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
        <Figure name="Spans" value={profile.spans.toLocaleString("en")} beside={profile.levels.join(", ")} />
        <Figure name="A run, median" value={time(profile.run_ns)} beside="the framework's call" />
        <Figure name="Its layers, median" value={time(profile.layers_ns)} beside="added up" />
        <Figure name="Runs" value={profile.runs} beside={profile.cold ? "each in a fresh process" : "in one process"} />
      </div>
      {found.error && <Trouble error={found.error} />}
      {trace && (
        <Link
          to="/traces/$id"
          params={{ id: trace.id }}
          className="flex items-center justify-between rounded-xl border border-accent bg-accent-soft p-5 font-medium"
        >
          See where the time goes
          <span aria-hidden="true">→</span>
        </Link>
      )}
      {profile.overheads.length > 0 && (
        <Card title="Profiling overhead">
          <Table
            name="Profiling overhead"
            rows={profile.overheads}
            identity={(each) => each.level}
            columns={[
              { title: "Level", cell: (each) => each.level },
              { title: "Compared", cell: (each) => each.compared },
              { title: "Without", right: true, cell: (each) => time(each.without_ns) },
              { title: "With", right: true, cell: (each) => time(each.with_ns) },
              {
                title: "Change",
                right: true,
                cell: (each) => change((each.with_ns - each.without_ns) / each.without_ns),
              },
              {
                title: "95 % interval",
                right: true,
                cell: (each) =>
                  each.low == null || each.high == null
                    ? "too few runs"
                    : `${change(each.low)} to ${change(each.high)}`,
              },
              { title: "So", cell: said },
            ]}
          />
        </Card>
      )}
      <Card title="How it was traced">
        <Facts>
          <Fact name="Level asked for">{profile.level}</Fact>
          <Fact name="Batch size">{record.plan.scenario.batch_size}</Fact>
        </Facts>
      </Card>
    </>
  );
}
