/** Filters of the table of records: words first, the rest folded until one of them is chosen. */
import { useQuery } from "@tanstack/react-query";
import { answer, api } from "../../api/client";
import { INPUT, Select } from "../../ui/field";
import { Fold } from "../../ui/fold";
import { Button } from "../../ui/parts";
import { SearchBox } from "../../ui/search-box";
import { FILTERS, type Look, type Sort, SORTS, isDescending, sortOf } from "./search";

const TITLES: Record<(typeof FILTERS)[number], string> = {
  kind: "Kind",
  task: "Task",
  dataset: "Dataset",
  stack: "Stack",
  machine: "Machine",
  tag: "Tag",
};

interface Props {
  look: Look;
  onChange: (look: Look, replace?: boolean) => void;
}

export function Filters({ look, onChange }: Props) {
  const set = (changes: Look) => onChange({ ...look, ...changes, start: undefined });
  const folded = [...FILTERS, "pinned", "intermediate", "since", "until"] as const;
  const count = folded.filter((name) => look[name]).length;
  return (
    <div className="mb-4 space-y-3">
      <div className="flex flex-wrap items-end gap-3">
        <div className="w-full sm:w-80">
          <SearchBox
            value={look.q}
            onChange={(q) => onChange({ ...look, q, start: undefined }, true)}
            hint="Model, dataset, task, machine"
          />
        </div>
        <Order look={look} onChange={onChange} />
      </div>
      <Fold title={count ? `Filters (${count})` : "Filters"} open={count > 0}>
        {() => (
          <>
            <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
              <Choices look={look} set={set} />
              <Select
                label="Pinned"
                value={look.pinned ?? ""}
                onChange={(pinned) => set({ pinned: pinned || undefined })}
                options={[
                  ["", "any"],
                  ["yes", "pinned"],
                  ["no", "not pinned"],
                ]}
              />
              <Select
                label="Intermediate records"
                value={look.intermediate ?? ""}
                onChange={(intermediate) => set({ intermediate: intermediate || undefined })}
                options={[
                  ["", "hide"],
                  ["show", "show"],
                ]}
              />
              <Day label="From" value={look.since} onChange={(since) => set({ since })} />
              <Day label="To" value={look.until} onChange={(until) => set({ until })} />
            </div>
            {count > 0 && (
              <Button
                className="mt-3"
                onClick={() => set(Object.fromEntries(folded.map((name) => [name, undefined])) as Look)}
              >
                Clear filters
              </Button>
            )}
          </>
        )}
      </Fold>
    </div>
  );
}

/** What records have, as the server counts it; a value of the address is offered even where no record has it. */
function Choices({ look, set }: { look: Look; set: (changes: Look) => void }) {
  const { data } = useQuery({
    queryKey: ["record-choices"],
    queryFn: () => answer(api.GET("/api/v1/record-choices")),
    staleTime: 30_000,
  });
  return FILTERS.map((name) => {
    const known = [...new Set([...(data?.[name] ?? []), ...(look[name] ? [look[name]] : [])])];
    return (
      <Select
        key={name}
        label={TITLES[name]}
        value={look[name] ?? ""}
        onChange={(value) => set({ [name]: value || undefined })}
        options={[["", "any"], ...known.map((each): [string, string] => [each, each.replaceAll("_", " ")])]}
      />
    );
  });
}

function Day({ label, value, onChange }: { label: string; value?: string; onChange: (day?: string) => void }) {
  return (
    <label className="block text-sm">
      <span className="mb-1 block font-medium">{label}</span>
      <input
        type="date"
        value={value ?? ""}
        onChange={(event) => onChange(event.target.value || undefined)}
        className={INPUT}
      />
    </label>
  );
}

/** The order, for those who see no heads of columns: on a phone each row is a block. */
function Order({ look, onChange }: Props) {
  const turned = isDescending(look);
  return (
    <div className="flex items-end gap-2">
      <label className="text-sm">
        <span className="sr-only">Sort by</span>
        <select
          value={sortOf(look)}
          onChange={(event) =>
            onChange({ ...look, sort: event.target.value as Sort, order: undefined, start: undefined })
          }
          className={`${INPUT} py-2`}
        >
          {Object.entries(SORTS).map(([key, name]) => (
            <option key={key} value={key}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <Button
        aria-label={turned ? "Sort ascending" : "Sort descending"}
        title={turned ? "Descending; click for ascending" : "Ascending; click for descending"}
        onClick={() => onChange({ ...look, order: turned ? "up" : "down", start: undefined })}
      >
        {turned ? "↓" : "↑"}
      </Button>
    </div>
  );
}
