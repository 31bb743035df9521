/** What each pitfall would cost a model whose manifest is right. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { answer, api, Problem, type Schemas } from "../../api/client";
import { ago, plural } from "../../lib/format";
import { headed, unitOf } from "../../lib/measured";
import { Notify } from "../../shown/notify";
import { Chart } from "../../ui/chart";
import { Card, Empty, Fact, Facts, Heading, State, Trouble, Waiting } from "../../ui/parts";
import { Table } from "../../ui/table";
import { Cancel } from "../replications/cancel";
import { useHappenings } from "../replications/live";
import { Progress } from "../replications/progress";
import { drawHeat } from "./draw";
import { chance, change, told } from "./heat";

const here = getRouteApi("/sensitivities/$id");
const ENDED = ["finished", "failed", "cancelled"];

export function SensitivityPage() {
  const { id } = here.useParams();
  const queries = useQueryClient();
  const found = useQuery({
    queryKey: ["sensitivity", id],
    queryFn: () => answer(api.GET("/api/v1/sensitivities/{identity}", { params: { path: { identity: id } } })),
  });
  const open = found.data !== undefined && !ENDED.includes(found.data.state);
  const { events, error } = useHappenings(
    id,
    open,
    () => void queries.invalidateQueries({ queryKey: ["sensitivity", id] }),
  );
  if (found.isPending) return <Waiting />;
  if (!found.data) return <Trouble error={found.error} again={() => void found.refetch()} />;
  const asked = found.data;
  return (
    <>
      <Heading
        title={
          <>
            {asked.model} <span className="font-normal text-muted">on {asked.dataset}</span>
          </>
        }
        about={`What each pitfall would cost it, measured for ${asked.owner} ${ago(asked.created_at)}`}
        actions={
          open && (
            <>
              <Notify id={asked.id} owner={asked.owner} open />
              <Cancel of={asked} onDone={() => void found.refetch()} />
            </>
          )
        }
      />
      <div className="space-y-6">
        {error !== null && <Trouble error={error} />}
        {asked.found ? (
          <Found of={asked.found} />
        ) : (
          <Card>
            <Facts>
              <Fact name="State">
                <State of={asked.state} />
              </Fact>
              <Fact name="Agent">{asked.agent ?? "–"}</Fact>
            </Facts>
            {open && <Progress events={events} waits={asked.state === "waiting"} />}
            {asked.error && (
              <div className="mt-4">
                <Trouble error={new Problem(0, asked.error.kind, asked.error.message, asked.error.hint ?? undefined)} />
              </div>
            )}
          </Card>
        )}
      </div>
    </>
  );
}

function Found({ of }: { of: Schemas["Sensed"] }) {
  const name = `What each pitfall would cost ${of.model}`;
  const { symbol } = unitOf(of.unit);
  const drawn = useMemo(() => ({ unit: of.unit, better: of.better ?? "higher" }), [of.unit, of.better]);
  const draw = useCallback((width: number) => drawHeat(of.effects, width, name, drawn), [of.effects, name, drawn]);
  if (!of.effects.length) return <Empty>No pitfall could be tried on it.</Empty>;
  return (
    <>
      <Card
        title={`Change of ${of.titles[of.metric]}${symbol === "%" ? ", in percentage points" : symbol && `, in ${symbol}`}`}
        aside={
          <>
            {told(of.numbers[of.metric]!.value, of.unit)} as it is, on {plural(of.samples, "sample")} (
            <Link to="/records/$id" params={{ id: of.record }} className="underline">
              record
            </Link>
            )
          </>
        }
      >
        <Legend />
        <Chart name={`sensitivity-${of.record}`} data={of.effects} draw={draw} />
      </Card>
      <Card>
        <details>
          <summary className="cursor-pointer font-medium">In numbers</summary>
          <div className="mt-4">
            <Numbers of={of} />
          </div>
        </details>
        {of.not_tried?.map((each) => (
          <p key={each.reason} className="mt-3 text-sm text-muted">
            Not tried: {each.variants.join("; ")} ({each.reason})
          </p>
        ))}
      </Card>
    </>
  );
}

function Legend() {
  return (
    <p className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-muted">
      <span className="flex items-center gap-1.5">
        <span className="size-3 rounded-sm bg-bad/40" /> worse
      </span>
      <span className="flex items-center gap-1.5">
        <span className="size-3 rounded-sm bg-soft" /> the same
      </span>
      <span className="flex items-center gap-1.5">
        <span className="size-3 rounded-sm bg-good/40" /> better
      </span>
      <span>
        A row is a detail of the pipeline, a cell a value that it may have, with the change, its 95 % interval, and the
        value. “Same answers”: not one answer changed. “0”: answers changed, the number did not.
      </span>
    </p>
  );
}

function Numbers({ of }: { of: Schemas["Sensed"] }) {
  const others = Object.keys(of.titles).filter((name) => name !== of.metric);
  const { symbol } = unitOf(of.unit);
  const isShare = (of.test ?? "mcnemar") === "mcnemar";
  return (
    <Table
      name="Costs"
      rows={of.effects}
      identity={(each) => `${each.pitfall} ${each.words}`}
      columns={[
        { title: "Pitfall", cell: (each) => each.title },
        { title: "Value", cell: (each) => each.words },
        { title: headed(of.titles[of.metric]!), right: true, cell: (each) => told(each.value, of.unit) },
        ...others.map((name) => ({
          title: headed(of.titles[name]!),
          right: true,
          cell: (each: Schemas["Cost"]) =>
            each.others?.[name] == null ? "–" : told(each.others[name], of.units?.[name] ?? of.unit),
        })),
        {
          title: symbol === "%" ? "Points (95 %)" : `Change${symbol && `, ${symbol}`} (95 %)`,
          right: true,
          cell: (each) =>
            `${change(each.difference, of.unit)} (${change(each.difference_low, of.unit)} to ${change(each.difference_high, of.unit)})`,
        },
        { title: isShare ? "Flips" : "Changed", right: true, cell: (each) => each.flips },
        { title: isShare ? "McNemar p" : "Student's p", right: true, cell: (each) => chance(each.p_value) },
        { title: "Samples", right: true, cell: (each) => each.samples },
        { title: "Same answers as", cell: (each) => each.same_as ?? "" },
      ]}
    />
  );
}
