/** What came of it, before anything else: the number that counts, what it is of, and the way to all of it. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../../api/client";
import { digits, plural } from "../../lib/format";
import { Card, Figure, LOOKS, Trouble, Waiting } from "../../ui/parts";
import { called, type Interval, seconds, shownNumbers, spanOf } from "../record/numbers";

const MOST = 3;

export function Result({ of: evaluation }: { of: Schemas["Evaluation"] }) {
  const { record: name } = evaluation;
  const found = useQuery({
    queryKey: ["record", name],
    queryFn: () => answer(api.GET("/api/v1/records/{name}", { params: { path: { name: name! } } })),
    enabled: name !== null,
  });
  if (evaluation.state !== "finished") return null;
  const record = found.data;
  return (
    <Card title="Result" aside={record && <About record={record} />}>
      {found.error ? (
        <Trouble error={found.error} again={() => void found.refetch()} />
      ) : name && !record ? (
        <Waiting />
      ) : record ? (
        <div className="grid grid-cols-[repeat(auto-fit,minmax(10.4rem,1fr))] gap-4">
          {numbersOf(record).map((each) => (
            <Figure key={each.name} {...each} />
          ))}
        </div>
      ) : null}
      <p className="mt-4 flex flex-wrap gap-2">
        <See evaluation={evaluation} />
      </p>
    </Card>
  );
}

function About({ record }: { record: Schemas["Record"] }) {
  return (
    <>
      {[
        `on ${record.plan.dataset.name}`,
        record.samples && plural(record.samples, "sample"),
        record.failed && `${plural(record.failed, "sample")} failed`,
      ]
        .filter(Boolean)
        .join(" · ")}
    </>
  );
}

function numbersOf(record: Schemas["Record"]): { name: string; value: string; beside?: string }[] {
  const { bench, training, latency } = record;
  if (bench) {
    const rate = bench.throughput?.value ?? bench.measured?.samples_per_s;
    const median = bench.measured?.percentiles_s.p50 as Interval | undefined;
    return [
      ...(rate == null ? [] : [{ name: "Throughput", value: `${digits(rate)} /s`, beside: "samples per second" }]),
      ...(median ? [latencyOf(median)] : []),
    ];
  }
  if (training)
    return Object.entries(training.metrics)
      .slice(0, MOST)
      .map(([name, value]) => ({ name: called(name), value: digits(value) }));
  const found = shownNumbers(record.metrics ?? {}).slice(0, MOST);
  return latency ? [...found.slice(0, MOST - 1), latencyOf(latency.p50_s)] : found;
}

const latencyOf = (p50: Interval) => ({
  name: "Latency, median",
  value: seconds(p50.value),
  beside: `95 % in ${spanOf(p50)}`,
});

/** Where all of it is; what comes of some kinds has a page of its own, beside the record that was made on the way. */
function See({ evaluation: { id, kind, record } }: { evaluation: Schemas["Evaluation"] }) {
  const own = kind === "replicate" || kind === "sensitivity";
  return (
    <>
      {own && (
        <Link
          to={kind === "replicate" ? "/replications/$id" : "/sensitivities/$id"}
          params={{ id }}
          className={LOOKS.main}
        >
          {kind === "replicate" ? "See the verdict" : "See the heat map"}
        </Link>
      )}
      {record && (
        <Link to="/records/$id" params={{ id: record }} className={own ? LOOKS.plain : LOOKS.main}>
          {own ? "See the record" : "See the result"}
        </Link>
      )}
    </>
  );
}
