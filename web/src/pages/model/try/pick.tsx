/** Samples of datasets that the server has cached; those that fit the model first. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { answer, api, headers, Problem } from "../../../api/client";
import { Button, Waiting } from "../../../ui/parts";
import { Thumbnail } from "../../../ui/picture";
import { fitting } from "./fitting";

const SHOWN = 12;
const MOST_TRIED = 6;

export function Pick({
  model,
  manifest,
  onPicked,
  onTrouble,
}: {
  model: string;
  manifest?: Record<string, unknown>;
  onPicked: (blob: Blob, name: string) => void;
  onTrouble: (error: unknown) => void;
}) {
  const [chosen, setChosen] = useState<string | null>(null);
  const [start, setStart] = useState(0);
  const listed = useQuery({
    queryKey: ["datasets", "all"],
    queryFn: () => answer(api.GET("/api/v1/datasets", { params: { query: { limit: 1000 } } })),
  });
  const measured = useQuery({
    queryKey: ["records", "datasets", model],
    queryFn: () =>
      answer(api.GET("/api/v1/records", { params: { query: { model, limit: 50 } } })).then((found) =>
        found.items.map((row) => row.dataset),
      ),
  });
  const all = (listed.data?.items ?? []).map((each) => each.name);
  const fit = fitting(manifest, measured.data ?? [], all);
  const others = [...(listed.data?.items ?? [])]
    .filter((each) => !fit.includes(each.name))
    .sort((a, b) => Number(b.task === manifest?.task) - Number(a.task === manifest?.task))
    .map((each) => each.name);
  const names = [...fit, ...others];
  const ready = listed.data !== undefined && !measured.isPending;
  const proposed = useQuery({
    queryKey: ["dataset that is cached", fit.length ? fit : names],
    queryFn: () => firstCached(fit.length ? fit : names),
    enabled: ready && names.length > 0,
  });
  const dataset = chosen ?? proposed.data;
  const found = useQuery({
    queryKey: ["dataset samples", dataset, start],
    queryFn: () =>
      answer(
        api.GET("/api/v1/datasets/{name}/samples", {
          params: { path: { name: dataset! }, query: { start, limit: SHOWN } },
        }),
      ),
    enabled: dataset !== undefined,
  });
  const total = found.data?.total ?? 0;
  const pick = (sample: string) => {
    contentOf(dataset!, sample).then((blob) => onPicked(blob, sample), onTrouble);
  };
  return (
    <div className="rounded-xl border border-line p-3">
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <select
          aria-label="Dataset"
          value={dataset ?? ""}
          onChange={(event) => {
            setChosen(event.target.value);
            setStart(0);
          }}
          className="min-w-0 rounded-lg border border-line bg-paper px-2 py-1.5 text-sm"
        >
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        {total > SHOWN && (
          <span className="flex gap-2">
            <Button
              disabled={start === 0}
              aria-label="Samples before"
              onClick={() => setStart(Math.max(0, start - SHOWN))}
            >
              ‹
            </Button>
            <Button disabled={start + SHOWN >= total} aria-label="Next samples" onClick={() => setStart(start + SHOWN)}>
              ›
            </Button>
          </span>
        )}
      </div>
      {listed.error || found.error ? (
        <p className="text-sm text-muted [overflow-wrap:anywhere]">
          {listed.error && listed.error.message}
          {found.error && <NotCached model={model} dataset={dataset!} why={found.error} />}
        </p>
      ) : listed.data && !names.length ? (
        <p className="text-sm text-muted">This server knows no dataset.</p>
      ) : !found.data ? (
        <Waiting what="Opening the dataset" />
      ) : (
        <ul className="grid grid-cols-[repeat(auto-fill,minmax(3.25rem,1fr))] gap-2" aria-label="Samples">
          {found.data.items.map((sample) => (
            <li key={sample.id}>
              <button
                type="button"
                aria-label={sample.label_name ? `${sample.label_name}, ${sample.id}` : sample.id}
                title={sample.label_name ?? sample.id}
                onClick={() => pick(sample.id)}
                className="block rounded-md hover:outline-2 hover:outline-accent"
              >
                <Thumbnail source={`datasets/${dataset}`} sample={sample.id} />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** An evaluation fetches what it needs; afterwards its pictures are here. */
function NotCached({ model, dataset, why }: { model: string; dataset: string; why: Error }) {
  if (!(why instanceof Problem) || why.status >= 500 || why.status === 0) return why.message;
  return (
    <>
      {`${dataset} is not cached on this server. `}
      <Link to="/new" search={{ model, dataset, limit: "1" }}>
        Evaluate the model on one sample of it
      </Link>
      {" to have it fetched, then come back."}
    </>
  );
}

/** The first of them that has samples here; the first of all where none has. */
async function firstCached(names: readonly string[]): Promise<string> {
  for (const name of names.slice(0, MOST_TRIED)) {
    const params = { path: { name }, query: { start: 0, limit: 1 } };
    const { response } = await api.GET("/api/v1/datasets/{name}/samples", { params });
    if (response.ok) return name;
  }
  return names[0]!;
}

async function contentOf(dataset: string, sample: string): Promise<Blob> {
  const question = new URLSearchParams({ sample });
  const response = await fetch(`/api/v1/datasets/${encodeURIComponent(dataset)}/content?${question}`, {
    headers: headers(),
  });
  if (!response.ok) throw Problem.of(response.status, await response.json().catch(() => null));
  return response.blob();
}
