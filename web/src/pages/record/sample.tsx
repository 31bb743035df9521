/** One sample, large: what it is, what was said of it and how surely. */
import * as Dialog from "@radix-ui/react-dialog";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { time } from "../../lib/format";
import { type Shape, shapesOf } from "../../lib/shapes";
import { AnswerPicture, isPictured } from "../../ui/answer-picture";
import { Bars } from "../../ui/bars";
import { Badge, Button, Fact, Trouble, Waiting } from "../../ui/parts";
import { useAddress, usePicture } from "../../ui/picture";
import { qualityWords, ShapeControls, ShapeList, useShown } from "../../ui/shown-shapes";
import { seenOf } from "../../api/seen";

export function SampleDialog({ record, id, close }: { record: Schemas["Record"]; id: string; close: () => void }) {
  const found = useQuery({
    queryKey: ["sample", record.id, id],
    queryFn: () =>
      answer(
        api.GET("/api/v1/records/{name}/samples", {
          params: { path: { name: record.id }, query: { q: id.slice(0, 200), limit: 1000 } },
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
          className="fixed top-1/2 left-1/2 z-30 max-h-[92dvh] w-[min(64rem,94vw)] -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-2xl border border-line bg-card p-5 shadow-xl sm:p-6"
        >
          <div className="mb-4 flex items-start justify-between gap-4">
            <Dialog.Title className="min-w-0 text-lg [overflow-wrap:anywhere]">{id}</Dialog.Title>
            <Dialog.Close asChild>
              <Button aria-label="Close">×</Button>
            </Dialog.Close>
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

function Shown({ record, sample }: { record: Schemas["Record"]; sample: Schemas["Sample"] }) {
  const picture = usePicture(`records/${record.id}`, sample.id, 1024);
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
        <AnswerPicture
          name={sample.id}
          shapes={shapes}
          shown={choice.shown}
          address={address}
          error={picture.error}
          size={seen.data?.size}
        />
        {!isPictured(shapes) && <ShapeControls shapes={shapes} choice={choice} />}
      </div>
      <Words record={record} sample={sample} shown={choice.shown} about={seen.data?.about} />
      {seen.error && <Trouble error={seen.error} again={() => void seen.refetch()} />}
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
      {sample.truth != null && (
        <dl className="text-sm">
          <Fact name="Truth">{sample.truth || "nothing"}</Fact>
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
