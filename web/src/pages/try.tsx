/** The same input to several models, or to one model on several stacks, side by side. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { answer, api } from "../api/client";
import { Trust } from "../shown/trust";
import { Button, Card, Empty, Heading, Trouble, Waiting } from "../ui/parts";
import { useMay, useMe } from "../ui/shell";
import { Answer } from "./model/try/answer";
import type { Chosen } from "./model/try/ask";
import { Chat } from "./model/try/chat";
import { readChosen, writeChosen } from "./model/try/chosen";
import { carriesCode, type Given, handedOver, handOver, wantsOf } from "./model/try/given";
import { Differences } from "./model/try/differences";
import { GiveInput } from "./model/try/input";
import { useManifest } from "./model/try/manifest";
import { hasTemplate, isLanguageModel } from "./model/try/prompt";
import { Where } from "./model/try/where";

const here = getRouteApi("/try");

export function TryPage() {
  const search = here.useSearch();
  const navigate = useNavigate({ from: "/try" });
  const me = useMe();
  const may = useMay("run");
  const [given, setGiven] = useState<Given | null>(handedOver);
  useEffect(() => handOver(null), []); // for this visit only
  const chosen = readChosen(search.models);
  const set = (models: Chosen[]) =>
    void navigate({ search: { models: writeChosen(models) || undefined }, replace: true, resetScroll: false });
  const first = useManifest(chosen[0]?.model ?? "", chosen[0]?.version);
  if (me.isPending) return <Waiting />;
  if (!may)
    return (
      <>
        <Heading title="Try models side by side" />
        <Empty>
          Asking models needs a token that may run. <Link to="/sign-in">Sign in</Link>
        </Empty>
      </>
    );
  const said = first.manifest?.manifest as Record<string, unknown> | undefined;
  return (
    <>
      <Heading
        title="Try models side by side"
        about="The same picture, text or recording for all of them. Nothing is recorded."
      />
      <div className="space-y-6">
        {chosen.length > 0 && !isLanguageModel(said) && (
          <Card title="What shall they look at?">
            <GiveInput wants={wantsOf(said)} model={chosen[0]!.model} manifest={said} onGiven={setGiven} />
          </Card>
        )}
        <Differences chosen={chosen} given={given} />
        <div className="grid items-start gap-4 [grid-template-columns:repeat(auto-fit,minmax(min(18rem,100%),1fr))]">
          {chosen.map((each, place) => (
            <Column
              key={place}
              chosen={each}
              given={given}
              onChange={(changed) => set(chosen.map((one, index) => (index === place ? changed : one)))}
              onRemove={() => set(chosen.filter((_, index) => index !== place))}
            />
          ))}
          {chosen.length < 8 && <Add onAdd={(model) => set([...chosen, { model }])} isFirst={!chosen.length} />}
        </div>
      </div>
    </>
  );
}

function Column({
  chosen,
  given,
  onChange,
  onRemove,
}: {
  chosen: Chosen;
  given: Given | null;
  onChange: (chosen: Chosen) => void;
  onRemove: () => void;
}) {
  const { manifest, error } = useManifest(chosen.model, chosen.version);
  const [trust, setTrust] = useState(false);
  const said = manifest?.manifest as Record<string, unknown> | undefined;
  const needsTrust = carriesCode(said);
  return (
    <section aria-label={chosen.model} className="space-y-4 rounded-xl border border-line bg-card p-5">
      <header className="flex items-start justify-between gap-2">
        <h2 className="min-w-0 text-base [overflow-wrap:anywhere]">
          <Link to="/models/$name" params={{ name: chosen.model }} className="text-ink">
            {chosen.model}
          </Link>{" "}
          <span className="font-normal text-muted">{manifest?.version}</span>
        </h2>
        <Button aria-label={`Remove ${chosen.model}`} className="!px-2 !py-0.5" onClick={onRemove}>
          ×
        </Button>
      </header>
      {error ? (
        <Trouble error={error} />
      ) : (
        <>
          <Where chosen={chosen} framework={manifest?.framework} onChange={onChange} />
          {needsTrust && <Trust trust={trust} onChange={setTrust} />}
          {isLanguageModel(said) ? (
            <Chat chosen={chosen} trust={needsTrust && trust} template={hasTemplate(said!)} />
          ) : (
            <Answer chosen={chosen} given={given} trust={needsTrust && trust} />
          )}
        </>
      )}
    </section>
  );
}

function Add({ onAdd, isFirst }: { onAdd: (model: string) => void; isFirst: boolean }) {
  const found = useQuery({
    queryKey: ["models", "all"],
    queryFn: () => answer(api.GET("/api/v1/models", { params: { query: { limit: 1000 } } })),
  });
  if (found.error) return <Trouble error={found.error} again={() => void found.refetch()} />;
  const models = found.data?.items.filter((model) => model.job_type !== "training") ?? [];
  return (
    <div className="rounded-xl border-2 border-dashed border-line p-5">
      <label className="block text-sm">
        <span className="mb-1 block font-medium">{isFirst ? "Choose a model" : "Add a model"}</span>
        <select
          value=""
          onChange={(event) => event.target.value && onAdd(event.target.value)}
          className="w-full rounded-lg border border-line bg-paper px-3 py-1.5"
        >
          <option value="">…</option>
          {models.map((model) => (
            <option key={model.name} value={model.name}>
              {model.name}
            </option>
          ))}
        </select>
      </label>
      {!isFirst && <p className="mt-2 text-xs text-muted">The same one again compares two stacks.</p>}
    </div>
  );
}
