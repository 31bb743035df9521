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
import { fitting } from "../model/try/fitting";
import { useManifest } from "../model/try/manifest";
import { type Asking, filled } from "./asking";
import { How, Where } from "./folded";
import { Names, useNames } from "./names";
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
  const [typing, setTyping] = useState(false);
  const fit = fitting(manifest?.manifest as Record<string, unknown> | undefined, [], useNames("datasets"));
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
          <What {...asking} training={training} fit={fit} onTyping={setTyping} />
          <Where {...asking} />
          <How {...asking} />
        </div>
        <aside className="space-y-4 self-start lg:sticky lg:top-6" aria-live="polite" aria-label="Who can do it">
          {!form.model ? (
            <Card>
              <p className="text-sm text-muted">Choose a model first.</p>
            </Card>
          ) : wantsTrust(resolution.error) ? null : resolution.error && (typing || lacksDataset(resolution.error)) ? (
            <Card>
              <p className="text-sm text-muted">
                {typing ? "Type on, or choose from the list." : "Choose a dataset: the model names none."}
              </p>
            </Card>
          ) : resolution.error ? (
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

const SUGGESTED = 5;
const lacksDataset = (error: Error) => error.message.startsWith("no dataset is named");

/** What a model that is trained can be asked for is a training, and of others all but that. */
const meant = (form: Form, training: boolean): Form =>
  training ? { ...form, kind: "train" } : form.kind === "train" ? { ...form, kind: undefined } : form;

const KINDS: [string, string][] = [
  ["evaluate", "accuracy and latency"],
  ["bench", "speed under load"],
  ["profile", "where the time goes"],
];

interface Choice extends Asking {
  training: boolean;
  /** Datasets that the model is likely to understand. */
  fit: readonly string[];
  onTyping: (typing: boolean) => void;
}

function What({ training, fit, onTyping, ...asking }: Choice) {
  const models = useNames("models");
  const kind = meant(asking.form, training).kind ?? "evaluate";
  return (
    <Card title="What">
      <div className="grid gap-4 sm:grid-cols-2">
        <Names
          label="Model"
          of="models"
          suggested={models.slice(0, SUGGESTED)}
          onTyping={onTyping}
          {...filled(asking, "model")}
        />
        <Names
          label="Dataset"
          of="datasets"
          hint="default: the model's dataset"
          suggested={fit.slice(0, SUGGESTED)}
          onTyping={onTyping}
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
        <Text label="Samples" type="number" hint="default: all" {...filled(asking, "limit")} />
        <Text label="Batch size" type="number" hint="default: 1" {...filled(asking, "batchSize")} />
      </div>
    </Card>
  );
}

const pairs = (words: string): [string, string][] => words.split(" ").map((word) => [word, word]);
