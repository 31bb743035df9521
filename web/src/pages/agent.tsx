/** One agent: its machine in full, what it can run, and what it has done. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../api/client";
import { ago, bytes, plural } from "../lib/format";
import { Drain } from "../shown/drain";
import { EvaluationTable } from "../shown/evaluation-table";
import { Badge, Card, Empty, Fact, Facts, Heading, State, Trouble, Waiting } from "../ui/parts";
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
        <MachineCard of={agent.description} />
        <Offers of={agent.description.offers ?? []} />
        <History agent={agent.id} />
      </div>
    </>
  );
}

function MachineCard({ of }: { of: Schemas["AgentDescription"] }) {
  const { machine, labels = {} } = of;
  const { cpu, memory, gpus = [], disks = [], surroundings } = machine;
  return (
    <Card title="Machine" aside={<code>{of.python}</code>}>
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

function History({ agent }: { agent: string }) {
  const found = useQuery({
    queryKey: ["evaluations", "of", agent],
    queryFn: () => answer(api.GET("/api/v1/evaluations", { params: { query: { agent, limit: 30 } } })),
    refetchInterval: 3000,
  });
  if (found.error && !found.data) return <Trouble error={found.error} again={() => void found.refetch()} />;
  const rows = found.data?.items ?? [];
  const busy = rows.filter((row) => row.state === "running").length;
  return (
    <Card title="Evaluations" aside={busy ? `${plural(busy, "evaluation")} running now` : "idle"}>
      {rows.length ? <EvaluationTable rows={rows} /> : <Empty>Nothing yet.</Empty>}
    </Card>
  );
}
