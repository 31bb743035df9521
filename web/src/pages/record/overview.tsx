/** What a record amounts to: its numbers, what was claimed before, how long answers took, what to know before believing. */
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { plural } from "../../lib/format";
import { Badge, Card, Figure, Waiting } from "../../ui/parts";
import { Table } from "../../ui/table";
import { Bench } from "./bench";
import { Claims } from "./claims";
import { Curves } from "./curves";
import { Nearest } from "./nearest";
import { NumbersBesideTruth } from "./numbers-beside-truth";
import { called, seconds, shownNumbers, spanOf } from "./numbers";
import { Profile } from "./profile";
import { Training } from "./training";

const Latencies = lazy(() => import("./latencies"));
const Calibration = lazy(() => import("./calibration"));
const Qualities = lazy(() => import("./qualities"));
/** More numbers than these are a table, with the first ones above it. */
const FIGURES = 6;
const FIRST = 2;

export function Overview({ record }: { record: Schemas["Record"] }) {
  const bins = (record.details?.calibration as { bins?: object[] } | null | undefined)?.bins;
  const curve = record.details?.precision_recall as object[] | undefined;
  const qualities = record.details?.qualities as number[] | undefined;
  const isBeside = [bins?.length, curve?.length, qualities, record.latency].filter(Boolean).length > 1;
  return (
    <div className="space-y-6">
      {record.status !== "finished" && <Unfinished record={record} />}
      <Numbers record={record} />
      <Measures record={record} />
      {!record.bench && !record.profile && <Claims record={record} />}
      {record.notes.length > 0 && (
        <Card title="Before you believe it">
          <ul className="list-disc space-y-1 pl-5 text-sm">
            {record.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </Card>
      )}
      {record.bench && <Bench bench={record.bench} name={record.id} />}
      {record.profile && <Profile record={record} profile={record.profile} />}
      {record.training && <Training training={record.training} />}
      <div className={isBeside ? "grid grid-cols-1 gap-6 lg:grid-cols-2" : "space-y-6"}>
        {record.latency && (
          <Card
            title="Latency"
            aside={`batch of ${record.latency.batch_size}, ${plural(record.latency.raw_ns.length, "run")}`}
          >
            <Suspense fallback={<Waiting />}>
              <Latencies latency={record.latency} name={record.id} />
            </Suspense>
          </Card>
        )}
        <Curves record={record} />
        {qualities && (
          <Card title="Quality of samples" aside="how many have which">
            <Suspense fallback={<Waiting />}>
              <Qualities counts={qualities} name={record.id} />
            </Suspense>
          </Card>
        )}
        {bins && bins.length > 0 && (
          <Card title="Confidence" aside="right as often as it says?">
            <Suspense fallback={<Waiting />}>
              <Calibration bins={bins as never} name={record.id} />
            </Suspense>
          </Card>
        )}
      </div>
      {record.status === "finished" && !record.bench && !record.profile && !record.training && (
        <>
          <NumbersBesideTruth record={record} />
          <Nearest record={record} />
        </>
      )}
      <Refused of={record.refused ?? {}} />
    </div>
  );
}

function Numbers({ record }: { record: Schemas["Record"] }) {
  const p50 = record.latency?.p50_s;
  const numbers = shownNumbers(record.metrics ?? {});
  if (record.bench || record.profile) return null;
  return (
    <div className="grid grid-cols-[repeat(auto-fit,minmax(10.4rem,1fr))] gap-4">
      {numbers.slice(0, numbers.length > FIGURES ? FIRST : undefined).map(({ name, value, beside }) => (
        <Figure key={name} name={name} value={value} beside={beside} />
      ))}
      {p50 && <Figure name="Latency, median" value={seconds(p50.value)} beside={`95 % in ${spanOf(p50)}`} />}
      <Figure
        name="Samples"
        value={record.samples.toLocaleString("en")}
        beside={
          record.failed ? (
            <Badge tone="bad">{plural(record.failed, "failure")}</Badge>
          ) : record.status === "finished" ? (
            "all answered"
          ) : undefined
        }
      />
    </div>
  );
}

function Measures({ record }: { record: Schemas["Record"] }) {
  const numbers = shownNumbers(record.metrics ?? {});
  if (numbers.length <= FIGURES || record.bench || record.profile) return null;
  return (
    <Card title="All measures">
      <Table
        name="All measures"
        rows={numbers}
        identity={(each) => each.name}
        columns={[
          { title: "Measure", cell: (each) => each.name },
          { title: "Value", right: true, cell: (each) => each.value },
          { title: "95 % interval", right: true, cell: (each) => each.span ?? "–" },
        ]}
      />
    </Card>
  );
}

function Refused({ of }: { of: Record<string, string> }) {
  const reasons = new Map<string, string[]>();
  for (const [name, reason] of Object.entries(of)) reasons.set(reason, [...(reasons.get(reason) ?? []), called(name)]);
  if (!reasons.size) return null;
  return (
    <p className="text-sm text-muted">
      {[...reasons].map(([reason, names]) => `Not computed: ${names.join(", ")} – ${reason}.`).join(" ")}
    </p>
  );
}

/** Whether somebody still works on it is known where all records are listed. */
function Unfinished({ record }: { record: Schemas["Record"] }) {
  const { name } = record.plan.model;
  const found = useQuery({
    queryKey: ["records", name, "running"],
    queryFn: () => answer(api.GET("/api/v1/records", { params: { query: { model: name, status: "running" } } })),
    refetchInterval: 5000,
  });
  const status = found.data?.items.find((row) => row.id === record.id)?.status ?? record.status;
  return (
    <div role="status" className="rounded-xl border border-line bg-warn-soft p-5 text-sm">
      <p className="font-medium text-warn">
        {status === "interrupted" ? "It was interrupted before it had all samples." : "It is still running."}
      </p>
      <p className="mt-1">
        {status === "interrupted"
          ? "Nothing of it is lost: asked for again, it resumes where it left off."
          : "Its numbers are here when it is done; this page looks again by itself."}
        {record.attempts > 1 && ` So far it was begun ${record.attempts} times.`}
      </p>
    </div>
  );
}
