/** What a model says of what it was given: bars, boxes, a mask, a text; and what that took. */
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Problem, type Schemas } from "../../../api/client";
import { time } from "../../../lib/format";
import { type Shape, shapesOf } from "../../../lib/shapes";
import { Bars } from "../../../ui/bars";
import { Overlay } from "../../../ui/overlay";
import { Badge, Trouble } from "../../../ui/parts";
import { useAddress } from "../../../ui/picture";
import { type Choice, ShapeControls, ShapeList, useShown } from "../../../ui/shown-shapes";
import { ask, type Chosen } from "./ask";
import { type Given, SHOWN } from "./given";
import { Stages } from "./stages";

const MOST_PACKAGES = 4;

export function Answer({ chosen, given, trust }: { chosen: Chosen; given: Given | null; trust: boolean }) {
  const [happening, setHappening] = useState("Asking");
  const found = useQuery({
    queryKey: ["prediction", chosen, given?.id, trust],
    queryFn: ({ signal }) => {
      setHappening("Asking");
      return ask(chosen, given!, trust, setHappening, signal);
    },
    enabled: given !== null,
    retry: false,
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const shapes = useMemo(() => (found.isFetching ? NONE : seenIn(found.data)), [found.isFetching, found.data]);
  const choice = useShown(shapes);
  if (given === null) return <p className="text-sm text-muted">The answer comes here.</p>;
  return (
    <div className="space-y-4" aria-live="polite" aria-busy={found.isFetching}>
      <Seen given={given} shapes={shapes} choice={choice} />
      {found.isFetching ? (
        <p className="flex items-center gap-2 text-sm text-muted">
          <span aria-hidden="true" className="size-2 animate-pulse rounded-full bg-accent" />
          {`${happening} …`}
        </p>
      ) : found.error ? (
        <Trouble
          error={helped(found.error)}
          again={isUnreadable(found.error) ? undefined : () => void found.refetch()}
        />
      ) : found.data ? (
        <Said of={found.data} shapes={shapes} choice={choice} />
      ) : null}
    </div>
  );
}

/** What a model cannot read is no dead end. */
function helped(error: Error): Error {
  return isUnreadable(error) && !error.hint
    ? new Problem(error.status, error.kind, error.message, "It stays so if you ask again: give it another one.")
    : error;
}

const isUnreadable = (error: Error): error is Problem => error instanceof Problem && error.status === 422;

const NONE: Shape[] = [];

/** As the task shows it; what a manifest's own code answered is looked through for what can be shown. */
function seenIn(said: Schemas["Prediction"] | undefined): Shape[] {
  if (said?.shapes?.length) return said.shapes as Shape[];
  return said?.answer ? shapesOf(said.answer) : NONE;
}

function Seen({ given, shapes, choice }: { given: Given; shapes: readonly Shape[]; choice: Choice }) {
  const isShown = given.kind === "file" && SHOWN.includes(given.blob.type);
  const address = useAddress(isShown ? given.blob : null);
  if (address && given.kind === "file")
    return (
      <div className="text-center">
        <Overlay address={address} name={given.name} shapes={choice.shown} all={shapes} />
        <ShapeControls shapes={shapes} choice={choice} />
      </div>
    );
  const words = given.kind === "file" ? given.name : given.kind === "url" ? given.url : given.text;
  return <p className="line-clamp-3 rounded-lg bg-paper p-3 text-sm text-muted [overflow-wrap:anywhere]">{words}</p>;
}

function Said({ of, shapes, choice }: { of: Schemas["Prediction"]; shapes: readonly Shape[]; choice: Choice }) {
  const packages = Object.entries(of.packages);
  return (
    <>
      {shapes.length ? (
        <ShapeList shapes={choice.shown} />
      ) : of.answer ? (
        <p className="text-sm text-muted">It found nothing.</p>
      ) : (
        <Bars guesses={of.names.map((name, place) => ({ name, score: of.scores[place] }))} />
      )}
      <Stages of={of} />
      <p className="flex flex-wrap gap-1.5">
        <Badge>{of.agent}</Badge>
        <Badge>{of.stack}</Badge>
        {packages.slice(0, MOST_PACKAGES).map(([name, version]) => (
          <Badge key={name}>{`${name} ${version}`}</Badge>
        ))}
        {packages.length > MOST_PACKAGES && <Badge>{`and ${packages.length - MOST_PACKAGES} packages`}</Badge>}
        <Badge tone={of.warm ? "good" : "warn"}>{of.warm ? "was open" : `opened in ${time(of.load_ns)}`}</Badge>
      </p>
    </>
  );
}
