/** One sample, large: what it is, what was said of it and how surely. */
import * as Dialog from "@radix-ui/react-dialog";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { seenOf } from "../../api/seen";
import { percent, plural, time } from "../../lib/format";
import { partOf } from "../../lib/parts";
import { rankedQueries } from "../../lib/rankings";
import { isText, type Shape, shapesOf } from "../../lib/shapes";
import { Prompt } from "../../shown/prompt";
import { SampleContent } from "../../shown/sample-content";
import { useInput } from "../../shown/sample-input";
import { AnswerPicture, isPictured } from "../../ui/answer-picture";
import { Bars } from "../../ui/bars";
import { Badge, Button, Fact, Trouble, Waiting } from "../../ui/parts";
import { useAddress, usePicture } from "../../ui/picture";
import { qualityWords, ShapeControls, ShapeList, useShown } from "../../ui/shown-shapes";
import { TokenShapes } from "../../ui/token-text";
import { Ranking } from "./nearest";

/** Where a sample stands in the list that it was opened from, and the ways to its neighbors. */
export interface Walk {
  place: number;
  total: number;
  previous?: () => void;
  next?: () => void;
}

interface Props {
  record: Schemas["Record"];
  id: string;
  walk?: Walk;
  close: () => void;
}

export function SampleDialog({ record, id, walk, close }: Props) {
  const found = useQuery({
    queryKey: ["sample", record.id, id],
    queryFn: () =>
      answer(
        api.GET("/api/v1/records/{name}/samples", {
          params: { path: { name: record.id }, query: { id: id.slice(0, 1000), limit: 1 } },
        }),
      ),
    staleTime: Infinity,
  });
  const sample = found.data?.items.find((each) => each.id === id);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && close()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-20 bg-black/50" />
        <Dialog.Content
          aria-describedby={undefined}
          onKeyDown={(event) => {
            if (isOwnKey(event.target) || event.altKey || event.ctrlKey || event.metaKey) return;
            if (event.key === "ArrowLeft") walk?.previous?.();
            if (event.key === "ArrowRight") walk?.next?.();
          }}
          className="fixed top-1/2 left-1/2 z-30 max-h-[92dvh] w-[min(64rem,94vw)] -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-2xl border border-line bg-card p-5 shadow-xl sm:p-6"
        >
          <div className="mb-4 flex items-start justify-between gap-4">
            <Dialog.Title className="min-w-0 text-lg [overflow-wrap:anywhere]">
              <bdi>{id}</bdi>
            </Dialog.Title>
            <div className="flex shrink-0 items-center gap-2">
              {walk && <Steps walk={walk} />}
              <Dialog.Close asChild>
                <Button aria-label="Close">×</Button>
              </Dialog.Close>
            </div>
          </div>
          {found.error ? (
            <Trouble error={found.error} again={() => void found.refetch()} />
          ) : !found.data ? (
            <Waiting />
          ) : !sample ? (
            <p className="text-muted">The record has no sample of this name.</p>
          ) : (
            <Shown record={record} sample={sample} />
          )}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Fields, menus and sliders have their own use for arrow keys. */
function isOwnKey(target: EventTarget): boolean {
  return target instanceof Element && target.closest("input, select, textarea, [role=slider]") !== null;
}

function Steps({ walk }: { walk: Walk }) {
  return (
    <>
      <span className="text-sm whitespace-nowrap text-muted max-sm:sr-only" aria-live="polite">
        {(walk.place + 1).toLocaleString("en")} of {walk.total.toLocaleString("en")}
      </span>
      {/* They stay in the way of the keyboard at either end: what is disabled would lose it. */}
      <Button aria-label="Previous sample" aria-disabled={!walk.previous} onClick={walk.previous} title="←">
        ‹
      </Button>
      <Button aria-label="Next sample" aria-disabled={!walk.next} onClick={walk.next} title="→">
        ›
      </Button>
    </>
  );
}

function Shown({ record, sample }: { record: Schemas["Record"]; sample: Schemas["Sample"] }) {
  const part = partOf(record);
  const input = useInput(record.id, sample.id, part !== "image");
  // Where the plan does not say what samples are, the dataset does; a picture is tried where that is not at hand.
  const isPicture = part === "image" || (part === null && (input.isError || input.data?.kind === "image"));
  const picture = usePicture(`records/${record.id}`, sample.id, 1024, isPicture);
  const address = useAddress(picture.data);
  const seen = useQuery(seenOf(record.id, sample.id));
  const shapes = useMemo(() => {
    if (seen.data?.shapes.length) return seen.data.shapes as Shape[];
    return sample.answer ? shapesOf(sample.answer) : [];
  }, [seen.data, sample.answer]);
  const choice = useShown(shapes, seen.data?.shown_above);
  return (
    <div className="grid gap-6 md:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      <div>
        {input.data && input.data.kind !== "image" ? (
          <SampleContent record={record.id} input={input.data} />
        ) : !isPicture && input.error ? (
          <p className="rounded-xl border border-dashed border-line p-8 text-center text-sm text-muted">
            {input.error.message}
          </p>
        ) : isPicture || isPictured(shapes) ? (
          <AnswerPicture
            name={sample.id}
            shapes={shapes}
            shown={choice.shown}
            address={address}
            error={picture.error}
            size={seen.data?.size}
          />
        ) : (
          <Waiting what="Fetching the sample" />
        )}
        {part === "document" && <Prompt record={record.id} sample={sample.id} />}
        <TokenShapes shapes={choice.shown} />
        {!isPictured(shapes) && <ShapeControls shapes={shapes} choice={choice} />}
        <OwnRanking record={record} id={sample.id} />
      </div>
      <Words record={record} sample={sample} shown={choice.shown} about={seen.data?.about} />
      {seen.error && <Trouble error={seen.error} again={() => void seen.refetch()} />}
    </div>
  );
}

/** Of a query: what was found for it. Only those with the lowest numbers have theirs kept. */
function OwnRanking({ record, id }: { record: Schemas["Record"]; id: string }) {
  const query = rankedQueries(record.details ?? {}).queries.find((each) => each.id === id);
  if (!query) return null;
  return (
    <div className="mt-4 text-sm">
      <p className="mb-2 text-xs text-muted">
        Nearest documents; nDCG@10 {percent(query.ndcg, 1)}, {plural(query.relevant, "relevant document")}
      </p>
      <Ranking record={record.id} query={query} />
    </div>
  );
}

function Words({
  record,
  sample,
  shown,
  about,
}: {
  record: Schemas["Record"];
  sample: Schemas["Sample"];
  shown: readonly Shape[];
  about?: string;
}) {
  const named = (number: number) => record.class_names[number] ?? String(number);
  return (
    <div className="space-y-4">
      <p className="flex flex-wrap items-center gap-2 empty:hidden">
        {sample.label != null && <span className="text-lg font-medium">{named(sample.label)}</span>}
        {sample.right != null && <Badge tone={sample.right ? "good" : "bad"}>{sample.right ? "right" : "wrong"}</Badge>}
        {sample.error && <Badge tone="bad">failed</Badge>}
      </p>
      {sample.error && <p className="text-sm text-bad">{sample.error}</p>}
      {sample.truth != null && !shown.some((each) => each.side === "truth" && isText(each)) && (
        <dl className="text-sm">
          <Fact name="Truth">
            <bdi>{sample.truth || "nothing"}</bdi>
          </Fact>
        </dl>
      )}
      {sample.classes && (
        <Bars
          guesses={sample.classes.slice(0, 5).map((number, place) => ({
            name: named(number),
            score: sample.scores?.[place],
            right: number === sample.label,
          }))}
        />
      )}
      <ShapeList shapes={shown} />
      <dl className="grid grid-cols-2 gap-3 text-sm">
        {sample.quality != null && (
          <Fact name="Quality">
            {qualityWords(sample.quality)}
            {about && <span className="mt-1 block text-xs font-normal text-muted">{about}</span>}
          </Fact>
        )}
        {sample.run_ns != null && <Fact name="Answered in">{time(sample.run_ns)}</Fact>}
        {sample.digest && (
          <Fact name="sha256">
            <code className="text-xs">{sample.digest.slice(0, 16)}</code>
          </Fact>
        )}
      </dl>
    </div>
  );
}
