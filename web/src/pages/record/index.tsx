import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import * as Tabs from "@radix-ui/react-tabs";
import { answer, api, type Schemas } from "../../api/client";
import { ago, plural } from "../../lib/format";
import { RecordRemarks } from "../../shown/remarks";
import { AddToComparison } from "../../ui/add-to-comparison";
import { Badge, Heading, Trouble, Waiting } from "../../ui/parts";
import { TAB, TAB_LIST } from "../../ui/tab-looks";
import { Again } from "./again";
import { Classes } from "./classes";
import { Downloads } from "./downloads";
import { Environment } from "./environment";
import type { Look } from "./look";
import { Overview } from "./overview";
import { Samples } from "./samples";

const here = getRouteApi("/records/$id");

export function RecordPage() {
  const { id } = here.useParams();
  const found = useQuery({
    queryKey: ["record", id],
    queryFn: () => answer(api.GET("/api/v1/records/{name}", { params: { path: { name: id } } })),
    refetchInterval: (query) => (query.state.data?.status === "running" ? 5000 : false),
  });
  if (found.error) return <Trouble error={found.error} again={() => void found.refetch()} />;
  if (!found.data) return <Waiting />;
  const record = found.data;
  return (
    <>
      <Heading
        title={
          <>
            <ModelLink record={record} />{" "}
            <span className="font-normal text-muted">
              on <DatasetLink name={record.plan.dataset.name} />
            </span>
          </>
        }
        about={<About record={record} />}
        actions={
          <>
            <AddToComparison record={record.id} />
            <Again record={record} />
            {record.status === "finished" && <Downloads record={record} />}
          </>
        }
      />
      <Parts record={record} />
      <div className="mt-6">
        <RecordRemarks record={record.id} />
      </div>
    </>
  );
}

/** The model's page, or where the catalog has none, the manifest that the record was made from. */
function ModelLink({ record }: { record: Schemas["Record"] }) {
  const { name } = record.plan.model;
  const missing = useQuery({
    queryKey: ["versions", "model", name],
    queryFn: () => answer(api.GET("/api/v1/manifests/{kind}/{name}", { params: { path: { kind: "model", name } } })),
    retry: false,
  }).isError;
  return missing ? (
    <Link to="/manifests/edit" search={{ kind: "model", record: record.id }} className="text-ink">
      {name}
    </Link>
  ) : (
    <Link to="/models/$name" params={{ name }} className="text-ink">
      {name}
    </Link>
  );
}

/** The dataset's page; one that only the record knows, such as random numbers, has none. */
function DatasetLink({ name }: { name: string }) {
  const known = useQuery({
    queryKey: ["versions", "dataset", name],
    queryFn: () => answer(api.GET("/api/v1/manifests/{kind}/{name}", { params: { path: { kind: "dataset", name } } })),
    retry: false,
  }).isSuccess;
  return known ? (
    <Link to="/datasets/$name" params={{ name }} className="text-muted underline">
      {name}
    </Link>
  ) : (
    name
  );
}

function About({ record }: { record: Schemas["Record"] }) {
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
      <Badge tone="accent">{record.bench ? `bench, ${record.bench.scenario}` : kindOf(record)}</Badge>
      <span>
        {[record.samples ? plural(record.samples, "sample") : "", record.plan.predictor.name, record.machine.cpu]
          .filter(Boolean)
          .join(" · ")}
      </span>
      <span title={record.created_at}>{ago(record.finished_at ?? record.created_at)}</span>
      <code className="text-xs">{record.id}</code>
    </span>
  );
}

export function kindOf(record: Schemas["Record"]): string {
  if (record.bench) return "bench";
  if (record.training) return "training";
  return record.profile ? "profile" : "evaluation";
}

function Parts({ record }: { record: Schemas["Record"] }) {
  const look = here.useSearch();
  const navigate = useNavigate({ from: "/records/$id" });
  const hasSamples = record.status === "finished" && kindOf(record) === "evaluation" && record.samples > 0;
  const parts: [string, string, boolean][] = [
    ["overview", "Overview", true],
    ["samples", `Samples`, hasSamples],
    ["classes", "Classes", hasSamples && record.details?.per_class != null],
    ["environment", "Environment", true],
  ];
  const shown = parts.filter(([, , isThere]) => isThere);
  const tab = shown.some(([key]) => key === look.tab) ? look.tab! : "overview";
  return (
    <Tabs.Root
      value={tab}
      onValueChange={(key) =>
        void navigate({ search: { tab: key === "overview" ? undefined : (key as Look["tab"]) }, resetScroll: false })
      }
    >
      <Tabs.List aria-label="Parts of the record" className={TAB_LIST}>
        {shown.map(([key, name]) => (
          <Tabs.Trigger key={key} value={key} className={TAB}>
            {name}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      <Tabs.Content value="overview" tabIndex={-1}>
        <Overview record={record} />
      </Tabs.Content>
      {hasSamples && (
        <Tabs.Content value="samples" tabIndex={-1}>
          <Samples record={record} />
        </Tabs.Content>
      )}
      {hasSamples && (
        <Tabs.Content value="classes" tabIndex={-1}>
          <Classes record={record} />
        </Tabs.Content>
      )}
      <Tabs.Content value="environment" tabIndex={-1}>
        <Environment record={record} />
      </Tabs.Content>
    </Tabs.Root>
  );
}
