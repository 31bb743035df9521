/** A dataset: some of its samples, its classes and splits, how to obtain it, and what was measured on it. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { answer, api, Problem } from "../../api/client";
import { plural } from "../../lib/format";
import { ManifestHeading } from "../../shown/manifest-heading";
import { ManifestText } from "../../shown/manifest-text";
import { Records } from "../../shown/records";
import { References } from "../../shown/references";
import { useManifest } from "../../shown/use-manifest";
import { Card, Fact, Facts, Trouble, Waiting } from "../../ui/parts";
import { Classes } from "./classes";
import { Obtain } from "./obtain";
import { Results } from "./results";
import { Samples } from "./samples";

const here = getRouteApi("/datasets/$name");
type Said = Record<string, unknown>;

export function DatasetPage() {
  const { name } = here.useParams();
  const { version } = here.useSearch();
  const { manifest, versions, error, again } = useManifest("dataset", name, version);
  const isNewest = manifest !== undefined && manifest.version === versions[0]?.version;
  // Whether there are samples here; the strip asks for the same, so that this is no question of its own.
  const probe = useQuery({
    queryKey: ["dataset samples", name, 0],
    queryFn: () =>
      answer(
        api.GET("/api/v1/datasets/{name}/samples", { params: { path: { name }, query: { start: 0, limit: 12 } } }),
      ),
    retry: false,
    enabled: isNewest,
  });
  if (error) return <Trouble error={error} again={again} />;
  if (!manifest) return <Waiting />;
  const said = manifest.manifest as Said;
  const missing = probe.error instanceof Problem && probe.error.kind.endsWith("NoPictures") ? probe.error : null;
  return (
    <>
      <ManifestHeading
        to="/datasets/$name"
        manifest={manifest}
        versions={versions}
        evaluate={{ words: "Evaluate a model on it", search: { dataset: name } }}
      />
      <div className="space-y-6">
        {isNewest && !missing && <Samples key={name} name={name} />}
        {missing && <Obtain name={name} manifest={said} why={missing} />}
        <Card title="What it is">
          <Facts>
            <Fact name="Task">{(manifest.task ?? "–").replaceAll("_", " ")}</Fact>
            <Fact name="Samples">{sizeOf(said, probe.data?.total)}</Fact>
            <Fact name="Format">{String(said.format ?? "–")}</Fact>
            <Fact name="License">{String(said.license ?? said.licence ?? "unknown")}</Fact>
            {said.author != null && <Fact name="Author">{String(said.author)}</Fact>}
            {said.split != null && <Fact name="Split">{String(said.split)}</Fact>}
          </Facts>
          <Splits splits={said.splits} />
          <References references={said.references} />
        </Card>
        {isNewest && <Classes name={name} />}
        <Results name={name} version={manifest.version} />
        <Records of={{ dataset: name }} />
        <ManifestText manifest={manifest} />
      </div>
    </>
  );
}

function sizeOf(said: Said, found: number | undefined): string {
  const size = typeof said.size === "number" ? said.size : found;
  return size === undefined ? "unknown" : plural(size, "sample");
}

function Splits({ splits }: { splits: unknown }) {
  const known = Object.entries((splits ?? {}) as Record<string, Said>);
  if (!known.length) return null;
  return (
    <div className="mt-4 text-sm">
      <h3 className="text-xs font-normal text-muted">Splits</h3>
      <ul className="mt-1 flex flex-wrap gap-x-6 gap-y-1">
        {known.map(([name, { size }]) => (
          <li key={name}>
            {name}
            {typeof size === "number" && <span className="text-muted">{`, ${plural(size, "sample")}`}</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}
