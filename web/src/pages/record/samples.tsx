/** Every sample with its picture and its answer. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import type { Schemas } from "../../api/client";
import { percent, plural, time } from "../../lib/format";
import { partOf } from "../../lib/parts";
import { Excerpt, Small } from "../../shown/sample-content";
import { Badge, Card, Empty, Trouble, Waiting } from "../../ui/parts";
import { qualityWords } from "../../ui/shown-shapes";
import { Filters } from "./filters";
import { isNarrowed, type Look } from "./look";
import { useSamples } from "./pages";
import { SampleDialog, type Walk } from "./sample";

const HEIGHT = 64;
const COLUMNS =
  "grid grid-cols-[3rem_minmax(0,1fr)_auto] sm:grid-cols-[3rem_minmax(0,2fr)_minmax(0,1.5fr)_minmax(0,1.5fr)_5rem_5.5rem] items-center gap-x-4";
const here = getRouteApi("/records/$id");

export function Samples({ record }: { record: Schemas["Record"] }) {
  const look = here.useSearch();
  const navigate = useNavigate({ from: "/records/$id" });
  const [view, setView] = useState<[number, number]>([0, 20]);
  const found = useSamples(record.id, look, ...view);
  const opened = (sample: string | undefined) =>
    void navigate({ search: (before: Look) => ({ ...before, sample }), replace: true, resetScroll: false });
  const walk = useWalk(record.id, look, found, opened);
  return (
    <Card
      title="Samples"
      aside={
        <span aria-live="polite">
          {isNarrowed(look)
            ? `${found.total.toLocaleString("en")} of ${plural(record.samples, "sample")}`
            : plural(found.total, "sample")}
        </span>
      }
    >
      <Filters record={record} look={look} offers={found.offers} />
      {found.error ? (
        <Trouble error={found.error} again={found.refetch} />
      ) : found.isPending ? (
        <Waiting />
      ) : !found.total ? (
        <Empty>No matches.</Empty>
      ) : (
        <List
          key={JSON.stringify({ ...look, sample: undefined })}
          record={record}
          found={found}
          view={setView}
          open={opened}
        />
      )}
      {look.sample && <SampleDialog record={record} id={look.sample} walk={walk} close={() => opened(undefined)} />}
    </Card>
  );
}

/** From the open sample to its neighbors in the list as it is filtered and sorted, across its pages. */
function useWalk(
  record: string,
  look: Look,
  found: ReturnType<typeof useSamples>,
  open: (sample: string) => void,
): Walk | undefined {
  const [last, setLast] = useState(0);
  const near = useSamples(record, look, Math.max(0, last - 1), last + 1);
  const place = look.sample === undefined ? undefined : (near.placeOf(look.sample) ?? found.placeOf(look.sample));
  useEffect(() => {
    if (place !== undefined) setLast(place);
  }, [place]);
  if (place === undefined) return undefined;
  const to = (at: number) => {
    const id = (near.row(at) ?? found.row(at))?.id;
    return at < 0 || at >= found.total || id === undefined ? undefined : () => open(id);
  };
  return { place, total: found.total, previous: to(place - 1), next: to(place + 1) };
}

function List({
  record,
  found,
  view,
  open,
}: {
  record: Schemas["Record"];
  found: ReturnType<typeof useSamples>;
  view: (seen: [number, number]) => void;
  open: (sample: string) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const titles = found.offers.includes("right") ? ["Label", "Answer", "Score"] : ["Truth", "Answer", "Quality"];
  const rows = useVirtualizer({
    count: found.total,
    getScrollElement: () => place.current,
    estimateSize: () => HEIGHT,
    overscan: 8,
    onChange: (seen) => {
      const items = seen.getVirtualItems();
      if (items.length) view([items[0]!.index, items.at(-1)!.index]);
    },
  });
  return (
    <div
      role="table"
      aria-label="Samples"
      aria-rowcount={found.total + 1}
      className="overflow-hidden rounded-xl border border-line"
    >
      <div
        role="row"
        aria-rowindex={1}
        className={`${COLUMNS} border-b border-line px-3 py-2 text-xs font-medium text-muted`}
      >
        {["", "Sample", ...titles, ""].map((title, index) => (
          <span
            key={index}
            role="columnheader"
            className={`${index > 1 && index < 5 ? "max-sm:sr-only" : ""} ${index === 4 ? "text-right" : ""}`}
          >
            {title || <span className="sr-only">{index ? "Verdict" : "Picture"}</span>}
          </span>
        ))}
      </div>
      <div
        ref={place}
        tabIndex={0}
        role="rowgroup"
        aria-label="Samples, to scroll"
        className="h-[min(36rem,70dvh)] overflow-y-auto overflow-x-hidden"
      >
        <div className="relative" style={{ height: rows.getTotalSize() }} role="presentation">
          {rows.getVirtualItems().map(({ index, start }) => (
            <div
              key={index}
              role="row"
              aria-rowindex={index + 2}
              className={`${COLUMNS} absolute inset-x-0 border-b border-line px-3 hover:bg-soft`}
              style={{ height: HEIGHT, transform: `translateY(${start}px)` }}
            >
              <Row record={record} sample={found.row(index)} open={open} />
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

function Row({
  record,
  sample,
  open,
}: {
  record: Schemas["Record"];
  sample?: Schemas["Sample"];
  open: (sample: string) => void;
}) {
  if (!sample)
    return (
      <>
        <span role="cell" className="size-12 rounded-md bg-soft" />
        <span role="cell" className="h-4 w-40 max-w-full rounded bg-soft" />
      </>
    );
  const named = (number: number | null | undefined) =>
    number == null ? "–" : (record.class_names[number] ?? String(number));
  const said = sample.error ? (
    <span className="text-bad">{sample.error}</span>
  ) : (
    (sample.said ?? sample.answer ?? named(sample.classes?.[0]))
  );
  const truth = sample.truth ?? named(sample.label);
  const score = sample.scores?.[0];
  const part = partOf(record);
  const took = sample.run_ns != null && time(sample.run_ns);
  return (
    <>
      <span role="cell">
        <Small record={record.id} sample={sample.id} part={part} />
      </span>
      <span role="cell" className="min-w-0 text-sm">
        <button
          type="button"
          onClick={() => open(sample.id)}
          className="block max-w-full truncate font-mono text-xs text-accent hover:underline"
        >
          <bdi>{sample.id}</bdi>
        </button>
        <span className="block truncate text-xs text-muted sm:hidden">
          <bdi>{truth}</bdi> → <bdi>{said}</bdi>
        </span>
        <span className="hidden truncate text-xs text-muted sm:block">
          {part === "image" ? took : <Excerpt record={record.id} sample={sample.id} otherwise={took} />}
        </span>
      </span>
      <span role="cell" className="hidden truncate text-sm sm:block" title={sample.truth ?? undefined}>
        <bdi>{truth}</bdi>
      </span>
      <span role="cell" className="hidden truncate text-sm sm:block" title={sample.said ?? undefined}>
        <bdi>{said}</bdi>
      </span>
      <span role="cell" className="hidden text-right text-sm sm:block">
        {sample.quality != null
          ? qualityWords(sample.quality)
          : record.plan.answer?.probabilities
            ? percent(score, 1)
            : (score?.toFixed(3) ?? "–")}
      </span>
      <span role="cell" className="text-right">
        {sample.error ? (
          <Badge tone="bad">failed</Badge>
        ) : sample.right == null ? (
          sample.quality != null && <span className="text-sm sm:hidden">{qualityWords(sample.quality)}</span>
        ) : (
          <Badge tone={sample.right ? "good" : "bad"}>{sample.right ? "right" : "wrong"}</Badge>
        )}
      </span>
    </>
  );
}
