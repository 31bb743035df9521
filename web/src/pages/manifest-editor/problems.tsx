/** What the server says of the text, each with its place; one can go there, and have it fixed. */
import type { Schemas } from "../../api/client";
import { plural } from "../../lib/format";
import { Badge, Button } from "../../ui/parts";

export type Finding = Schemas["LintFinding"];
const TONES = { error: "bad", warning: "warn", info: "plain" } as const;

export function Problems({
  findings,
  goTo,
  mend,
}: {
  findings: readonly Finding[];
  goTo: (finding: Finding) => void;
  mend: (finding: Finding) => void;
}) {
  if (!findings.length) return null;
  return (
    <>
      <p className="mb-2 text-sm text-muted">{summary(findings)}</p>
      <ul aria-label="Problems" className="divide-y divide-line rounded-xl border border-line bg-card">
        {findings.map((finding, place) => (
          <li key={place} className="flex flex-wrap items-start gap-x-3 gap-y-1 px-4 py-2.5 text-sm">
            <Badge tone={TONES[finding.severity ?? "error"]}>{finding.severity ?? "error"}</Badge>
            <div className="min-w-0 flex-1 basis-64">
              <button type="button" className="text-left hover:underline" onClick={() => goTo(finding)}>
                <span className="text-muted">{`${finding.line}:${finding.column} `}</span>
                {finding.message}
              </button>
              {finding.hint && <p className="text-muted">{finding.hint}</p>}
              {finding.known.length > 0 && <p className="text-xs text-muted">known: {finding.known.join(", ")}</p>}
            </div>
            {finding.fix.length > 0 && <Button onClick={() => mend(finding)}>Fix</Button>}
            <code className="text-xs text-muted">{finding.code}</code>
          </li>
        ))}
      </ul>
    </>
  );
}

function summary(findings: readonly Finding[]): string {
  const count = (severity: string) => findings.filter((each) => (each.severity ?? "error") === severity).length;
  const parts = [
    [count("error"), "error"],
    [count("warning"), "warning"],
    [count("info"), "hint"],
  ] as const;
  return parts
    .filter(([number]) => number > 0)
    .map(([number, word]) => plural(number, word))
    .join(", ");
}
