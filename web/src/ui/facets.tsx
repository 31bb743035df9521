/** What a list can be narrowed to, with how many there are of each. */

interface Props {
  name: string;
  counts: Record<string, number>;
  /** What is chosen, with commas between. */
  chosen: string | undefined;
  onChange: (chosen: string | undefined) => void;
}

export function Facet({ name, counts, chosen, onChange }: Props) {
  const taken = new Set((chosen ?? "").split(",").filter(Boolean));
  const values = Object.entries(counts)
    .filter(([value, count]) => count > 0 || taken.has(value))
    .sort((one, two) => two[1] - one[1]);
  if (values.length < 2 && !taken.size) return null;
  function toggle(value: string) {
    const next = new Set(taken);
    if (!next.delete(value)) next.add(value);
    onChange([...next].join(",") || undefined);
  }
  return (
    <fieldset className="min-w-0 text-sm">
      <legend className="mb-1.5 text-xs font-medium uppercase tracking-wide text-muted">{name}</legend>
      <div className="max-h-56 space-y-1 overflow-y-auto">
        {values.map(([value, count]) => (
          <label key={value} className="flex items-center gap-2">
            <input type="checkbox" checked={taken.has(value)} onChange={() => toggle(value)} />
            <span className="min-w-0 flex-1 truncate" title={value}>
              {value}
            </span>
            <span className="text-muted">{count}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface All<Name extends string> {
  names: readonly Name[];
  counts: Record<string, Record<string, number>> | undefined;
  chosen: { [name in Name]?: string };
  onChange: (change: { [name in Name]?: string }) => void;
}

export function Facets<Name extends string>({ names, counts, chosen, onChange }: All<Name>) {
  return names.map((name) => (
    <Facet
      key={name}
      name={name}
      counts={counts?.[name] ?? {}}
      chosen={chosen[name]}
      onChange={(value) => onChange({ [name]: value } as { [name in Name]?: string })}
    />
  ));
}
