/** A name of something that the server knows, with those that fit to choose from. */
import { useQuery } from "@tanstack/react-query";
import { answer, api } from "../../api/client";
import { Field, INPUT } from "../../ui/field";

const ALL = { params: { query: { limit: 1000 } } };
const KNOWN = {
  models: async () => (await answer(api.GET("/api/v1/models", ALL))).items.map((each) => each.name),
  datasets: async () => (await answer(api.GET("/api/v1/datasets", ALL))).items.map((each) => each.name),
  stacks: async () => (await answer(api.GET("/api/v1/stacks"))).items.map((each) => each.name),
  frameworks: async () => [...new Set((await answer(api.GET("/api/v1/frameworks"))).items.map((each) => each.name))],
  agents: async () => (await answer(api.GET("/api/v1/agents"))).items.map((each) => each.id),
};

interface Props {
  label: string;
  of: keyof typeof KNOWN;
  value: string;
  onChange: (value: string) => void;
  hint?: string;
  placeholder?: string;
  /** Those to begin with, a click away, as long as nothing is chosen. */
  suggested?: readonly string[];
  /** Whether somebody is about to type a name, so that half of one is no mistake yet. */
  onTyping?: (typing: boolean) => void;
}

export function useNames(of: keyof typeof KNOWN): readonly string[] {
  return useQuery({ queryKey: ["names", of], queryFn: KNOWN[of], staleTime: 60_000 }).data ?? [];
}

export function Names({ label, of, value, onChange, hint, placeholder, suggested = [], onTyping }: Props) {
  const known = useNames(of);
  const list = `names-${of}`;
  return (
    <Field label={label} hint={hint}>
      {(name) => (
        <>
          <input
            id={name}
            list={list}
            value={value}
            placeholder={placeholder}
            onChange={(event) => {
              // One that is picked from the list is whole.
              onTyping?.(!known.includes(event.target.value));
              onChange(event.target.value);
            }}
            onBlur={() => onTyping?.(false)}
            autoComplete="off"
            className={INPUT}
          />
          <datalist id={list}>
            {known.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
          {!value && suggested.length > 0 && (
            <div className="mt-1.5 flex flex-wrap gap-1.5" role="group" aria-label={`${label}: suggestions`}>
              {suggested.map((each) => (
                <button
                  key={each}
                  type="button"
                  onClick={() => onChange(each)}
                  className="rounded-full bg-accent-soft px-2.5 py-0.5 text-xs text-accent hover:underline"
                >
                  {each}
                </button>
              ))}
            </div>
          )}
        </>
      )}
    </Field>
  );
}
