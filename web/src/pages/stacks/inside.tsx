/** What a stack consists of: Python, packages with their versions, how firmly they are locked, and what is around. */
import type { Schemas } from "../../api/client";
import { lockOf, packagesOf } from "../../lib/requirements";
import { useManifest } from "../../shown/use-manifest";
import { Copy } from "../../ui/copy";
import { Fact, Facts, Trouble, Waiting } from "../../ui/parts";
import { Table } from "../../ui/table";

type Said = Record<string, unknown>;
interface Stack {
  python?: string;
  requirements?: string[];
  system_packages?: string[];
  root?: string;
  architecture?: string;
  index_url?: string;
}

export const stackOf = (manifest: Schemas["Manifest"]): Stack => ((manifest.manifest as Said).stack ?? {}) as Stack;

export function Inside({ name }: { name: string }) {
  const { manifest, error, again } = useManifest("software", name, undefined);
  if (error) return <Trouble error={error} again={again} />;
  if (!manifest) return <Waiting />;
  const said = manifest.manifest as Said;
  const stack = stackOf(manifest);
  const packages = packagesOf(stack.requirements);
  const env = Object.entries((said.env ?? {}) as Record<string, string>);
  const images = Object.entries((said.container ?? {}) as Record<string, Said>);
  return (
    <div className="space-y-4">
      <Facts>
        <Fact name="Version">{manifest.version}</Fact>
        <Fact name="Python">{stack.python ?? "any"}</Fact>
        <Fact name="Lock">{lockOf(packages)}</Fact>
        {stack.root && <Fact name="Root file system">{stack.root}</Fact>}
        {stack.architecture && <Fact name="Architecture">{stack.architecture}</Fact>}
        {env.map(([variable, value]) => (
          <Fact key={variable} name={variable}>
            {value}
          </Fact>
        ))}
        {images.map(([architecture, { cpu, gpu }]) => (
          <Fact key={architecture} name={`Image, ${architecture}`}>
            {[cpu, gpu].filter(Boolean).join(", ")}
          </Fact>
        ))}
      </Facts>
      {packages.length > 0 && (
        <>
          <div className="max-h-96 overflow-auto" tabIndex={0} role="region" aria-label={`All packages of ${name}`}>
            <Table
              name={`Packages of ${name}`}
              rows={packages}
              identity={(row) => row.name}
              columns={[
                { title: "Package", cell: (row) => row.name },
                { title: "Version", cell: (row) => row.version || "any" },
                { title: "Hashes", right: true, cell: (row) => row.hashes || "–" },
              ]}
            />
          </div>
          <div className="flex items-center gap-3 text-xs text-muted">
            <Copy text={`${stack.requirements!.join("\n")}\n`} what={`lock of ${name}`} />
            as a requirements file for pip
          </div>
        </>
      )}
      {(stack.system_packages ?? []).length > 0 && (
        <p className="text-xs text-muted [overflow-wrap:anywhere]">
          {`System packages: ${stack.system_packages!.join(", ")}`}
        </p>
      )}
    </div>
  );
}
