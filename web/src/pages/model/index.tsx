import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../../api/client";
import { ago } from "../../lib/format";
import { AddToComparison } from "../../ui/add-to-comparison";
import { Badge, Card, Empty, Fact, Facts, Heading, Trouble, Verdict, Waiting } from "../../ui/parts";
import { Table } from "../../ui/table";
import { Pipeline } from "./pipeline";
import { TryIt } from "./try";

const here = getRouteApi("/models/$name");

export function ModelPage() {
  const { name } = here.useParams();
  const search = here.useSearch();
  const versions = useQuery({
    queryKey: ["versions", name],
    queryFn: () => answer(api.GET("/api/v1/manifests/{kind}/{name}", { params: { path: { kind: "model", name } } })),
  });
  const version = search.version ?? versions.data?.items[0]?.version;
  const found = useQuery({
    queryKey: ["manifest", "model", name, version],
    queryFn: () =>
      answer(
        api.GET("/api/v1/manifests/{kind}/{name}/{version}", {
          params: { path: { kind: "model", name, version: version! } },
        }),
      ),
    enabled: version !== undefined,
  });
  if (versions.error) return <Trouble error={versions.error} again={() => void versions.refetch()} />;
  if (found.error) return <Trouble error={found.error} again={() => void found.refetch()} />;
  if (!found.data) return <Waiting />;
  const manifest = found.data;
  const said = manifest.manifest as Record<string, unknown>;
  return (
    <>
      <Heading
        title={
          <>
            {name} <span className="text-2xl font-normal text-muted">{manifest.version}</span>
          </>
        }
        about={manifest.description}
        actions={<Versions name={name} items={versions.data?.items ?? []} chosen={manifest.version} />}
      />
      <div className="space-y-6">
        <TryIt model={name} version={manifest.version} />
        <Card title="What it is">
          <Facts>
            <Fact name="Task">{(manifest.task ?? "–").replaceAll("_", " ")}</Fact>
            <Fact name="Framework">{manifest.framework ?? "–"}</Fact>
            <Fact name="Licence">{String(said.licence ?? "–")}</Fact>
            <Fact name="Author">{String(said.author ?? manifest.owner ?? "–")}</Fact>
          </Facts>
          <div className="mt-5">
            <Pipeline manifest={said} />
          </div>
        </Card>
        <Claims name={name} version={manifest.version} />
        <Records name={name} />
        <Card title="Manifest" aside={<Badge>{manifest.digest.slice(0, 12)}</Badge>}>
          <pre className="max-h-[32rem] overflow-auto rounded-lg bg-paper p-4 font-mono text-xs" tabIndex={0}>
            {manifest.text}
          </pre>
        </Card>
      </div>
    </>
  );
}

function Versions({ name, items, chosen }: { name: string; items: Schemas["Version"][]; chosen: string }) {
  if (items.length < 2) return null;
  return (
    <nav aria-label="Versions" className="flex flex-wrap gap-2 text-sm">
      {items.map((each) => (
        <Link
          key={each.version}
          to="/models/$name"
          params={{ name }}
          search={{ version: each.version }}
          className={`rounded-lg border px-2.5 py-1 ${each.version === chosen ? "border-accent text-accent" : "border-line text-muted"}`}
        >
          {each.version}
        </Link>
      ))}
    </nav>
  );
}

function Claims({ name, version }: { name: string; version: string }) {
  const found = useQuery({
    queryKey: ["claims", name, version],
    queryFn: () => answer(api.GET("/api/v1/claims", { params: { query: { model: name } } })),
  });
  const claims = found.data?.items.filter((claim) => claim.version === version) ?? [];
  if (found.error) return <Trouble error={found.error} />;
  if (!claims.length) return null;
  return (
    <Card title="Claims">
      <Table
        name="Claims"
        rows={claims}
        identity={(claim) => `${claim.metric} ${claim.dataset} ${claim.value}`}
        columns={[
          { title: "Metric", cell: (claim) => claim.metric },
          { title: "Claimed", right: true, cell: (claim) => `${claim.value} %` },
          { title: "On", cell: (claim) => claim.dataset ?? "–" },
          {
            title: "Measured",
            right: true,
            cell: (claim) =>
              claim.measured
                ? `${claim.measured.value.toFixed(2)} % (${claim.measured.low.toFixed(1)} … ${claim.measured.high.toFixed(1)})`
                : "–",
          },
          { title: "Verdict", cell: (claim) => <Verdict of={claim.verdict} /> },
          { title: "Because", cell: (claim) => claim.explained_by?.join(", ") || "" },
        ]}
      />
    </Card>
  );
}

function Records({ name }: { name: string }) {
  const found = useQuery({
    queryKey: ["records", name],
    queryFn: () => answer(api.GET("/api/v1/records", { params: { query: { model: name, limit: 50 } } })),
  });
  if (found.error) return <Trouble error={found.error} />;
  if (!found.data) return <Waiting />;
  return (
    <Card title="Records">
      {found.data.items.length ? (
        <Table
          name="Records"
          rows={found.data.items}
          identity={(row) => row.id}
          columns={[
            {
              title: "Record",
              cell: (row) => (
                <Link to="/records/$id" params={{ id: row.id }}>
                  <code>{row.id}</code>
                </Link>
              ),
            },
            { title: "Kind", cell: (row) => (row.scenario ? `${row.kind}, ${row.scenario}` : row.kind) },
            { title: "Dataset", cell: (row) => row.dataset },
            {
              title: "Top-1",
              right: true,
              cell: (row) => (row.top1 == null ? "–" : `${(100 * row.top1).toFixed(2)} %`),
            },
            { title: "Samples", right: true, cell: (row) => row.samples.toLocaleString("en") },
            { title: "When", right: true, cell: (row) => ago(row.created_at) },
            { title: "Compare", right: true, cell: (row) => <AddToComparison record={row.id} brief /> },
          ]}
        />
      ) : (
        <Empty>It was not evaluated here yet.</Empty>
      )}
    </Card>
  );
}
