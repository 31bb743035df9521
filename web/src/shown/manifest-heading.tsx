/** What a manifest's page is called, its other versions, and what can be done with it by those who may. */
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../api/client";
import { Heading, LOOKS } from "../ui/parts";
import { useMay } from "../ui/shell";
import { RemoveManifest } from "./remove-manifest";
import { Versions } from "./versions";

interface Props {
  to: "/models/$name" | "/datasets/$name";
  manifest: Schemas["Manifest"];
  versions: Schemas["Version"][];
  evaluate: { words: string; search: { model?: string; dataset?: string; kind?: string } };
}

export function ManifestHeading({ to, manifest, versions, evaluate }: Props) {
  const may = useMay("run");
  return (
    <Heading
      title={
        <>
          {manifest.name} <span className="text-2xl font-normal text-muted">{manifest.version}</span>
        </>
      }
      about={manifest.description}
      actions={
        <>
          <Versions to={to} name={manifest.name} items={versions} chosen={manifest.version} />
          <RemoveManifest manifest={manifest} to={to === "/models/$name" ? "/models" : "/datasets"} />
          {may && (
            <Link to="/new" search={evaluate.search} className={LOOKS.main}>
              {evaluate.words}
            </Link>
          )}
        </>
      }
    />
  );
}
