/** Which samples: by a word, by whether they are right, by how sure the model was; all of it in the address. */
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { Schemas } from "../../api/client";
import { Button } from "../../ui/parts";
import { isNarrowed, type Look } from "./look";
import type { Found } from "./pages";

const PAUSE_MS = 250;
const LOOKS = "rounded-lg border border-line bg-paper px-3 py-1.5 text-sm";

export function Filters({ record, look, offers }: { record: Schemas["Record"]; look: Look; offers: Found["offers"] }) {
  const navigate = useNavigate({ from: "/records/$id" });
  const set = (more: Partial<Look>) =>
    void navigate({ search: (before) => ({ ...before, ...more }), replace: true, resetScroll: false });
  const isSure = look.only === "wrong" && look.above === 0.9;
  const isClasses = offers.includes("right");
  const hasQuality = offers.includes("quality");
  return (
    <div className="mb-4 space-y-3">
      <div className="flex flex-wrap gap-2">
        <Words value={look.q ?? ""} onChange={(q) => set({ q: q || undefined })} />
        <select
          aria-label="Order of the samples"
          value={look.sort ? `${look.sort} ${look.order ?? "down"}` : ""}
          onChange={({ target: { value } }) => {
            const [sort, order] = value.split(" ") as [Look["sort"] | "", string?];
            set({ sort: sort || undefined, order: order === "up" ? "up" : undefined });
          }}
          className={LOOKS}
        >
          <option value="">{hasQuality ? "worst first" : "in the dataset's order"}</option>
          {hasQuality && <option value="quality down">best first</option>}
          {hasQuality && <option value="order up">in the dataset's order</option>}
          {offers.includes("score") && <option value="score down">surest first</option>}
          {offers.includes("score") && <option value="score up">least sure first</option>}
          <option value="latency down">slowest first</option>
          <option value="latency up">quickest first</option>
        </select>
      </div>
      <div className="flex flex-wrap items-center gap-2" role="group" aria-label="Which samples">
        {([undefined, ...(isClasses ? (["right", "wrong"] as const) : []), "failed"] as const).map((each) => (
          <Choice key={each ?? "all"} chosen={look.only === each && !isSure} onClick={() => set({ only: each })}>
            {each ?? "all"}
          </Choice>
        ))}
        {isClasses && (
          <>
            <Choice
              chosen={isSure}
              onClick={() => set({ only: "wrong", above: 0.9, below: undefined, sort: "score", order: undefined })}
            >
              wrong, and sure of it
            </Choice>
            <Score name="Score above" value={look.above} onChange={(above) => set({ above })} />
            <Score name="Score below" value={look.below} onChange={(below) => set({ below })} />
          </>
        )}
        {(look.label !== undefined || look.answer !== undefined) && <Pair record={record} look={look} set={set} />}
        {isNarrowed(look) && (
          <button
            type="button"
            className="px-2 text-sm text-accent hover:underline"
            onClick={() =>
              set({
                only: undefined,
                q: undefined,
                above: undefined,
                below: undefined,
                label: undefined,
                answer: undefined,
              })
            }
          >
            Clear
          </button>
        )}
      </div>
    </div>
  );
}

function Choice({ chosen, ...more }: { chosen: boolean; children: string; onClick: () => void }) {
  return (
    <Button aria-pressed={chosen} className={chosen ? "!border-accent !bg-accent-soft !text-accent" : ""} {...more} />
  );
}

function Pair({ record, look, set }: { record: Schemas["Record"]; look: Look; set: (more: Partial<Look>) => void }) {
  const named = (number: number) => record.class_names[number] ?? `class ${number}`;
  const said = [
    look.label !== undefined ? `${named(look.label)}` : "anything",
    look.answer !== undefined ? ` taken for ${named(look.answer)}` : "",
  ].join("");
  return (
    <Button
      className="!border-accent !bg-accent-soft !text-accent"
      onClick={() => set({ label: undefined, answer: undefined })}
      aria-label={`${said}: show all classes again`}
    >
      {said} <span aria-hidden="true">×</span>
    </Button>
  );
}

/** What is typed is looked for when the typing pauses. */
function Words({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [words, setWords] = useState(value);
  useEffect(() => setWords(value), [value]);
  useEffect(() => {
    if (words === value) return;
    const timer = setTimeout(() => onChange(words), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [words, value, onChange]);
  return (
    <input
      type="search"
      aria-label="Find samples"
      placeholder="Name, class or answer"
      maxLength={200}
      value={words}
      onChange={(event) => setWords(event.target.value)}
      className={`min-w-0 flex-1 basis-40 ${LOOKS}`}
    />
  );
}

function Score({ name, value, onChange }: { name: string; value?: number; onChange: (value?: number) => void }) {
  return (
    <label className="flex items-center gap-1.5 text-sm text-muted">
      {name}
      <input
        type="number"
        step="0.05"
        value={value ?? ""}
        onChange={({ target }) => onChange(target.value === "" ? undefined : Number(target.value))}
        className="w-20 rounded-lg border border-line bg-paper px-2 py-1.5 text-ink"
      />
    </label>
  );
}
