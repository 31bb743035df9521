/** Some samples of a dataset that the server has: pictures with their class, texts, rows and sounds. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { Button, Card, Trouble, Waiting } from "../../ui/parts";
import { useAddress, usePicture } from "../../ui/picture";
import { Content, useDatasetInput } from "./content";

const SHOWN = 12;
const SIDE = 192;
type Sample = Schemas["DatasetSample"];

export function Samples({ name }: { name: string }) {
  const [start, setStart] = useState(0);
  const found = useQuery({
    queryKey: ["dataset samples", name, start],
    queryFn: () =>
      answer(
        api.GET("/api/v1/datasets/{name}/samples", { params: { path: { name }, query: { start, limit: SHOWN } } }),
      ),
    placeholderData: keepPreviousData,
    retry: false,
  });
  const first = found.data?.items[0];
  const kind = useDatasetInput(name, first?.id ?? "", first !== undefined);
  if (found.error) return <Trouble error={found.error} again={() => void found.refetch()} />;
  const total = found.data?.total ?? 0;
  const isPicture = kind.isError || kind.data?.kind === "image";
  return (
    <Card
      title="Samples"
      aside={
        total > 0 && `${(start + 1).toLocaleString("en")} – ${last(start, total)} of ${total.toLocaleString("en")}`
      }
    >
      {!found.data || kind.isPending ? (
        <Waiting what="Opening the dataset" />
      ) : isPicture ? (
        <ul className="grid grid-cols-[repeat(auto-fill,minmax(6.5rem,1fr))] gap-3" aria-label="Samples">
          {found.data.items.map((sample) => (
            <Picture key={sample.id} dataset={name} sample={sample} />
          ))}
        </ul>
      ) : (
        <ul className="grid gap-3 md:grid-cols-2" aria-label="Samples">
          {found.data.items.map((sample) => (
            <li key={sample.id} className="min-w-0 rounded-lg border border-line bg-paper p-3">
              <Content dataset={name} sample={sample.id} />
              <p className="mt-2 text-xs text-muted [overflow-wrap:anywhere]">{captionOf(sample)}</p>
            </li>
          ))}
        </ul>
      )}
      {total > SHOWN && (
        <div className="mt-4 flex gap-2">
          <Button disabled={start === 0} onClick={() => setStart(Math.max(0, start - SHOWN))}>
            Previous
          </Button>
          <Button disabled={start + SHOWN >= total} onClick={() => setStart(start + SHOWN)}>
            Next
          </Button>
        </div>
      )}
    </Card>
  );
}

const last = (start: number, total: number) => Math.min(start + SHOWN, total).toLocaleString("en");
const captionOf = ({ id, label, label_name }: Sample) => label_name ?? (label === null ? id : `class ${label}`);

function Picture({ dataset, sample }: { dataset: string; sample: Sample }) {
  const found = usePicture(`datasets/${encodeURIComponent(dataset)}`, sample.id, SIDE);
  const address = useAddress(found.data);
  const caption = captionOf(sample);
  return (
    <li className="min-w-0">
      <figure>
        <div className="flex aspect-square items-center justify-center overflow-hidden rounded-lg bg-soft">
          {address ? (
            <img src={address} alt={`${caption}, ${sample.id}`} className="size-full object-cover" />
          ) : (
            found.error && <span className="p-2 text-xs text-muted">{found.error.message}</span>
          )}
        </div>
        <figcaption className="mt-1 truncate text-xs text-muted" title={`${caption}, ${sample.id}`}>
          {caption}
        </figcaption>
      </figure>
    </li>
  );
}
