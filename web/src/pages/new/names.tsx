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
}

export function Names({ label, of, value, onChange, hint, placeholder }: Props) {
  const found = useQuery({ queryKey: ["names", of], queryFn: KNOWN[of], staleTime: 60_000 });
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
            onChange={(event) => onChange(event.target.value)}
            autoComplete="off"
            className={INPUT}
          />
          <datalist id={list}>
            {found.data?.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
