import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { answer, api, Problem, type Schemas } from "../../api/client";
import { happenings, type Happening } from "../../api/events";
import { ago } from "../../lib/format";
import { Bar, Button, Card, Fact, Facts, Heading, LOOKS, State, Trouble, Waiting } from "../../ui/parts";
import { Notify } from "../../shown/notify";
import { useMay } from "../../ui/shell";
import { Log } from "./log";
import { Result } from "./result";
import { doing } from "./words";

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
            {evaluation.kind}, requested by {evaluation.owner} {ago(evaluation.created_at)}
          </>
        }
        actions={
          <>
            <Notify id={evaluation.id} owner={evaluation.owner} open={!ENDED.includes(evaluation.state)} />
            <Cancel evaluation={evaluation} />
            <Again evaluation={evaluation} />
          </>
        }
      />
      <div className="space-y-6">
        <Result of={evaluation} />
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
            {evaluation.attempt > 1 && <Fact name="Attempt">{evaluation.attempt}</Fact>}
          </Facts>
          <Live evaluation={evaluation} events={events} />
          {evaluation.error && (
            <div className="mt-4">
              <Trouble error={problemOf(evaluation.error)} />
            </div>
          )}
        </Card>
        {error !== null && <Trouble error={error} />}
        <Log events={events} done={evaluation.state === "finished"} />
      </div>
    </>
  );
}

const problemOf = ({ kind, message, hint }: NonNullable<Schemas["Evaluation"]["error"]>) =>
  new Problem(0, kind, message, hint ?? undefined);

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

/** What it is doing, with a bar where that can be counted. */
function Live({ evaluation, events }: { evaluation: Schemas["Evaluation"]; events: Happening[] }) {
  if (ENDED.includes(evaluation.state)) return null;
  const last = events.findLast((event) => event.kind === "progress" && typeof event.of === "number");
  const done = Number(last?.done);
  const of = Number(last?.of);
  return (
    <div className="mt-4" aria-live="polite">
      {last && <Bar share={done / of} label="Progress" />}
      <p className="mt-1.5 text-sm text-muted">
        {doing(evaluation.state, events)}
        {last && eta(events, done, of)}
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

/** What has failed is asked for anew; an agent that began it goes on where it was. */
function Again({ evaluation: { state, model, dataset, kind } }: { evaluation: Schemas["Evaluation"] }) {
  const may = useMay("run");
  if (!may || (state !== "failed" && state !== "cancelled") || !["evaluate", "bench", "profile"].includes(kind))
    return null;
  return (
    <Link to="/new" search={{ model, dataset, kind }} className={LOOKS.main}>
      Run again
    </Link>
  );
}
