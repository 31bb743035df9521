/** What is asked for, where it may run, what is known already; then it is asked for. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { percent } from "../../lib/format";
import { Button, Card, Heading, Trouble, Waiting } from "../../ui/parts";
import { Field, Select, Text } from "../../ui/field";
import { useMay } from "../../ui/shell";
import { EMPTY, type Form, requestOf } from "./request";

const here = getRouteApi("/new");

export function NewEvaluation() {
  const search = here.useSearch();
  const navigate = useNavigate();
  const may = useMay("run");
  const [form, setForm] = useState<Form>({ ...EMPTY, model: search.model ?? "", dataset: search.dataset ?? "" });
  const settled = useSettled(form, 400);
  const set =
    <Key extends keyof Form>(key: Key) =>
    (value: Form[Key]) =>
      setForm((before) => ({ ...before, [key]: value }));
  const resolution = useQuery({
    queryKey: ["resolve", settled],
    queryFn: () => answer(api.POST("/api/v1/requests/resolve", { body: requestOf(settled) })),
    enabled: Boolean(settled.model),
    retry: false,
  });
  const ask = useMutation({
    mutationFn: (again: boolean) => answer(api.POST("/api/v1/requests", { body: { ...requestOf(form), again } })),
    onSuccess: (accepted) => {
      const [first] = accepted.evaluations;
      return accepted.evaluations.length === 1 && first
        ? navigate({ to: "/evaluations/$id", params: { id: first.id } })
        : navigate({ to: "/evaluations" });
    },
  });
  function submit(event: FormEvent) {
    event.preventDefault();
    ask.mutate(false);
  }
  return (
    <>
      <Heading
        title="New evaluation"
        about="Choose what is evaluated and where it may run. Nothing runs before you say so."
      />
      <form onSubmit={submit} className="grid gap-6 lg:grid-cols-[1fr_22rem]">
        <div className="space-y-6">
          <Card title="What">
            <div className="grid gap-4 sm:grid-cols-2">
              <Names label="Model" kind="models" value={form.model} onChange={set("model")} />
              <Names
                label="Dataset"
                kind="datasets"
                value={form.dataset}
                onChange={set("dataset")}
                hint="where nothing is said, the one that the model names"
              />
              <Select
                label="Kind"
                value={form.kind}
                onChange={set("kind")}
                options={[
                  ["evaluate", "accuracy and latency"],
                  ["bench", "speed under load"],
                  ["profile", "where the time goes"],
                ]}
              />
              {form.kind === "bench" && (
                <Select
                  label="Scenario"
                  value={form.scenario}
                  onChange={set("scenario")}
                  options={[
                    "single-stream",
                    "multi-stream",
                    "server",
                    "offline",
                    "sweep",
                    "max-rate",
                    "cold-start",
                  ].map((each) => [each, each])}
                />
              )}
              {form.kind === "profile" && (
                <Select
                  label="Level"
                  value={form.level}
                  onChange={set("level")}
                  options={["model", "framework", "library", "hardware"].map((each) => [each, each])}
                />
              )}
              <Text
                label="Samples"
                type="number"
                value={form.limit}
                onChange={set("limit")}
                hint="all where nothing is said"
              />
              <Text label="Batch size" type="number" value={form.batchSize} onChange={set("batchSize")} />
            </div>
          </Card>
          <Card title="Where">
            <div className="grid gap-4 sm:grid-cols-2">
              <Text label="Framework" value={form.framework} onChange={set("framework")} placeholder="tensorflow" />
              <Text
                label="Its version"
                value={form.frameworkVersion}
                onChange={set("frameworkVersion")}
                placeholder=">=1.10.x and <=1.13.0"
              />
              <Text label="Stack" value={form.stack} onChange={set("stack")} />
              <Text
                label="Architecture"
                value={form.architecture}
                onChange={set("architecture")}
                placeholder="x86_64"
              />
              <Text label="Processor" value={form.processor} onChange={set("processor")} placeholder="Intel" />
              <Text label="Cores at least" type="number" value={form.cores} onChange={set("cores")} />
              <Text label="Memory at least, GiB" type="number" value={form.memory} onChange={set("memory")} />
              <Text label="Accelerator" value={form.accelerator} onChange={set("accelerator")} placeholder="NVIDIA" />
              <Text
                label="Interconnect"
                value={form.interconnect}
                onChange={set("interconnect")}
                placeholder="NVLink"
              />
              <Select
                label="Agents"
                value={form.agents}
                onChange={set("agents")}
                options={[
                  ["one", "one that fits"],
                  ["all", "every one that fits"],
                ]}
              />
            </div>
          </Card>
        </div>
        <aside className="space-y-4" aria-live="polite">
          {!form.model ? (
            <Card>
              <p className="text-sm text-muted">Choose a model first.</p>
            </Card>
          ) : resolution.isFetching && !resolution.data ? (
            <Waiting what="Looking for agents" />
          ) : resolution.error ? (
            <Trouble error={resolution.error} />
          ) : resolution.data ? (
            <Resolved of={resolution.data} />
          ) : null}
          {ask.error && <Trouble error={ask.error} />}
          {may && (
            <Button
              kind="main"
              type="submit"
              className="w-full py-2.5"
              disabled={!form.model || !resolution.data?.matching.length || ask.isPending}
            >
              {ask.isPending ? "Asking …" : "Evaluate"}
            </Button>
          )}
        </aside>
      </form>
    </>
  );
}

function Resolved({ of }: { of: Schemas["Resolution"] }) {
  return (
    <>
      <Card title={of.matching.length ? "Who can do it" : "Nobody can do it"}>
        {of.matching.length ? (
          <ul className="space-y-1 text-sm">
            {of.matching.map((agent) => (
              <li key={agent}>{agent}</li>
            ))}
          </ul>
        ) : (
          <ul className="space-y-2 text-sm">
            {of.obstacles.map((each) => (
              <li key={each.constraint}>
                <b className="font-medium">{each.constraint}</b>: {each.example}
                <br />
                <span className="text-muted">
                  {each.would_match} of {of.agents} would fit without it
                </span>
              </li>
            ))}
            {!of.obstacles.length && <li>{of.text}</li>}
          </ul>
        )}
      </Card>
      {of.earlier.length > 0 && (
        <Card title="Known already">
          <ul className="space-y-2 text-sm">
            {of.earlier.map((each) => (
              <li key={each.record}>
                <Link to="/records/$id" params={{ id: each.record }}>
                  {each.exact ? "the same" : "nearly the same"}
                </Link>
                : {percent(each.top1)} on {each.cpu}
                {each.differs.length > 0 && <div className="text-xs text-muted">{each.differs.join("; ")}</div>}
              </li>
            ))}
          </ul>
        </Card>
      )}
    </>
  );
}

function Names({
  label,
  kind,
  value,
  onChange,
  hint,
}: {
  label: string;
  kind: "models" | "datasets";
  value: string;
  onChange: (value: string) => void;
  hint?: string;
}) {
  const found = useQuery({
    queryKey: ["names", kind],
    queryFn: () => (kind === "models" ? modelNames() : datasetNames()),
    staleTime: 60_000,
  });
  const list = `names-${kind}`;
  return (
    <Field label={label} hint={hint}>
      {(name) => (
        <>
          <input
            id={name}
            list={list}
            value={value}
            onChange={(event) => onChange(event.target.value)}
            autoComplete="off"
            className="w-full rounded-lg border border-line bg-paper px-3 py-1.5"
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

const ALL = { params: { query: { limit: 500 } } };
const modelNames = async () => (await answer(api.GET("/api/v1/models", ALL))).items.map((each) => each.name);
const datasetNames = async () => (await answer(api.GET("/api/v1/datasets", ALL))).items.map((each) => each.name);

/** A value once it has not changed for a while. */
function useSettled<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
