/** Answers that are more or less good: which samples changed, each with both answers and the truth over its picture. */
import { useQueries } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Schemas } from "../../api/client";
import { type Seen, seenOf } from "../../api/seen";
import { digits, plural } from "../../lib/format";
import type { Shape } from "../../lib/shapes";
import { isPictured } from "../../ui/answer-picture";
import { Button, Card, Empty, Fact, Facts } from "../../ui/parts";
import { ShapeControls, useShown } from "../../ui/shown-shapes";
import { Changed, KIND_WORDS, type Side } from "./changed";

const KINDS = ["worse", "better", "other"] as const;
const PAGE = 6;

interface Props {
  of: Schemas["QualitiesApart"];
  records: Schemas["ComparedRecord"][];
}

export function Qualities({ of, records }: Props) {
  const [kind, setKind] = useState<(typeof KINDS)[number]>();
  const [pages, setPages] = useState(1);
  const rows = useMemo(() => of.changed.filter((each) => !kind || each.kind === kind), [of, kind]);
  const shown = rows.slice(0, pages * PAGE);
  const seen = useQueries({
    queries: shown.flatMap((row) => records.slice(0, 2).map((record) => seenOf(record.id, row.sample))),
  });
  const shapes = seen.flatMap((each) => (each.data?.shapes ?? []) as Shape[]);
  const choice = useShown(shapes, seen[0]?.data?.shown_above);
  const all = KINDS.reduce((sum, each) => sum + of.counts[each], 0);
  const wanted = kind ? of.counts[kind] : all;
  return (
    <Card title="Do they answer the same?" aside={plural(of.samples, "sample")}>
      <Facts>
        <Fact name="Same answer">{of.same.toLocaleString("en")}</Fact>
        <Fact name="Worse in the second">{of.counts.worse.toLocaleString("en")}</Fact>
        <Fact name="Better in the second">{of.counts.better.toLocaleString("en")}</Fact>
        <Fact name="Mean change of quality">{points(of.mean_change)}</Fact>
        {of.only_one > 0 && <Fact name="Answered by one alone">{plural(of.only_one, "sample")}</Fact>}
      </Facts>
      {of.about && <p className="mt-3 text-xs text-muted">{of.about}</p>}
      {all > 0 && (
        <section className="mt-5" aria-label="Samples that changed">
          <div className="mb-2 flex flex-wrap gap-2" role="group" aria-label="Which samples">
            {[undefined, ...KINDS].map((each) => (
              <Button
                key={each ?? "all"}
                aria-pressed={kind === each}
                className={kind === each ? "!border-accent !text-accent" : ""}
                onClick={() => {
                  setKind(each);
                  setPages(1);
                }}
              >
                {each ? KIND_WORDS[each] : "all"}{" "}
                <span className="text-muted">{(each ? of.counts[each] : all).toLocaleString("en")}</span>
              </Button>
            ))}
          </div>
          {!isPictured(shapes) && <ShapeControls shapes={shapes} choice={choice} />}
          {shown.length ? (
            <ul className="mt-4 grid gap-5">
              {shown.map((row, place) => (
                <Changed key={row.sample} row={row} sides={sidesOf(seen, place, records)} choice={choice} />
              ))}
            </ul>
          ) : (
            <Empty>None of this kind.</Empty>
          )}
          {shown.length < rows.length ? (
            <Button className="mt-4" onClick={() => setPages(pages + 1)}>
              More samples
            </Button>
          ) : (
            rows.length < wanted && (
              <p className="mt-4 text-sm text-muted [overflow-wrap:anywhere]">
                {`Of each kind only those that changed most are here. All of them: `}
                <code>{`mlmodelscope compare ${records[0]!.id} ${records[1]!.id} --output samples.csv`}</code>
              </p>
            )
          )}
        </section>
      )}
    </Card>
  );
}

type Asked = { data?: Seen; error: Error | null };

/** Both records' answers to the sample at a place. */
function sidesOf(seen: readonly Asked[], place: number, records: Props["records"]): [Side, Side] {
  const side = (at: 0 | 1): Side => {
    const { data, error } = seen[2 * place + at]!;
    return { record: records[at]!, at, seen: data, error };
  };
  return [side(0), side(1)];
}

const points = (share: number): string => `${share > 0 ? "+" : ""}${digits(100 * share)} points`.replace("-", "−");
