import { getRouteApi } from "@tanstack/react-router";
import { plural } from "../lib/format";
import { ManifestHeading } from "../shown/manifest-heading";
import { ManifestText } from "../shown/manifest-text";
import { Records } from "../shown/records";
import { useManifest } from "../shown/use-manifest";
import { Card, Fact, Facts, Trouble, Waiting } from "../ui/parts";

const here = getRouteApi("/datasets/$name");

export function DatasetPage() {
  const { name } = here.useParams();
  const { version } = here.useSearch();
  const { manifest, versions, error, again } = useManifest("dataset", name, version);
  if (error) return <Trouble error={error} again={again} />;
  if (!manifest) return <Waiting />;
  const said = manifest.manifest as Record<string, unknown>;
  return (
    <>
      <ManifestHeading
        to="/datasets/$name"
        manifest={manifest}
        versions={versions}
        evaluate={{ words: "Evaluate a model on it", search: { dataset: name } }}
      />
      <div className="space-y-6">
        <Card title="What it is">
          <Facts>
            <Fact name="Task">{(manifest.task ?? "–").replaceAll("_", " ")}</Fact>
            <Fact name="Samples">{typeof said.size === "number" ? plural(said.size, "sample") : "unspecified"}</Fact>
            <Fact name="Format">{String(said.format ?? "–")}</Fact>
            <Fact name="License">{String(said.license ?? "–")}</Fact>
          </Facts>
        </Card>
        <Records of={{ dataset: name }} />
        <ManifestText manifest={manifest} />
      </div>
    </>
  );
}
