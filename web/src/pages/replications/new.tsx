/** A claim to be checked, or a model whose pitfalls are to be measured. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { Field, Select, Text } from "../../ui/field";
import { Metric } from "./metric";
import { Button, Card, Heading, Trouble, Verdict } from "../../ui/parts";
import { published } from "../../lib/measured";
import { useSettled } from "../../lib/settled";
import { Trust, wantsTrust } from "../../shown/trust";
import { useMay } from "../../ui/shell";
import { type Form, formOf, type Kind, missing, requestOf } from "./request";

const here = getRouteApi("/replications/new");

export function NewReplication() {
  const navigate = useNavigate();
  const may = useMay("run");
  const [form, setForm] = useState<Form>(formOf(here.useSearch()));
  const set =
    <Key extends keyof Form>(key: Key) =>
    (value: Form[Key]) =>
      setForm((before) => ({ ...before, [key]: value }));
  const settled = useSettled(form, 400);
  // What needs trust is known before it is asked for; other objections can wait until then.
  const [trusted, setTrusted] = useState<string>();
  const trust = trusted !== undefined && trusted === form.model;
  const resolution = useQuery({
    queryKey: ["resolve", settled, trust],
    queryFn: () =>
      answer(api.POST("/api/v1/requests/resolve", { body: requestOf(settled, trust) as Schemas["Request"] })),
    enabled: missing(settled) === null,
    retry: false,
  });
  const blocked = wantsTrust(resolution.error);
  const ask = useMutation({
    mutationFn: async () => {
      const body = requestOf(form, trust);
      return form.kind === "sensitivity"
        ? answer(api.POST("/api/v1/sensitivities", { body: body as Schemas["SensitivityRequest"] }))
        : answer(api.POST("/api/v1/replications", { body: body as Schemas["ReplicationRequest"] }));
    },
    onSuccess: ({ evaluations: [first] }) =>
      first &&
      navigate({
        to: form.kind === "sensitivity" ? "/sensitivities/$id" : "/replications/$id",
        params: { id: first.id },
      }),
  });
  const lacks = missing(form);
  const checks = form.kind === "replicate";
  function submit(event: FormEvent) {
    event.preventDefault();
    if (!lacks) ask.mutate();
  }
  return (
    <>
      <Heading
        title={checks ? "Check a claim" : "What pitfalls would cost"}
        about={
          checks
            ? "The model is evaluated as its manifest says. Where the number does not hold, the detail that explains it is sought."
            : "The manifest is taken as right, and every pitfall that is known is tried on it: how much would each cost?"
        }
      />
      <form onSubmit={submit} className="grid gap-6 lg:grid-cols-[1fr_20rem]">
        <Card>
          <div className="grid gap-4 sm:grid-cols-2">
            <Select
              label="What"
              value={form.kind}
              onChange={(kind) => set("kind")(kind as Kind)}
              options={[
                ["replicate", "does a number hold, and if not, why"],
                ["sensitivity", "what each pitfall would cost"],
              ]}
            />
            <span className="hidden sm:block" />
            <Names label="Model" of="models" value={form.model} onChange={set("model")} />
            <Names
              label="Dataset"
              of="datasets"
              value={form.dataset}
              onChange={set("dataset")}
              hint={checks ? "default: the claim's dataset" : "default: the model's dataset"}
            />
            {checks && (
              <>
                <Metric model={form.model} value={form.metric} onChange={set("metric")} />
                <Text
                  label="Claimed"
                  value={form.value}
                  onChange={set("value")}
                  placeholder="75.10"
                  hint="with its digits, in the metric's unit (a share in percent); by default every claim of the manifest about the dataset"
                />
              </>
            )}
            <Text label="Samples" type="number" value={form.limit} onChange={set("limit")} hint="default: all" />
            {checks && (
              <>
                <Text
                  label="Tolerance"
                  value={form.within}
                  onChange={set("within")}
                  placeholder="0.5"
                  hint="in points, or in the metric's unit; default: what rounding allows"
                />
                <Text
                  label="Search budget"
                  type="number"
                  value={form.budget}
                  onChange={set("budget")}
                  hint="evaluations of all samples; default: until the search ends by itself"
                />
                <label className="flex items-center gap-2 self-end pb-6 text-sm">
                  <input
                    type="checkbox"
                    checked={form.explain}
                    onChange={(event) => set("explain")(event.target.checked)}
                  />
                  Look for the cause
                </label>
              </>
            )}
          </div>
        </Card>
        <aside className="space-y-4">
          {checks && <Known form={form} choose={(some) => setForm((before) => ({ ...before, ...some }))} />}
          <div aria-live="polite" className="space-y-4">
            {form.model && lacks && <p className="text-sm text-warn">{lacks}</p>}
            {(trust || blocked) && <Trust trust={trust} onChange={(yes) => setTrusted(yes ? form.model : undefined)} />}
            {ask.error && <Trouble error={ask.error} />}
          </div>
          {may ? (
            <Button
              kind="main"
              type="submit"
              className="w-full py-2.5"
              disabled={lacks !== null || blocked || ask.isPending}
            >
              {ask.isPending ? "Asking …" : checks ? "Check it" : "Measure it"}
            </Button>
          ) : (
            <p className="text-sm text-muted">
              <Link to="/sign-in">Sign in</Link> with a token that may run things.
            </p>
          )}
        </aside>
      </form>
    </>
  );
}

/** What the model itself claims. */
function Known({ form, choose }: { form: Form; choose: (some: Partial<Form>) => void }) {
  const name = form.model.trim().split("@")[0];
  const found = useQuery({
    queryKey: ["claims", "of", name],
    queryFn: () => answer(api.GET("/api/v1/claims", { params: { query: { model: name } } })),
    enabled: Boolean(name),
  });
  const claims = found.data?.items.filter((each) => each.checkable) ?? [];
  if (!claims.length) return null;
  return (
    <Card title="What it claims">
      <ul className="space-y-2 text-sm">
        {claims.map((each) => (
          <li key={`${each.metric} ${each.dataset} ${each.value}`} className="flex flex-wrap items-center gap-2">
            <button
              type="button"
              className="text-left text-accent hover:underline"
              onClick={() =>
                choose(formOf({ model: name, dataset: each.dataset ?? "", claim: `${each.metric}=${each.value}` }))
              }
            >
              {each.metric} {published(each.value, each.unit)} on {each.dataset ?? "no dataset"}
            </button>
            <Verdict of={each.verdict} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Names({
  label,
  of,
  value,
  onChange,
  hint,
}: {
  label: string;
  of: "models" | "datasets";
  value: string;
  onChange: (value: string) => void;
  hint?: string;
}) {
  const found = useQuery({
    queryKey: ["names", of],
    queryFn: async () => {
      const all = { params: { query: { limit: 500 } } };
      const page = await (of === "models"
        ? answer(api.GET("/api/v1/models", all))
        : answer(api.GET("/api/v1/datasets", all)));
      return page.items.map((each) => each.name);
    },
    staleTime: 60_000,
  });
  return (
    <Field label={label} hint={hint}>
      {(id) => (
        <>
          <input
            id={id}
            list={`${id}-names`}
            value={value}
            onChange={(event) => onChange(event.target.value)}
            autoComplete="off"
            className="w-full rounded-lg border border-line bg-paper px-3 py-1.5"
          />
          <datalist id={`${id}-names`}>
            {found.data?.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
