/** What came first for each query: the nearest documents, with the relevant ones marked. */
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { percent, plural } from "../../lib/format";
import { rankedQueries, type RankedDocument, type RankedQuery } from "../../lib/rankings";
import { Excerpt } from "../../shown/sample-content";
import { Badge, Button, Card } from "../../ui/parts";
import { Fold } from "../../ui/fold";
import { SampleLink } from "./sample-link";

const FIRST = 6;

export function Nearest({ record }: { record: Schemas["Record"] }) {
  const [isWhole, setWhole] = useState(false);
  const { queries, documents } = rankedQueries(record.details ?? {});
  if (!queries.length) return null;
  const total = Math.max(queries.length, record.samples - (record.failed ?? 0) - documents);
  const aside = `${record.plan.dataset.name}, ${total === 1 ? "1 query" : `${total.toLocaleString("en")} queries`}, ${plural(documents, "document")}`;
  return (
    <Card title="Nearest documents" aside={aside}>
      <p className="mb-3 text-sm text-muted">
        The queries with the lowest nDCG@10 first; relevant documents are marked.
      </p>
      <ul className="space-y-2">
        {queries.slice(0, isWhole ? undefined : FIRST).map((query, place) => (
          <li key={query.id} className="rounded-lg border border-line p-3">
            <Fold open={place === 0} title={<Title record={record.id} query={query} />}>
              {() => <Ranking record={record.id} query={query} />}
            </Fold>
          </li>
        ))}
      </ul>
      {!isWhole && queries.length > FIRST && (
        <Button className="mt-3" onClick={() => setWhole(true)}>
          All {queries.length} that are kept
        </Button>
      )}
    </Card>
  );
}

function Title({ record, query }: { record: string; query: RankedQuery }) {
  return (
    <span className="[overflow-wrap:anywhere]">
      <bdi className="font-medium text-ink">
        <Excerpt record={record} sample={query.id} />
      </bdi>{" "}
      <bdi className="font-mono text-xs">{query.id}</bdi>{" "}
      <span className="text-xs">
        nDCG@10 {percent(query.ndcg, 1)} · {plural(query.relevant, "relevant document")}
      </span>
    </span>
  );
}

/** Of one query; also shown where it is looked at by itself. */
export function Ranking({ record, query }: { record: string; query: RankedQuery }) {
  return (
    <>
      <List record={record} documents={query.best} name="Nearest documents" />
      {query.missed.length > 0 && (
        <>
          <p className="my-2 text-xs text-muted">Relevant, and further away:</p>
          <List record={record} documents={query.missed} name="Relevant documents further away" />
        </>
      )}
    </>
  );
}

function List({ record, documents, name }: { record: string; documents: readonly RankedDocument[]; name: string }) {
  return (
    <ol className="space-y-1" aria-label={name}>
      {documents.map((each) => (
        <li
          key={each.id}
          className={`grid grid-cols-[2.5rem_minmax(0,1fr)] rounded-md border-l-2 px-2 py-1.5 ${each.gain > 0 ? "border-good bg-good-soft/40" : "border-line"}`}
        >
          <span className="text-muted tabular-nums">{each.rank}</span>
          <div className="min-w-0">
            <Excerpt record={record} sample={each.id} className="block [overflow-wrap:anywhere]" />
            <p className="mt-0.5 flex flex-wrap items-center gap-x-2 text-xs text-muted">
              {each.gain > 0 && (
                <Badge tone="good">{each.gain === 1 ? "relevant" : `relevant, gain ${each.gain}`}</Badge>
              )}
              {each.similarity !== null && <span>similarity {each.similarity.toFixed(3)}</span>}
              <SampleLink id={each.id} />
            </p>
          </div>
        </li>
      ))}
    </ol>
  );
}
