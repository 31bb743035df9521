/** What is asked for, where it may run, what is known already; then it is asked for. All of it is in the address. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useState } from "react";
import { answer, api } from "../../api/client";
import { useSettled } from "../../lib/settled";
import { Select, Text } from "../../ui/field";
import { Button, Card, Heading, Trouble, Waiting } from "../../ui/parts";
import { Trust, wantsTrust } from "../../shown/trust";
import { useMay } from "../../ui/shell";
import { useManifest } from "../model/try/manifest";
import { Names } from "./names";
import { type Form, requestOf } from "./request";
import { Resolved } from "./resolved";

const here = getRouteApi("/new");

export function NewEvaluation() {
  const navigate = useNavigate({ from: "/new" });
  const may = useMay("run");
  const [form, setForm] = useState<Form>(here.useSearch());
  const settled = useSettled(form, 400);
  // Not in the address: nobody should trust code because of a link.
  const [trusted, setTrusted] = useState<string>();
  const trust = trusted !== undefined && trusted === settled.model;
  const { manifest } = useManifest(settled.model?.split("@")[0] ?? "");
  const training = (manifest?.manifest as { job_type?: string } | undefined)?.job_type === "training";
  useEffect(() => void navigate({ to: "/new", search: settled, replace: true }), [navigate, settled]);
  const resolution = useQuery({
    queryKey: ["resolve", settled, trust, training],
    queryFn: () => answer(api.POST("/api/v1/requests/resolve", { body: requestOf(meant(settled, training), trust) })),
    enabled: Boolean(settled.model),
    placeholderData: (before) => before,
  });
  const ask = useMutation({
    mutationFn: (again: boolean) =>
      answer(api.POST("/api/v1/requests", { body: { ...requestOf(meant(form, training), trust), again } })),
    onSuccess: ({ id, evaluations }) => {
      const [first] = evaluations;
      return evaluations.length === 1 && first
        ? navigate({ to: "/evaluations/$id", params: { id: first.id } })
        : navigate({ to: "/evaluations", search: { request: id } });
    },
  });
  const known = resolution.data?.earlier.some((each) => each.exact) ?? false;
  function submit(event: FormEvent) {
    event.preventDefault();
    ask.mutate(known);
  }
  const asking = { form, set: (change: Form) => setForm((before) => ({ ...before, ...change })) };
  return (
    <>
      <Heading
        title="New evaluation"
        about="Choose what is evaluated and where it may run. Nothing runs before you say so."
      />
      <form onSubmit={submit} className="grid gap-6 lg:grid-cols-[1fr_22rem]">
        <div className="space-y-6">
          <What {...asking} training={training} />
          <Where {...asking} />
          <How {...asking} />
        </div>
        <aside className="space-y-4 self-start lg:sticky lg:top-6" aria-live="polite" aria-label="Who can do it">
          {!form.model ? (
            <Card>
              <p className="text-sm text-muted">Choose a model first.</p>
            </Card>
          ) : wantsTrust(resolution.error) ? null : resolution.error ? (
            <Trouble error={resolution.error} again={() => void resolution.refetch()} />
          ) : resolution.data ? (
            <Resolved of={resolution.data} />
          ) : (
            <Waiting what="Looking for agents" />
          )}
          {(trust || wantsTrust(resolution.error)) && (
            <Trust trust={trust} onChange={(yes) => setTrusted(yes ? settled.model : undefined)} />
          )}
          {ask.error && <Trouble error={ask.error} />}
          {may && (
            <Button
              kind="main"
              type="submit"
              className="w-full py-2.5"
              disabled={!form.model || resolution.isError || !resolution.data?.matching.length || ask.isPending}
            >
              {ask.isPending ? "Starting …" : training ? "Train" : known ? "Evaluate once more" : "Evaluate"}
            </Button>
          )}
        </aside>
      </form>
    </>
  );
}

interface Asking {
  form: Form;
  set: (change: Form) => void;
}

/** What a field shows, and what happens when it changes. */
const filled = ({ form, set }: Asking, field: keyof Form) => ({
  value: form[field] ?? "",
  onChange: (value: string) => set({ [field]: value || undefined }),
});

/** What a model that is trained can be asked for is a training, and of others all but that. */
const meant = (form: Form, training: boolean): Form =>
  training ? { ...form, kind: "train" } : form.kind === "train" ? { ...form, kind: undefined } : form;

const KINDS: [string, string][] = [
  ["evaluate", "accuracy and latency"],
  ["bench", "speed under load"],
  ["profile", "where the time goes"],
];

function What({ training, ...asking }: Asking & { training: boolean }) {
  const kind = meant(asking.form, training).kind ?? "evaluate";
  return (
    <Card title="What">
      <div className="grid gap-4 sm:grid-cols-2">
        <Names label="Model" of="models" {...filled(asking, "model")} />
        <Names
          label="Dataset"
          of="datasets"
          hint="where nothing is said, the one that the model names"
          {...filled(asking, "dataset")}
        />
        <Select
          label="Kind"
          {...filled(asking, "kind")}
          value={kind}
          options={training ? [["train", "training"]] : KINDS}
        />
        {kind === "bench" && (
          <Select
            label="Scenario"
            {...filled(asking, "scenario")}
            options={pairs("single-stream multi-stream server offline sweep max-rate cold-start")}
          />
        )}
        {kind === "profile" && (
          <Select
            label="Trace level"
            {...filled(asking, "level")}
            value={asking.form.level ?? "framework"}
            options={pairs("model framework library hardware")}
          />
        )}
        <Text label="Samples" type="number" hint="all where nothing is said" {...filled(asking, "limit")} />
        <Text label="Batch size" type="number" {...filled(asking, "batchSize")} />
      </div>
    </Card>
  );
}

function Where(asking: Asking) {
  return (
    <Card title="Where" aside="every field may stay empty">
      <div className="grid gap-4 sm:grid-cols-2">
        <Names label="Framework" of="frameworks" placeholder="tensorflow" {...filled(asking, "framework")} />
        <Text label="Its version" placeholder=">=1.10.x and <=1.13.0" {...filled(asking, "frameworkVersion")} />
        <Names label="Stack" of="stacks" {...filled(asking, "stack")} />
        <Names label="Agent" of="agents" {...filled(asking, "agent")} />
        <Text label="Architecture" placeholder="x86_64" {...filled(asking, "architecture")} />
        <Text label="Vendor of the processor" placeholder="Intel" {...filled(asking, "vendor")} />
        <Text label="Processor" placeholder="Xeon" {...filled(asking, "processor")} />
        <Text label="Instructions" placeholder="avx2, fma" {...filled(asking, "flags")} />
        <Text label="Cores at least" type="number" {...filled(asking, "cores")} />
        <Text label="Memory at least, GiB" type="number" {...filled(asking, "memory")} />
        <Text label="Accelerator" placeholder="V100" {...filled(asking, "accelerator")} />
        <Text label="Its memory at least, GiB" type="number" {...filled(asking, "acceleratorMemory")} />
        <Text label="Interconnect" placeholder="NVLink" {...filled(asking, "interconnect")} />
        <Text label="Labels" placeholder="room=3" {...filled(asking, "labels")} />
      </div>
    </Card>
  );
}

function How(asking: Asking) {
  return (
    <Card title="How">
      <div className="grid gap-4 sm:grid-cols-2">
        <Select
          label="Agents"
          {...filled(asking, "agents")}
          options={[
            ["", "one that fits"],
            ["all", "every one that fits"],
          ]}
        />
        <Text label="Parts" type="number" hint="the samples, shared out among agents" {...filled(asking, "shards")} />
        <Text label="Priority" type="number" hint="1 to 9, 5 where nothing is said" {...filled(asking, "priority")} />
        <Text label="Longest, seconds" type="number" {...filled(asking, "timeout")} />
      </div>
    </Card>
  );
}

const pairs = (words: string): [string, string][] => words.split(" ").map((word) => [word, word]);
