import { getRouteApi, Link } from "@tanstack/react-router";
import { plural } from "../lib/format";
import { ManifestText } from "../shown/manifest-text";
import { Records } from "../shown/records";
import { useManifest } from "../shown/use-manifest";
import { Versions } from "../shown/versions";
import { Card, Fact, Facts, Heading, LOOKS, Trouble, Waiting } from "../ui/parts";
import { useMay } from "../ui/shell";

const here = getRouteApi("/datasets/$name");

export function DatasetPage() {
  const { name } = here.useParams();
  const { version } = here.useSearch();
  const { manifest, versions, error, again } = useManifest("dataset", name, version);
  const may = useMay("run");
  if (error) return <Trouble error={error} again={again} />;
  if (!manifest) return <Waiting />;
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
        actions={
          <>
            <Versions to="/datasets/$name" name={name} items={versions} chosen={manifest.version} />
            {may && (
              <Link to="/new" search={{ dataset: name }} className={LOOKS.main}>
                Evaluate a model on it
              </Link>
            )}
          </>
        }
      />
      <div className="space-y-6">
        <Card title="What it is">
          <Facts>
            <Fact name="Task">{(manifest.task ?? "–").replaceAll("_", " ")}</Fact>
            <Fact name="Samples">{typeof said.size === "number" ? plural(said.size, "sample") : "not said"}</Fact>
            <Fact name="Format">{String(said.format ?? "–")}</Fact>
            <Fact name="Licence">{String(said.licence ?? "–")}</Fact>
          </Facts>
        </Card>
        <Records of={{ dataset: name }} />
        <ManifestText manifest={manifest} />
      </div>
    </>
  );
}
