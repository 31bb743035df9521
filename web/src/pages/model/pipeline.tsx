/** What happens to an input before the model sees it, and to its answer, block by block in the order written. */
export function Pipeline({ manifest }: { manifest: Record<string, unknown> }) {
  const inputs = steps(manifest.inputs);
  const outputs = steps(manifest.outputs);
  if (!inputs.length && !outputs.length) return null;
  return (
    <ol className="flex flex-wrap items-stretch gap-y-3 text-sm" aria-label="Pipeline">
      {[...inputs, { name: "model", said: "" }, ...outputs].map((step, place) => (
        <li key={place} className="flex items-center">
          {place > 0 && (
            <span aria-hidden="true" className="px-1.5 text-muted">
              →
            </span>
          )}
          <div
            className={`rounded-lg border px-3 py-1.5 ${step.name === "model" ? "border-accent bg-accent-soft font-medium" : "border-line bg-paper"}`}
          >
            <div>{step.name}</div>
            {step.said && <div className="max-w-52 text-xs text-muted [overflow-wrap:anywhere]">{step.said}</div>}
          </div>
        </li>
      ))}
    </ol>
  );
}

interface Block {
  name: string;
  said: string;
}

function steps(sides: unknown): Block[] {
  const found: Block[] = [];
  for (const side of Array.isArray(sides) ? sides : []) {
    const processing = (side as Record<string, unknown>).steps ?? (side as Record<string, unknown>).processing;
    for (const step of Array.isArray(processing) ? processing : []) {
      const { name, parameters } = step as { name?: string; parameters?: Record<string, unknown> };
      if (name) found.push({ name, said: spell(parameters ?? {}) });
    }
  }
  return found;
}

function spell(parameters: Record<string, unknown>): string {
  return Object.entries(parameters)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name} ${Array.isArray(value) ? value.join(" × ") : String(value)}`)
    .join(", ");
}
