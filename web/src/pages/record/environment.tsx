/** Where and with what: all that somebody needs to get the same numbers. */
import { useQuery } from "@tanstack/react-query";
import { answer, api, type Schemas } from "../../api/client";
import { bytes } from "../../lib/format";
import { Card, Fact, Facts } from "../../ui/parts";
import { Table } from "../../ui/table";
import { called, seconds } from "./numbers";

export function Environment({ record }: { record: Schemas["Record"] }) {
  return (
    <div className="space-y-6">
      <Machine of={record.machine} settings={record.settings} />
      <Software record={record} />
      <Options plan={record.plan} />
      <Sources record={record} />
      <Command id={record.id} />
    </div>
  );
}

function Machine({ of, settings }: { of: Schemas["Machine"]; settings: Schemas["Setting"][] }) {
  const yes = (flag: boolean | null) => (flag === null ? "–" : flag ? "yes" : "no");
  return (
    <Card title="Machine" aside={of.hostname}>
      <Facts>
        <Fact name="Processor">{of.cpu}</Fact>
        <Fact name="Architecture">{of.architecture}</Fact>
        <Fact name="Cores">{of.cores}</Fact>
        <Fact name="Memory">{bytes(of.memory_bytes)}</Fact>
        <Fact name="Accelerators">{of.gpus.join("; ") || "none"}</Fact>
        <Fact name="System">{of.system}</Fact>
        <Fact name="Frequency governor">{of.governor ?? "–"}</Fact>
        <Fact name="Turbo">{yes(of.turbo)}</Fact>
        <Fact name="Threads share cores">{yes(of.smt)}</Fact>
        {of.container && <Fact name="Container">{of.container}</Fact>}
        {Object.entries(of.caches).map(([name, size]) => (
          <Fact key={name} name={`Cache ${name}`}>
            {size}
          </Fact>
        ))}
        {settings.length > 0 && (
          <Fact name="Set meanwhile">{`${settings.length} settings of the hardware manifest`}</Fact>
        )}
      </Facts>
    </Card>
  );
}

function Software({ record }: { record: Schemas["Record"] }) {
  const { stack, predictor } = record.plan;
  const packages = Object.entries(record.stack?.packages ?? stack.packages).sort(([a], [b]) => a.localeCompare(b));
  return (
    <Card title="Software" aside={stack.name === "current" ? "the Python that the agent runs in" : stack.name}>
      <Facts>
        <Fact name="Framework">{predictor.name ?? "the manifest's own code"}</Fact>
        <Fact name="Python">
          {record.stack ? `${record.stack.implementation} ${record.stack.python}` : stack.python}
        </Fact>
        <Fact name="MLModelScope">{record.worker_version}</Fact>
        <Fact name="Model loaded in">{seconds(record.load_s)}</Fact>
        {Object.entries(stack.packages).map(([name, version]) => (
          <Fact key={name} name={name}>
            {version}
          </Fact>
        ))}
        {Object.entries(stack.environment).map(([name, value]) => (
          <Fact key={name} name={`$${name}`}>
            {value}
          </Fact>
        ))}
      </Facts>
      {packages.length > 0 && (
        <details className="mt-4 text-sm">
          <summary className="cursor-pointer text-accent">{`All ${packages.length} packages`}</summary>
          <p
            className="mt-2 max-h-64 columns-2 overflow-y-auto font-mono text-xs sm:columns-3 lg:columns-4"
            tabIndex={0}
          >
            {packages.map(([name, version]) => (
              <span key={name} className="block">{`${name} ${version}`}</span>
            ))}
          </p>
        </details>
      )}
      <Builds of={record.stack?.builds ?? {}} />
    </Card>
  );
}

/** How the framework and the libraries beside it were compiled, as each tells it of itself. */
function Builds({ of }: { of: Record<string, Schemas["BuildRecord"]> }) {
  const builds = Object.entries(of);
  if (builds.length === 0) return null;
  const spell = (value: string | string[]) => (typeof value === "string" ? value : value.join(", "));
  return (
    <details className="mt-2 text-sm">
      <summary className="cursor-pointer text-accent">How it was built</summary>
      {builds.map(([library, build]) => (
        <section key={library} className="mt-3">
          <h3 className="font-semibold">{library === "process" ? "loaded by the worker" : library}</h3>
          <dl className="font-mono text-xs [overflow-wrap:anywhere]">
            {Object.entries(build).map(([name, value]) =>
              value == null || value.length === 0 ? null : (
                <div key={name}>
                  <dt className="inline text-muted">{`${called(name)}: `}</dt>
                  <dd className="inline">{spell(value)}</dd>
                </div>
              ),
            )}
          </dl>
        </section>
      ))}
    </details>
  );
}

function Options({ plan }: { plan: Schemas["Plan"] }) {
  const spell = (value: unknown) => (typeof value === "object" ? JSON.stringify(value) : String(value));
  const { subset } = plan.dataset;
  const facts: [string, unknown][] = [
    ["Task", plan.task.replaceAll("_", " ")],
    ["Batch size", plan.scenario.batch_size],
    ["Samples taken", subset.count ?? "all"],
    ["Of every class the same share", subset.count == null ? null : subset.stratified ? "yes" : "no"],
    ["Seed", plan.seed],
    ["Answers kept", plan.answer?.top_k],
    ...Object.entries(plan.predictor.options).map(([name, value]): [string, unknown] => [called(name), value]),
    ...Object.entries(plan.hyperparameters).map(([name, value]): [string, unknown] => [called(name), value]),
  ];
  return (
    <Card title="Options">
      <Facts>
        {facts
          .filter(([, value]) => value !== null && value !== undefined)
          .map(([name, value]) => (
            <Fact key={name} name={name}>
              {spell(value)}
            </Fact>
          ))}
      </Facts>
    </Card>
  );
}

function Sources({ record }: { record: Schemas["Record"] }) {
  const rows = [
    ...Object.entries(record.plan.manifests).map(([kind, each]) => ({
      what: `${kind} manifest`,
      name: `${each.name} ${each.version}`,
      digest: each.digest,
    })),
    { what: "plan", name: record.id, digest: record.plan_digest },
    { what: "worker's code", name: record.worker_version, digest: record.worker_digest },
  ];
  return (
    <Card title="Digests" aside="the same digest is the same thing">
      <Table
        name="Digests"
        rows={rows}
        identity={(row) => row.what}
        columns={[
          { title: "What", cell: (row) => row.what },
          { title: "Which", cell: (row) => row.name },
          { title: "Digest", cell: (row) => <code className="text-xs [overflow-wrap:anywhere]">{row.digest}</code> },
        ]}
      />
    </Card>
  );
}

function Command({ id }: { id: string }) {
  const found = useQuery({
    queryKey: ["record request", id],
    queryFn: () => answer(api.GET("/api/v1/records/{name}/request", { params: { path: { name: id } } })),
  });
  if (!found.data) return null;
  return (
    <Card title="The same at a command line">
      <pre className="overflow-x-auto rounded-lg bg-paper p-3 font-mono text-xs" tabIndex={0}>
        {found.data.command}
      </pre>
    </Card>
  );
}
