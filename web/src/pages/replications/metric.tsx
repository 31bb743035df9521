/** The metric that a claim is about: those of the model's task to choose from, or any other by its name. */
import { useQuery } from "@tanstack/react-query";
import { answer, api } from "../../api/client";
import { unitOf } from "../../lib/measured";
import { useSettled } from "../../lib/settled";
import { Field, INPUT } from "../../ui/field";

interface Props {
  model: string;
  value: string;
  onChange: (value: string) => void;
}

export function Metric({ model, value, onChange }: Props) {
  const known = useMetrics(useSettled(model.trim(), 400));
  const chosen = known.find((each) => each.name === value.trim() || each.aliases.includes(value.trim().toLowerCase()));
  return (
    <Field
      label="Metric"
      hint={chosen ? `${chosen.title}${unitWords(chosen.unit)}` : "by its name, or one of its aliases"}
    >
      {(id) => (
        <>
          <input
            id={id}
            list={`${id}-metrics`}
            value={value}
            onChange={(event) => onChange(event.target.value)}
            autoComplete="off"
            className={INPUT}
          />
          <datalist id={`${id}-metrics`}>
            {known.map((each) => (
              <option key={each.name} value={each.name}>
                {each.title}
              </option>
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}

/** Those of the model's task; all of them while the model is not known. */
function useMetrics(model: string) {
  const manifest = useQuery({
    queryKey: ["task of", model],
    queryFn: async () => {
      const name = model.split("@")[0]!;
      const page = await answer(api.GET("/api/v1/models", { params: { query: { q: name, limit: 1000 } } }));
      return page.items.find((each) => each.name === name)?.task ?? null;
    },
    enabled: Boolean(model),
    staleTime: 60_000,
  });
  const task = (model && manifest.data) || undefined;
  const found = useQuery({
    queryKey: ["metrics", task],
    queryFn: () => answer(api.GET("/api/v1/metrics", { params: { query: { task } } })),
    enabled: !manifest.isFetching,
    staleTime: 60_000,
  });
  return found.data?.items ?? [];
}

const unitWords = (unit: string) => (unitOf(unit).symbol ? `, in ${unitOf(unit).symbol}` : ", a number without a unit");
