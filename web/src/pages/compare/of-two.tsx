/** What is said of two records only: which is faster, which is more accurate, how far the answers lie apart, which layers make the difference. */
import { useMemo } from "react";
import type { Schemas } from "../../api/client";
import { percent } from "../../lib/format";
import { Badge, Card } from "../../ui/parts";
import { Answers } from "./answers";
import { Layers } from "./layers";
import { Qualities } from "./qualities";

const TONES = { faster: "good", slower: "bad", "no difference": "plain", "not judged": "warn" } as const;

export default function OfTwo({ pair, records }: { pair: Schemas["Pair"]; records: Schemas["ComparedRecord"][] }) {
  const names = useMemo((): [string, string] => [records[0]!.name, records[1]!.name], [records]);
  return (
    <div className="space-y-6">
      {pair.latency && <Ratio of={pair.latency} names={names} />}
      {pair.accuracy && <Accuracy of={pair.accuracy} names={names} />}
      {pair.answers && <Answers of={pair.answers} names={names} />}
      {pair.qualities && <Qualities of={pair.qualities} records={records} />}
      {pair.layers && <Layers of={pair.layers} names={names} />}
      {pair.notes.length > 0 && (
        <Card title="Not compared">
          <ul className="list-disc space-y-1 pl-5 text-sm text-muted">
            {pair.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </Card>
      )}
    </div>
  );
}

function Ratio({ of, names }: { of: Schemas["LatencyRatio"]; names: [string, string] }) {
  return (
    <Card title="Which is faster?" aside={<Badge tone={TONES[of.verdict]}>{of.verdict}</Badge>}>
      <p className="text-lg first-letter:uppercase">{of.sentence}.</p>
      <p className="mt-1 text-sm text-muted [overflow-wrap:anywhere]">
        The first is {names[0]}, the second {names[1]}.
      </p>
      {of.ratio && <Scale ratio={of.ratio} noise={of.noise} />}
      {of.doubts.length > 0 && (
        <ul className="mt-3 list-disc space-y-1 pl-5 text-sm text-warn">
          {of.doubts.map((doubt) => (
            <li key={doubt}>{doubt}</li>
          ))}
        </ul>
      )}
    </Card>
  );
}

const ACCURACY_TONES = { "more accurate": "good", "less accurate": "bad", "no difference": "plain" } as const;

function Accuracy({ of, names }: { of: Schemas["AccuracyPair"]; names: [string, string] }) {
  return (
    <Card title="Which is more accurate?" aside={<Badge tone={ACCURACY_TONES[of.verdict]}>{of.verdict}</Badge>}>
      <p className="text-lg first-letter:uppercase">{of.sentence}.</p>
      <ul className="mt-1 space-y-1 text-sm text-muted [overflow-wrap:anywhere]">
        {[of.first, of.second].map((each, place) => (
          <li key={names[place]}>
            {names[place]}: {percent(each.value, 1)} ({percent(each.low, 1)} … {percent(each.high, 1)})
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** The ratio and its interval on a line around 1, with what either differs from itself. */
function Scale({ ratio, noise }: { ratio: Schemas["Between"]; noise: number }) {
  const reach = Math.max(...[ratio.low, ratio.high, 1 + noise].map((each) => Math.abs(Math.log(each))), 0.02) * 1.15;
  const at = (value: number) => `${50 + (50 * Math.log(value)) / reach}%`;
  const span = (low: number, high: number) => ({ left: at(low), width: `calc(${at(high)} - ${at(low)})` });
  return (
    <div className="mt-4" aria-hidden="true">
      <div className="relative h-8">
        <div className="absolute inset-y-1 rounded bg-soft" style={span(1 / (1 + noise), 1 + noise)} />
        <div className="absolute inset-y-0 left-1/2 w-px bg-muted" />
        <div className="absolute top-3 h-2 rounded-full bg-accent-mid" style={span(ratio.low, ratio.high)} />
        <div
          className="absolute top-2 size-4 -translate-x-1/2 rounded-full bg-accent"
          style={{ left: at(ratio.value) }}
        />
      </div>
      <div className="flex justify-between text-xs text-muted">
        <span>the second is faster</span>
        <span>the same</span>
        <span>the second is slower</span>
      </div>
    </div>
  );
}
