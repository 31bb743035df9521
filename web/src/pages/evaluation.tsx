import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { answer, api, type Schemas } from "../api/client";
import { happenings, type Happening } from "../api/events";
import { ago, plural } from "../lib/format";
import { Bar, Button, Card, Fact, Facts, Heading, LOOKS, State, Trouble, Waiting } from "../ui/parts";
import { useMay } from "../ui/shell";

const here = getRouteApi("/evaluations/$id");
const ENDED = ["finished", "failed", "cancelled"];
const STATES = ["waiting", "running", ...ENDED];

export function EvaluationPage() {
  const { id } = here.useParams();
  const queries = useQueryClient();
  const found = useQuery({
    queryKey: ["evaluation", id],
    queryFn: () => answer(api.GET("/api/v1/evaluations/{identity}", { params: { path: { identity: id } } })),
  });
  const { events, error } = useEvents(id, () => void queries.invalidateQueries({ queryKey: ["evaluation", id] }));
  if (found.isPending) return <Waiting />;
  if (!found.data) return <Trouble error={found.error} again={() => void found.refetch()} />;
  const evaluation = found.data;
  return (
    <>
      <Heading
        title={
          <>
            {evaluation.model} <span className="font-normal text-muted">on {evaluation.dataset}</span>
          </>
        }
        about={
          <>
            {evaluation.kind}, asked for by {evaluation.owner} {ago(evaluation.created_at)}
          </>
        }
        actions={
          <>
            <Result of={evaluation} />
            <Cancel evaluation={evaluation} />
            <Again evaluation={evaluation} />
          </>
        }
      />
      <div className="space-y-6">
        <Card>
          <Facts>
            <Fact name="State">
              <State of={evaluation.state} />
            </Fact>
            <Fact name="Agent">
              {evaluation.agent ? (
                <Link to="/agents/$id" params={{ id: evaluation.agent }}>
                  {evaluation.agent}
                </Link>
              ) : (
                "–"
              )}
            </Fact>
            <Fact name="Attempt">{evaluation.attempt || "–"}</Fact>
            <Fact name="Record">
              {evaluation.record ? (
                <Link to="/records/$id" params={{ id: evaluation.record }}>
                  <code>{evaluation.record}</code>
                </Link>
              ) : (
                "–"
              )}
            </Fact>
          </Facts>
          <Live evaluation={evaluation} events={events} />
          {evaluation.error && (
            <div className="mt-4">
              <Trouble error={new Error(evaluation.error.message)} />
            </div>
          )}
        </Card>
        {error !== null && <Trouble error={error} />}
        <Log events={events} />
      </div>
    </>
  );
}

function useEvents(id: string, changed: () => void): { events: Happening[]; error: unknown } {
  const [events, setEvents] = useState<Happening[]>([]);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const stop = new AbortController();
    setEvents([]);
    setError(null);
    void (async () => {
      try {
        for await (const event of happenings(id, stop.signal)) {
          setEvents((before) => [...before.slice(-999), event]);
          if (STATES.includes(event.kind)) changed();
        }
      } catch (problem) {
        if (!stop.signal.aborted) setError(problem);
      }
    })();
    return () => stop.abort();
  }, [id]); // `changed` is another function each time, and means the same
  return { events, error };
}

function Live({ evaluation, events }: { evaluation: Schemas["Evaluation"]; events: Happening[] }) {
  const last = events.findLast((event) => event.kind === "progress" && typeof event.of === "number");
  if (!last || ENDED.includes(evaluation.state)) return null;
  const done = Number(last.done);
  const of = Number(last.of);
  return (
    <div className="mt-4" aria-live="polite">
      <Bar share={done / of} label="Progress" />
      <p className="mt-1.5 text-sm text-muted">
        {`${done} of ${plural(of, last.parts ? "part" : "sample")}`}
        {eta(events, done, of)}
      </p>
    </div>
  );
}

function eta(events: Happening[], done: number, of: number): string {
  const first = events.find((event) => event.kind === "progress" && Number(event.done) > 0);
  const last = events.findLast((event) => event.kind === "progress");
  if (!first || !last || last.number === first.number) return "";
  const seconds = (Date.parse(last.at) - Date.parse(first.at)) / 1000;
  const rate = (done - Number(first.done)) / seconds;
  return rate > 0 ? `, about ${Math.ceil((of - done) / rate)} s to go` : "";
}

function Cancel({ evaluation }: { evaluation: Schemas["Evaluation"] }) {
  const may = useMay("run");
  const queries = useQueryClient();
  const cancel = useMutation({
    mutationFn: () =>
      answer(api.POST("/api/v1/evaluations/{identity}/cancel", { params: { path: { identity: evaluation.id } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: ["evaluation", evaluation.id] }),
  });
  if (!may || ENDED.includes(evaluation.state)) return null;
  return (
    <Button kind="danger" disabled={cancel.isPending || evaluation.cancelling} onClick={() => cancel.mutate()}>
      {evaluation.cancelling ? "Cancelling …" : "Cancel"}
    </Button>
  );
}

/** What comes of some kinds has a page of its own. */
function Result({ of: { id, kind } }: { of: Schemas["Evaluation"] }) {
  if (kind !== "replicate" && kind !== "sensitivity") return null;
  return (
    <Link to={kind === "replicate" ? "/replications/$id" : "/sensitivities/$id"} params={{ id }} className={LOOKS.main}>
      {kind === "replicate" ? "The verdict" : "The heat map"}
    </Link>
  );
}

/** What has failed is asked for anew; an agent that began it goes on where it was. */
function Again({ evaluation: { state, model, dataset, kind } }: { evaluation: Schemas["Evaluation"] }) {
  const may = useMay("run");
  if (!may || (state !== "failed" && state !== "cancelled") || !["evaluate", "bench", "profile"].includes(kind))
    return null;
  return (
    <Link to="/new" search={{ model, dataset, kind }} className={LOOKS.main}>
      Ask again
    </Link>
  );
}

function Log({ events }: { events: Happening[] }) {
  if (!events.length) return null;
  return (
    <Card title="What happened" aside={<Link to="/evaluations">all evaluations</Link>}>
      <ol className="max-h-96 space-y-1 overflow-y-auto font-mono text-xs" tabIndex={0} aria-label="Log">
        {events.map(({ number, at, kind, ...more }) => (
          <li key={number} className="grid grid-cols-[6rem_7rem_1fr] gap-2">
            <time dateTime={at} className="text-muted">
              {at.slice(11, 19)}
            </time>
            <b className="font-medium">{kind}</b>
            <span className="text-muted [overflow-wrap:anywhere]">{spell(more)}</span>
          </li>
        ))}
      </ol>
    </Card>
  );
}

function spell(more: Record<string, unknown>): string {
  return Object.entries(more)
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) =>
      name === "text" || name === "message"
        ? String(value)
        : `${name} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`,
    )
    .join(", ");
}
