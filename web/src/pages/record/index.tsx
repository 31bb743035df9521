import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { answer, api, headers, type Schemas } from "../../api/client";
import { digits, percent, plural } from "../../lib/format";
import { AddToComparison } from "../../ui/add-to-comparison";
import { TraceLink } from "../../ui/trace-link";
import { Badge, Button, Card, Fact, Facts, Figure, Heading, Trouble, Waiting } from "../../ui/parts";
import { Samples } from "./samples";

const Latencies = lazy(() => import("./latencies"));
const here = getRouteApi("/records/$id");

export function RecordPage() {
  const { id } = here.useParams();
  const found = useQuery({
    queryKey: ["record", id],
    queryFn: () => answer(api.GET("/api/v1/records/{name}", { params: { path: { name: id } } })),
  });
  if (found.error) return <Trouble error={found.error} again={() => void found.refetch()} />;
  if (!found.data) return <Waiting />;
  const record = found.data;
  const { model, dataset, stack, predictor } = record.plan;
  return (
    <>
      <Heading
        title={
          <>
            <Link to="/models/$name" params={{ name: model.name }} className="text-ink">
              {model.name}
            </Link>{" "}
            <span className="font-normal text-muted">on {dataset.name}</span>
          </>
        }
        about={
          <>
            {plural(record.samples, "sample")}, {predictor.name}, {record.machine.cpu} · <code>{record.id}</code>
          </>
        }
        actions={
          <>
            <AddToComparison record={record.id} />
            {record.profile && <TraceLink record={record.id} />}
            <Downloads id={record.id} />
          </>
        }
      />
      <div className="space-y-6">
        <Numbers record={record} />
        {record.notes.length > 0 && (
          <Card title="Notes">
            <ul className="list-disc space-y-1 pl-5 text-sm">
              {record.notes.map((note) => (
                <li key={note}>{note}</li>
              ))}
            </ul>
          </Card>
        )}
        {record.latency && (
          <Card
            title="Latency"
            aside={`batch ${record.latency.batch_size}, ${plural(record.latency.raw_ns.length, "run")}`}
          >
            <Suspense fallback={<Waiting />}>
              <Latencies raw={record.latency.raw_ns} />
            </Suspense>
          </Card>
        )}
        <Samples record={record} />
        <Card title="Where and with what">
          <Facts>
            <Fact name="Machine">
              {record.machine.hostname}, {record.machine.cpu}
            </Fact>
            <Fact name="Stack">{stack.name}</Fact>
            <Fact name="Packages">
              {Object.entries(stack.packages ?? {})
                .map(([name, version]) => `${name} ${version}`)
                .join(", ") || "–"}
            </Fact>
            <Fact name="Plan">
              <code>{record.plan_digest.slice(0, 16)}</code>
            </Fact>
          </Facts>
        </Card>
      </div>
    </>
  );
}

function Numbers({ record }: { record: Schemas["Record"] }) {
  const { top1, top5 } = record.metrics;
  const p50 = record.latency?.p50_s;
  const between = (found: { low: number; high: number }) =>
    `95 % between ${percent(found.low, 1)} and ${percent(found.high, 1)}`;
  return (
    <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
      {top1 && <Figure name="Top-1" value={percent(top1.value)} beside={between(top1)} />}
      {top5 && <Figure name="Top-5" value={percent(top5.value)} beside={between(top5)} />}
      {p50 && (
        <Figure
          name="Latency, median"
          value={`${digits(1000 * p50.value)} ms`}
          beside={`95 % between ${digits(1000 * p50.low)} and ${digits(1000 * p50.high)} ms`}
        />
      )}
      <Figure
        name="Samples"
        value={record.samples.toLocaleString("en")}
        beside={record.failed ? <Badge tone="bad">{plural(record.failed, "failure")}</Badge> : "all answered"}
      />
    </div>
  );
}

const FORMS = [
  ["report?form=html", "Report", "html"],
  ["report?form=json", "JSON", "json"],
  ["report?form=csv", "CSV", "csv"],
  ["log", "Reference log", "yml"],
  ["bundle", "Bundle", "zip"],
] as const;

function Downloads({ id }: { id: string }) {
  async function save(path: string, ending: string) {
    const response = await fetch(`/api/v1/records/${id}/${path}`, { headers: headers() });
    if (!response.ok) return;
    const url = URL.createObjectURL(await response.blob());
    const link = Object.assign(document.createElement("a"), { href: url, download: `${id}.${ending}` });
    link.click();
    URL.revokeObjectURL(url);
  }
  return (
    <>
      {FORMS.map(([path, name, ending]) => (
        <Button key={name} onClick={() => void save(path, ending)}>
          {name}
        </Button>
      ))}
    </>
  );
}
