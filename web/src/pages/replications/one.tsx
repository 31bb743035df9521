/** A claim that is checked: the search while it goes on, then the verdict, the cause and the evidence. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { answer, api, Problem, type Schemas } from "../../api/client";
import { ago } from "../../lib/format";
import { published, spelled, unitOf } from "../../lib/measured";
import { Notify } from "../../shown/notify";
import { Card, Fact, Facts, Heading, State, Trouble, Waiting } from "../../ui/parts";
import { Cancel } from "./cancel";
import { Causes } from "./cause";
import { Downloads } from "./downloads";
import { Flips } from "./flips";
import { useHappenings } from "./live";
import { Progress } from "./progress";
import { told } from "./race";
import { Runners } from "./runners";
import { VerdictCard } from "./verdict";

const here = getRouteApi("/replications/$id");
export const ENDED = ["finished", "failed", "cancelled"];

export function ReplicationPage() {
  const { id } = here.useParams();
  const queries = useQueryClient();
  const found = useQuery({
    queryKey: ["replication", id],
    queryFn: () => answer(api.GET("/api/v1/replications/{identity}", { params: { path: { identity: id } } })),
  });
  const open = found.data !== undefined && !ENDED.includes(found.data.state);
  const { events, error } = useHappenings(
    id,
    open,
    () => void queries.invalidateQueries({ queryKey: ["replication", id] }),
  );
  if (found.isPending) return <Waiting />;
  if (!found.data) return <Trouble error={found.error} again={() => void found.refetch()} />;
  const replication = found.data;
  const { rounds, goal } = open
    ? told(events)
    : { rounds: replication.tried, goal: replication.goal ?? goalOf(replication.finding) };
  const explained = new Set(replication.finding?.explained_by?.map((each) => each.words));
  return (
    <>
      <Heading
        title={
          <>
            {replication.model} <span className="font-normal text-muted">on {replication.dataset}</span>
          </>
        }
        about={`A claim, checked for ${replication.owner} ${ago(replication.created_at)}`}
        actions={
          open ? (
            <>
              <Notify id={replication.id} owner={replication.owner} open />
              <Cancel of={replication} onDone={() => void found.refetch()} />
            </>
          ) : (
            <Downloads of={replication} />
          )
        }
      />
      <div className="space-y-6">
        {found.error && <Trouble error={found.error} />}
        {replication.finding ? (
          <VerdictCard finding={replication.finding} />
        ) : (
          <Status replication={replication} goal={goal} events={events} />
        )}
        {error !== null && <Trouble error={error} />}
        {replication.finding && <Causes finding={replication.finding} />}
        {replication.finding?.evidence && (
          <Flips
            id={id}
            record={replication.record}
            evidence={replication.finding.evidence}
            claim={replication.finding.claim}
          />
        )}
        {rounds.length > 0 && (
          <Card title={open ? "The search" : "What was tried"}>
            <Runners rounds={rounds} goal={goal} ended={!open} explained={explained} />
          </Card>
        )}
      </div>
    </>
  );
}

const claimedIn = ({ claim }: Schemas["Replication"]) => (claim ? published(claim.value, claim.unit) : "–");

function Status({
  replication,
  goal,
  events,
}: {
  replication: Schemas["Replication"];
  goal: Schemas["Goal"] | null;
  events: Parameters<typeof Progress>[0]["events"];
}) {
  return (
    <Card>
      <Facts>
        <Fact name="State">
          <State of={replication.state} />
        </Fact>
        <Fact name="Agent">{replication.agent ?? "–"}</Fact>
        <Fact name="Claimed">{goal ? spelled(goal.claimed, goal.unit) : claimedIn(replication)}</Fact>
        <Fact name="Measured">{goal ? spelled(goal.measured, goal.unit) : "not yet"}</Fact>
      </Facts>
      {!ENDED.includes(replication.state) && <Progress events={events} waits={replication.state === "waiting"} />}
      {replication.error && (
        <div className="mt-4">
          <Trouble
            error={
              new Problem(0, replication.error.kind, replication.error.message, replication.error.hint ?? undefined)
            }
          />
        </div>
      )}
      {ENDED.includes(replication.state) && (
        <p className="mt-4 text-sm">
          {replication.state === "finished" && "Its record was deleted, and with it what was found. "}
          <Link
            to="/replications/new"
            search={{ model: replication.model.split("@")[0], dataset: replication.dataset.split("@")[0] }}
          >
            Check it again
          </Link>
        </p>
      )}
    </Card>
  );
}

/** Of a search that ended before it told what it looked for. */
function goalOf(finding: Schemas["Finding"] | null): Schemas["Goal"] | null {
  return finding
    ? {
        metric: finding.claim.metric,
        unit: finding.claim.unit,
        claimed: Number(finding.claim.value) / unitOf(finding.claim.unit).factor,
        measured: finding.measured.value,
        low: finding.accepted.low,
        high: finding.accepted.high,
      }
    : null;
}
