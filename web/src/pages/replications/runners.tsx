/** The variants of a search: each with its number, how sure that is, and why it left. */
import { useState } from "react";
import { plural } from "../../lib/format";
import { spelled, written } from "../../lib/measured";
import { Badge, Button } from "../../ui/parts";
import { type Goal, race, reach, type Round, type Runner, within } from "./race";

const FEW = 8;
const MOST = 12;

interface Props {
  rounds: Round[];
  goal: Goal | null;
  ended: boolean;
  /** In words, those that explain the number, where it is known by now. */
  explained?: ReadonlySet<string>;
}

export function Runners({ rounds, goal, ended, explained = new Set() }: Props) {
  const [all, setAll] = useState(false);
  const { running, left } = race(rounds, goal?.claimed);
  const last = rounds.at(-1);
  if (!last) return null;
  const near = all ? running : running.slice(0, MOST);
  const shown = all ? left : left.slice(0, Math.max(FEW - near.length, 3));
  const more = running.length + left.length - near.length - shown.length;
  return (
    <>
      <p className="mb-3 text-sm text-muted" aria-live="polite">
        {`${plural(running.length + left.length, "variant")} tried, ${left.length} ruled out. `}
        {ended
          ? `${explained.size || "None"} ${explained.size > 1 ? "explain" : "explains"} the number.`
          : `${running.length} still in the race. `}
        {!ended && `${plural(last.variants.length, "variant")} on ${plural(last.samples, "sample")} just now.`}
      </p>
      {goal && <Scale goal={goal} />}
      <ol aria-label="Variants" className="divide-y divide-line border-y border-line">
        {[...near, ...shown].map((each) => (
          <Line key={each.key} runner={each} goal={goal} state={stateOf(each, ended, explained)} />
        ))}
      </ol>
      {more > 0 && (
        <Button className="mt-3" onClick={() => setAll(true)}>
          {more} more
        </Button>
      )}
    </>
  );
}

const GRID =
  "grid grid-cols-[1fr_auto] items-center gap-x-4 gap-y-1.5 sm:grid-cols-[minmax(0,1fr)_12rem_9rem_11rem] lg:grid-cols-[minmax(0,1fr)_20rem_9rem_11rem]";

function Scale({ goal }: { goal: Goal }) {
  const place = reach(goal);
  const marks = [
    { name: "measured", value: goal.measured, looks: "text-muted" },
    { name: "claimed", value: goal.claimed, looks: "text-accent font-medium" },
  ];
  return (
    <div className={`${GRID} hidden pb-1 text-xs sm:grid`} aria-hidden="true">
      <span />
      <span className="relative h-8">
        {marks.map((mark, at) => (
          <span
            key={mark.name}
            className={`absolute -translate-x-1/2 whitespace-nowrap ${mark.looks}`}
            style={{ left: `${100 * within(place, mark.value)}%`, top: at ? 0 : "1rem" }}
          >
            {mark.name} {spelled(mark.value, goal.unit, goal.unit === "share" ? 1 : 2)}
          </span>
        ))}
      </span>
      <span className="text-right text-muted">on all samples</span>
      <span />
    </div>
  );
}

type Standing = [words: string, tone: "plain" | "accent" | "good"];

function stateOf(runner: Runner, ended: boolean, explained: ReadonlySet<string>): Standing {
  if (explained.has(runner.words)) return ["explains it", "good"];
  if (runner.out) return [runner.why ?? "ruled out", "plain"];
  if (!ended) return ["in the race", "accent"];
  return explained.size ? ["less likely", "plain"] : ["not ruled out", "accent"];
}

function Line({ runner, goal, state: [words, tone] }: { runner: Runner; goal: Goal | null; state: Standing }) {
  const off = 1.96 * runner.deviation;
  return (
    <li className={`${GRID} py-2.5 text-sm`}>
      <div className="min-w-0">
        <p className={runner.out ? "text-muted" : "font-medium"}>{runner.words}</p>
        <p className="text-xs text-muted">{runner.pitfalls.join(" + ")}</p>
      </div>
      <div className="order-last col-span-2 sm:order-none sm:col-span-1">
        {goal && <Interval runner={runner} goal={goal} />}
      </div>
      <p className="text-right whitespace-nowrap">
        {spelled(runner.expected, goal?.unit ?? "share")}
        <span className="block text-xs text-muted">
          {off ? `± ${written(off, goal?.unit ?? "share")}, ` : "exact, "}
          {plural(runner.samples, "sample")}
        </span>
      </p>
      <p className="sm:text-right">
        <Badge tone={tone}>{words}</Badge>
      </p>
    </li>
  );
}

function Interval({ runner, goal }: { runner: Runner; goal: Goal }) {
  const place = reach(goal);
  const at = (value: number) => `${100 * within(place, value)}%`;
  const off = 1.96 * runner.deviation;
  const [low, high] = [within(place, runner.expected - off), within(place, runner.expected + off)];
  return (
    <span className="relative block h-4 rounded bg-soft" aria-hidden="true">
      <span className="absolute inset-y-0 w-0.5 bg-muted/50" style={{ left: at(goal.measured) }} />
      <span
        className="absolute inset-y-0 min-w-0.5 bg-accent-mid"
        style={{ left: at(goal.low), width: `${100 * (within(place, goal.high) - within(place, goal.low))}%` }}
      />
      <span
        className={`absolute top-1/2 h-0.5 -translate-y-1/2 ${runner.out ? "bg-muted/60" : "bg-ink"}`}
        style={{ left: `${100 * low}%`, width: `${100 * (high - low)}%` }}
      />
      <span
        className={`absolute top-1/2 size-2.5 -translate-1/2 rounded-full ${runner.out ? "bg-muted/60" : "bg-ink"}`}
        style={{ left: at(runner.expected) }}
      />
    </span>
  );
}
