import { getRouteApi, Link } from "@tanstack/react-router";
import { ManifestHeading } from "../../shown/manifest-heading";
import { ManifestText } from "../../shown/manifest-text";
import { Records } from "../../shown/records";
import { useManifest } from "../../shown/use-manifest";
import { Card, Trouble, Waiting } from "../../ui/parts";
import { useMay } from "../../ui/shell";
import { Claims } from "./claims";
import { Code } from "./code";
import { ModelFacts } from "./facts";
import { Measured } from "./measured";
import { Pipeline } from "./pipeline";
import { TryIt } from "./try";

const here = getRouteApi("/models/$name");

export function ModelPage() {
  const { name } = here.useParams();
  const { version } = here.useSearch();
  const { manifest, versions, error, again } = useManifest("model", name, version);
  const may = useMay("run");
  if (error)
    return (
      <>
        <Trouble error={error} again={again} />
        <p className="mt-4 text-sm">
          <Link to="/models">All models</Link>
        </p>
        {/* A manifest that was sent along is in no catalog; its records are here all the same. */}
        <div className="mt-6">
          <Records of={{ model: name }} />
        </div>
      </>
    );
  if (!manifest) return <Waiting />;
  const said = manifest.manifest as Record<string, unknown>;
  const training = said.job_type === "training";
  return (
    <>
      <ManifestHeading
        to="/models/$name"
        manifest={manifest}
        versions={versions}
        evaluate={
          training
            ? { words: "Train", search: { model: name, kind: "train" } }
            : { words: "Evaluate", search: { model: name } }
        }
      />
      <div className="space-y-6">
        <TryIt model={name} version={manifest.version} />
        <Card title="What it is">
          <ModelFacts manifest={manifest} />
          <div className="mt-5">
            <Pipeline manifest={said} />
          </div>
          {may && !training && (
            <p className="mt-4 text-sm">
              <Link to="/replications/new" search={{ model: name, kind: "sensitivity" }}>
                What would a mistake in it cost?
              </Link>
            </p>
          )}
        </Card>
        <Measured name={name} version={manifest.version} />
        <Claims name={name} version={manifest.version} />
        <Code manifest={manifest} />
        <Records of={{ model: name }} />
        <ManifestText manifest={manifest} />
      </div>
    </>
  );
}
