/** Samples of datasets that the server has at hand. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { answer, api, headers, Problem } from "../../../api/client";
import { Button, Waiting } from "../../../ui/parts";
import { Thumbnail } from "../../../ui/picture";

const SHOWN = 12;

export function Pick({
  wanted,
  task,
  onPicked,
  onTrouble,
}: {
  wanted?: string;
  task?: string;
  onPicked: (blob: Blob, name: string) => void;
  onTrouble: (error: unknown) => void;
}) {
  const [chosen, setChosen] = useState<string | null>(null);
  const [start, setStart] = useState(0);
  const listed = useQuery({
    queryKey: ["datasets", "all"],
    queryFn: () => answer(api.GET("/api/v1/datasets", { params: { query: { limit: 1000 } } })),
  });
  // Those of the same task first; any other may do as well.
  const names = [...(listed.data?.items ?? [])]
    .sort((a, b) => Number(b.task === task) - Number(a.task === task))
    .map((each) => each.name);
  const dataset = chosen ?? (wanted && names.includes(wanted) ? wanted : names[0]);
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
        <p className="text-sm text-muted [overflow-wrap:anywhere]">{(listed.error ?? found.error)!.message}</p>
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

async function contentOf(dataset: string, sample: string): Promise<Blob> {
  const question = new URLSearchParams({ sample });
  const response = await fetch(`/api/v1/datasets/${encodeURIComponent(dataset)}/content?${question}`, {
    headers: headers(),
  });
  if (!response.ok) throw Problem.of(response.status, await response.json().catch(() => null));
  return response.blob();
}
