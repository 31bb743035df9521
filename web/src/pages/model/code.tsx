/** Code to copy, which has this model evaluated by this server. */
import * as Tabs from "@radix-ui/react-tabs";
import type { Schemas } from "../../api/client";
import { token } from "../../api/client";
import { snippetsOf } from "../../lib/snippets";
import { Copyable } from "../../ui/copy";
import { Card } from "../../ui/parts";
import { useResults } from "./measured";

export function Code({ manifest }: { manifest: Schemas["Manifest"] }) {
  const said = manifest.manifest as Record<string, unknown>;
  const measured = useResults(manifest.name, manifest.version);
  if (measured.isPending) return null;
  const claims = (Array.isArray(said.claims) ? said.claims : []) as { dataset?: unknown }[];
  const datasets = [measured.data?.[0]?.dataset, ...claims.map((claim) => claim.dataset)];
  const dataset = datasets.find((each) => typeof each === "string") as string | undefined;
  const asked = {
    server: location.origin,
    model: `${manifest.name}@${manifest.version}`,
    dataset: typeof said.dataset === "string" ? null : (dataset ?? "DATASET"),
    trains: said.job_type === "training",
    hasToken: token.read() !== null,
  };
  const snippets = snippetsOf(asked);
  return (
    <Card title="Use it from code">
      <Tabs.Root defaultValue="0">
        <Tabs.List aria-label="Language" className="mb-3 flex flex-wrap gap-1">
          {snippets.map(({ name }, place) => (
            <Tabs.Trigger
              key={name}
              value={String(place)}
              className="rounded-lg px-3 py-1 text-sm text-muted data-[state=active]:bg-accent-soft data-[state=active]:text-accent"
            >
              {name}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {snippets.map(({ name, code }, place) => (
          <Tabs.Content key={name} value={String(place)}>
            <Copyable code={code} name={name} />
          </Tabs.Content>
        ))}
      </Tabs.Root>
      {asked.hasToken && (
        <p className="mt-2 text-xs text-muted">
          Put your token into the environment variable <code>MLMODELSCOPE_TOKEN</code>.
        </p>
      )}
      {asked.dataset === "DATASET" && (
        <p className="mt-2 text-xs text-muted">Put the name of a dataset in place of DATASET.</p>
      )}
    </Card>
  );
}
