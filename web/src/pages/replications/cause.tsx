/** The pitfall that was found, what it is, and what to change in the manifest. */
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { Card } from "../../ui/parts";
import { Prose } from "../../ui/prose";

export function Causes({ finding }: { finding: Schemas["Finding"] }) {
  const causes = finding.causes ?? [];
  if (!causes.length) return null;
  const explained = (finding.explained_by ?? []).length;
  const title = !explained
    ? "What explains most of it"
    : causes.length === 1
      ? "The cause"
      : "Causes that cannot be told apart";
  return (
    <Card
      title={title}
      aside={
        <Link to="/manifests/edit" search={{ kind: "model", record: finding.record }}>
          fix it in the editor
        </Link>
      }
    >
      <div className="space-y-8">
        {causes.map((cause) => (
          <Cause key={cause.words} cause={cause} />
        ))}
      </div>
    </Card>
  );
}

function Cause({ cause }: { cause: Schemas["Cause"] }) {
  return (
    <div>
      <h3 className="text-xl">{cause.title}</h3>
      <p className="mt-1 text-muted">{cause.words}</p>
      <Diff lines={cause.edits ?? []} />
      {cause.explanation && (
        <details className="mt-4">
          <summary className="cursor-pointer text-sm text-accent">
            What this pitfall is, and how to check for it
          </summary>
          <Prose text={cause.explanation} />
        </details>
      )}
    </div>
  );
}

function Diff({ lines }: { lines: readonly Schemas["Line"][] }) {
  if (!lines.length) return null;
  return (
    <ul
      aria-label="Change of the manifest"
      className="mt-4 overflow-x-auto rounded-lg border border-line font-mono text-sm"
      tabIndex={0}
    >
      {lines.map((line, at) => (
        <li
          key={at}
          className={`flex min-w-max gap-3 px-4 py-1.5 ${line.sign === "+" ? "bg-good-soft text-good" : "bg-bad-soft text-bad"}`}
        >
          <span aria-hidden="true">{line.sign === "+" ? "+" : "−"}</span>
          <span className="sr-only">{line.sign === "+" ? "instead:" : "the manifest says:"}</span>
          {line.text}
        </li>
      ))}
    </ul>
  );
}
