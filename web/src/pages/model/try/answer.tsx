/** What a model says of what it was given: bars, boxes, a mask, a text; and what that took. */
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Problem, type Schemas } from "../../../api/client";
import { time } from "../../../lib/format";
import { type Shape, shapeOf } from "../../../lib/shapes";
import { Bars } from "../../../ui/bars";
import { colour, Overlay } from "../../../ui/overlay";
import { Badge, Trouble } from "../../../ui/parts";
import { useAddress } from "../../../ui/picture";
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
  if (given === null) return <p className="text-sm text-muted">The answer comes here.</p>;
  return (
    <div className="space-y-4" aria-live="polite" aria-busy={found.isFetching}>
      <Seen given={given} said={found.isFetching ? undefined : found.data?.answer} />
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
        <Said of={found.data} />
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

function Seen({ given, said }: { given: Given; said?: string | null }) {
  const isShown = given.kind === "file" && SHOWN.includes(given.blob.type);
  const address = useAddress(isShown ? given.blob : null);
  const shape = useMemo(() => (said ? shapeOf(said) : undefined), [said]);
  if (address && given.kind === "file")
    return (
      <div className="text-center">
        <Overlay address={address} name={given.name} shape={shape} />
      </div>
    );
  const words = given.kind === "file" ? given.name : given.kind === "url" ? given.url : given.text;
  return <p className="line-clamp-3 rounded-lg bg-paper p-3 text-sm text-muted [overflow-wrap:anywhere]">{words}</p>;
}

function Said({ of }: { of: Schemas["Prediction"] }) {
  const shape = of.answer ? shapeOf(of.answer) : null;
  const packages = Object.entries(of.packages);
  return (
    <>
      {shape ? (
        <Shaped shape={shape} />
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

function Shaped({ shape }: { shape: Shape }) {
  if (shape.kind === "boxes")
    return <Bars guesses={shape.boxes.map((box) => ({ name: box.name || "something", score: box.score }))} />;
  if (shape.kind === "mask") {
    const { classes, names } = shape.mask;
    const numbers = [...new Set(classes)].filter(Boolean).sort((a, b) => a - b);
    return (
      <ul className="flex flex-wrap gap-x-4 gap-y-1 text-sm" aria-label="Classes of the mask">
        {numbers.map((number) => (
          <li key={number} className="flex items-center gap-1.5">
            <span aria-hidden="true" className="size-3 rounded-sm" style={{ background: colour(number - 1) }} />
            {names[number] ?? `class ${number}`}
          </li>
        ))}
      </ul>
    );
  }
  return (
    <p
      className={`max-h-80 overflow-y-auto rounded-lg bg-paper p-3 whitespace-pre-wrap [overflow-wrap:anywhere] ${shape.kind === "values" ? "font-mono text-xs" : ""}`}
      tabIndex={0}
      aria-label="What it says"
      role="region"
    >
      {shape.text}
    </p>
  );
}
