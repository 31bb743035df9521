/** One agent: its machine in full, what it can run, and what it has done. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../api/client";
import { ago, bytes, plural } from "../lib/format";
import { Drain } from "../shown/drain";
import { EvaluationTable } from "../shown/evaluation-table";
import { Badge, Bar, Card, Empty, Fact, Facts, Heading, State, Trouble, Waiting } from "../ui/parts";
import { Table } from "../ui/table";

const here = getRouteApi("/agents/$id");

export function AgentPage() {
  const { id } = here.useParams();
  const found = useQuery({
    queryKey: ["agents", id],
    queryFn: () => answer(api.GET("/api/v1/agents/{identity}", { params: { path: { identity: id } } })),
    refetchInterval: 3000,
  });
  if (!found.data)
    return found.error ? <Trouble error={found.error} again={() => void found.refetch()} /> : <Waiting />;
  const agent = found.data;
  return (
    <>
      <Heading
        title={agent.id}
        about={
          <>
            <State of={agent.state} /> seen {ago(agent.seen_at)}, joined {ago(agent.joined_at)}
          </>
        }
        actions={<Drain agent={agent} />}
      />
      <div className="space-y-6">
        {found.error && <Trouble error={found.error} />}
        <Load agent={agent.id} slots={agent.description.slots ?? 1} />
        <MachineCard of={agent.description} />
        <Offers of={agent.description.offers ?? []} />
        <History agent={agent.id} />
      </div>
    </>
  );
}

const RECENT_MS = 24 * 3600 * 1000;

/** How busy it is: what runs there now, what waits for it, and what became of the last day's. */
function Load({ agent, slots }: { agent: string; slots: number }) {
  const { data } = useDone(agent);
  if (!data) return null;
  const count = (state: string) => data.items.filter((row) => row.state === state).length;
  const running = count("running");
  const latest = data.items.filter((row) => Date.now() - Date.parse(row.created_at) < RECENT_MS);
  const failed = latest.filter((row) => row.state === "failed").length;
  const some = latest.length === data.items.length && data.next ? "at least " : "";
  return (
    <Card title="Load" aside={running >= slots ? "busy" : running ? "has room" : "idle"}>
      <Bar share={running / slots} label="Share of its slots in use" />
      <Facts>
        <Fact name="Running now">
          {running} of {slots}
        </Fact>
        <Fact name="Waiting for it">{count("waiting")}</Fact>
        <Fact name="Requested in the last 24 hours">{`${some}${latest.length}`}</Fact>
        <Fact name="Failed of these">{failed ? <Badge tone="bad">{failed}</Badge> : "none"}</Fact>
      </Facts>
    </Card>
  );
}

function MachineCard({ of }: { of: Schemas["AgentDescription"] }) {
  const { machine, labels = {} } = of;
  const { cpu, memory, gpus = [], disks = [], surroundings } = machine;
  return (
    <Card title="Machine">
      <Facts>
        <Fact name="Processor">{of.cpu}</Fact>
        <Fact name="Architecture">{machine.architecture}</Fact>
        <Fact name="Cores it may use">{cpu.usable}</Fact>
        <Fact name="Memory">{bytes(memory?.total_bytes)}</Fact>
        <Fact name="Accelerators">{gpus.map((gpu) => gpu.name).join(", ") || "none"}</Fact>
        <Fact name="Disks">{disks.map((disk) => `${disk.name} ${bytes(disk.size_bytes)}`).join(", ") || "–"}</Fact>
        <Fact name="Kernel">{surroundings?.kernel ?? "–"}</Fact>
        <Fact name="Virtualization">
          {[surroundings?.hypervisor, surroundings?.container].filter(Boolean).join(", ") || "none"}
        </Fact>
        <Fact name="Parallel jobs">{of.slots ?? 1}</Fact>
        <Fact name="Cached models">{of.models?.length ?? 0}</Fact>
        <Fact name="MLModelScope">{of.version}</Fact>
        <Fact name="Python">{of.python}</Fact>
      </Facts>
      <p className="mt-4 flex flex-wrap gap-2 empty:hidden">
        {Object.entries(labels).map(([name, value]) => (
          <Badge key={name}>
            {name}={value}
          </Badge>
        ))}
        {of.remote && <Badge tone="accent">proxy for {of.remote}</Badge>}
        {of.trusts && <Badge tone="warn">runs trusted code</Badge>}
      </p>
    </Card>
  );
}

function Offers({ of }: { of: Schemas["Offer"][] }) {
  const order = [...of].sort(
    (one, two) => one.state.localeCompare(two.state) * -1 || one.stack.localeCompare(two.stack),
  );
  return (
    <Card title="What it can run" aside={plural(of.length, "stack")}>
      {order.length ? (
        <div className="max-h-96 overflow-y-auto">
          <Table
            name="Stacks"
            rows={order}
            identity={(row) => `${row.stack} ${row.framework}`}
            columns={[
              { title: "Stack", cell: (row) => row.stack },
              { title: "Framework", cell: (row) => `${row.framework} ${row.version}` },
              { title: "", cell: (row) => <Badge tone={row.state === "built" ? "good" : "plain"}>{row.state}</Badge> },
            ]}
          />
        </div>
      ) : (
        <Empty>This agent offers no stacks.</Empty>
      )}
    </Card>
  );
}

/** Its last evaluations, which two cards are made of. */
function useDone(agent: string) {
  return useQuery({
    queryKey: ["evaluations", "of", agent],
    queryFn: () => answer(api.GET("/api/v1/evaluations", { params: { query: { agent, limit: 100 } } })),
    refetchInterval: 3000,
  });
}

function History({ agent }: { agent: string }) {
  const found = useDone(agent);
  if (found.error && !found.data) return <Trouble error={found.error} again={() => void found.refetch()} />;
  const rows = found.data?.items.slice(0, 30) ?? [];
  return <Card title="Evaluations">{rows.length ? <EvaluationTable rows={rows} /> : <Empty>Nothing yet.</Empty>}</Card>;
}
