import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../api/client";
import { ago, bytes, plural } from "../lib/format";
import { Drain } from "../shown/drain";
import { Badge, Card, Empty, Fact, Facts, Heading, State, Trouble, Waiting } from "../ui/parts";

export function Agents() {
  const found = useQuery({
    queryKey: ["agents"],
    queryFn: () => answer(api.GET("/api/v1/agents")),
    refetchInterval: 3000,
  });
  const running = useQuery({
    queryKey: ["evaluations", "running"],
    queryFn: () => answer(api.GET("/api/v1/evaluations", { params: { query: { state: "running", limit: 500 } } })),
    refetchInterval: 3000,
  });
  const busy = (agent: string) => running.data?.items.filter((each) => each.agent === agent).length ?? 0;
  return (
    <>
      <Heading
        title="Agents"
        about="Machines that evaluate. Each publishes what it has, takes what fits, and hands the results over."
      />
      {found.isPending ? (
        <Waiting />
      ) : found.error && !found.data ? (
        <Trouble error={found.error} again={() => void found.refetch()} />
      ) : null}
      {found.data &&
        (found.data.items.length ? (
          <div className="space-y-4">
            {[...found.data.items].sort(byState).map((agent) => (
              <AgentCard key={agent.id} agent={agent} running={busy(agent.id)} />
            ))}
          </div>
        ) : (
          <Empty>
            No agent has joined yet: <code>mlmodelscope agent --server {location.origin}</code>
          </Empty>
        ))}
    </>
  );
}

const ORDER = ["online", "draining", "gone"];
const byState = (one: Schemas["Agent"], two: Schemas["Agent"]) =>
  ORDER.indexOf(one.state) - ORDER.indexOf(two.state) || one.id.localeCompare(two.id);

function AgentCard({ agent, running }: { agent: Schemas["Agent"]; running: number }) {
  const { machine, offers = [], labels = {}, models = [] } = agent.description;
  const built = offers.filter((offer) => offer.state === "built");
  return (
    <Card
      title={
        <span className="flex flex-wrap items-center gap-3">
          <Link to="/agents/$id" params={{ id: agent.id }}>
            {agent.id}
          </Link>
          <State of={agent.state} />
        </span>
      }
      aside={
        <span>
          {running ? `${plural(running, "evaluation")} running` : "idle"}, seen {ago(agent.seen_at)}
        </span>
      }
    >
      <Facts>
        <Fact name="Processor">{agent.description.cpu}</Fact>
        <Fact name="Cores">{machine.cpu.usable}</Fact>
        <Fact name="Memory">{bytes(machine.memory?.total_bytes)}</Fact>
        <Fact name="Accelerators">
          {machine.gpus?.length ? machine.gpus.map((gpu) => gpu.name).join(", ") : "none"}
        </Fact>
        <Fact name="Parallel jobs">{agent.description.slots ?? 1}</Fact>
        <Fact name="Stacks">{`${built.length} built, ${offers.length} in all`}</Fact>
        <Fact name="Cached models">{models.length}</Fact>
        <Fact name="MLModelScope">{agent.description.version}</Fact>
      </Facts>
      <div className="mt-4 flex flex-wrap items-center gap-2">
        {Object.entries(labels).map(([name, value]) => (
          <Badge key={name}>
            {name}={value}
          </Badge>
        ))}
        {agent.description.remote && <Badge tone="accent">proxy for {agent.description.remote}</Badge>}
        {agent.description.trusts && <Badge tone="warn">runs trusted code</Badge>}
        <span className="ml-auto">
          <Drain agent={agent} />
        </span>
      </div>
    </Card>
  );
}
