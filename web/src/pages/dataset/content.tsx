/** A sample of a dataset that is not a picture: its texts, some cells of its row, or its sound with a player. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { answer, api, headers, Problem, type Schemas } from "../../api/client";
import { plural } from "../../lib/format";
import { Button } from "../../ui/parts";
import { useAddress } from "../../ui/picture";
import { Waveform } from "../../ui/waveform";

const MOST_CELLS = 6;

export function useDatasetInput(dataset: string, sample: string, enabled = true) {
  return useQuery({
    queryKey: ["dataset input", dataset, sample],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/datasets/{name}/input", { params: { path: { name: dataset }, query: { sample } }, signal }),
      ),
    retry: false,
    staleTime: Infinity,
    gcTime: 60_000,
    enabled,
  });
}

export function Content({ dataset, sample }: { dataset: string; sample: string }) {
  const found = useDatasetInput(dataset, sample);
  if (found.error) return <p className="text-sm text-muted">{found.error.message}</p>;
  if (!found.data) return <p className="text-sm text-muted">…</p>;
  const { texts, cells, more_cells, sound } = found.data;
  const hidden = more_cells + Math.max(0, cells.length - MOST_CELLS);
  return (
    <div className="space-y-2 text-sm">
      {texts.map(({ title, text }) => (
        <p key={title} dir="auto" className="line-clamp-4 [overflow-wrap:anywhere] [unicode-bidi:plaintext]">
          {text || <span className="text-muted">(empty)</span>}
        </p>
      ))}
      {cells.length > 0 && (
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-0.5">
          {cells.slice(0, MOST_CELLS).map(({ column, value }, place) => (
            <div key={place} className="contents">
              <dt className="text-muted [overflow-wrap:anywhere]">
                <bdi>{column}</bdi>
              </dt>
              <dd className="[overflow-wrap:anywhere]">
                <bdi>{value}</bdi>
              </dd>
            </div>
          ))}
        </dl>
      )}
      {hidden > 0 && <p className="text-xs text-muted">{`and ${plural(hidden, "more column")}`}</p>}
      {sound && <Sound dataset={dataset} sample={sample} sound={sound} />}
      {!texts.length && !cells.length && !sound && <p className="text-muted">Nothing to show.</p>}
    </div>
  );
}

function Sound({ dataset, sample, sound }: { dataset: string; sample: string; sound: Schemas["SampleSound"] }) {
  const [isWanted, setIsWanted] = useState(false);
  const played = useQuery({
    queryKey: ["dataset sound", dataset, sample],
    queryFn: async ({ signal }) => {
      const question = new URLSearchParams({ sample });
      const path = `/api/v1/datasets/${encodeURIComponent(dataset)}/sound?${question}`;
      const response = await fetch(path, { headers: headers(), signal });
      if (!response.ok) throw Problem.of(response.status, await response.json().catch(() => null));
      return response.blob();
    },
    retry: false,
    gcTime: 0,
    enabled: isWanted,
  });
  const address = useAddress(played.data);
  const reason = sound.reason ?? played.error?.message;
  return (
    <div className="space-y-2">
      {sound.peaks.length > 0 && <Waveform peaks={sound.peaks} about={sound.about} className="h-10" />}
      {address ? (
        <audio controls autoPlay src={address} aria-label={sample} className="w-full" />
      ) : (
        !reason && (
          <Button className="!px-2.5 !py-1 text-xs" disabled={played.isFetching} onClick={() => setIsWanted(true)}>
            Play
          </Button>
        )
      )}
      {reason && <p className="text-xs text-muted">{reason}</p>}
    </div>
  );
}
