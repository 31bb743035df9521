import { getRouteApi, Link } from "@tanstack/react-router";
import { ManifestText } from "../../shown/manifest-text";
import { Records } from "../../shown/records";
import { useManifest } from "../../shown/use-manifest";
import { Versions } from "../../shown/versions";
import { Card, Fact, Facts, Heading, LOOKS, Trouble, Waiting } from "../../ui/parts";
import { useMay } from "../../ui/shell";
import { Claims } from "./claims";
import { Pipeline } from "./pipeline";
import { TryIt } from "./try";

const here = getRouteApi("/models/$name");

export function ModelPage() {
  const { name } = here.useParams();
  const { version } = here.useSearch();
  const { manifest, versions, error, again } = useManifest("model", name, version);
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
            <Versions to="/models/$name" name={name} items={versions} chosen={manifest.version} />
            {may && (
              <Link to="/new" search={{ model: name }} className={LOOKS.main}>
                Evaluate
              </Link>
            )}
          </>
        }
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
          {may && (
            <p className="mt-4 text-sm">
              <Link to="/replications/new" search={{ model: name, kind: "sensitivity" }}>
                What would a mistake in it cost?
              </Link>
            </p>
          )}
        </Card>
        <Claims name={name} version={manifest.version} />
        <Records of={{ model: name }} />
        <ManifestText manifest={manifest} />
      </div>
    </>
  );
}
