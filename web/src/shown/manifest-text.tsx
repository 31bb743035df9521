/** A manifest as it was written, and what `mlmodelscope check` says of it. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../api/client";
import { Copy } from "../ui/copy";
import { Fold } from "../ui/fold";
import { Badge, Card } from "../ui/parts";

export function ManifestText({ manifest }: { manifest: Schemas["Manifest"] }) {
  return (
    <Card
      title="Manifest"
      aside={
        <>
          <Link
            to="/manifests/edit"
            search={{ kind: manifest.kind, name: manifest.name, version: manifest.version }}
            className="mr-3"
          >
            Edit
          </Link>
          <Badge>{manifest.digest.slice(0, 12)}</Badge>
        </>
      }
    >
      <Lints text={manifest.text} />
      <Fold title="Show the YAML">
        {() => (
          <div>
            <div className="mb-2 flex justify-end">
              <Copy text={manifest.text} what="the manifest" />
            </div>
            <pre className="max-h-[32rem] overflow-auto rounded-lg bg-paper p-4 font-mono text-xs" tabIndex={0}>
              {manifest.text}
            </pre>
          </div>
        )}
      </Fold>
    </Card>
  );
}

const TONES = { error: "bad", warning: "warn", info: "plain" } as const;

function Lints({ text }: { text: string }) {
  const found = useQuery({
    queryKey: ["check", text],
    queryFn: () => answer(api.POST("/api/v1/manifests/check", { body: { text, fix: false, verbose: true } })),
    staleTime: Infinity,
  });
  const findings = found.data?.findings ?? [];
  if (!found.data) return null;
  if (!findings.length) return <p className="mb-3 text-sm text-muted">No issues.</p>;
  return (
    <ul className="mb-4 space-y-2 text-sm" aria-label="Issues">
      {findings.map((each) => (
        <li key={`${each.code} ${each.line} ${each.message}`} className="flex gap-2.5">
          <span className="shrink-0">
            <Badge tone={TONES[each.severity ?? "info"]}>{`line ${each.line}`}</Badge>
          </span>
          <span>
            {each.message}
            {each.hint && <span className="block text-muted">{each.hint}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}
