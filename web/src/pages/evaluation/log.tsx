/** What happened, line by line; folded once there is a result. */
import type { Happening } from "../../api/events";
import { Card } from "../../ui/parts";
import { Fold } from "../../ui/fold";
import { sentenceOf, story } from "./words";

export function Log({ events, done }: { events: readonly Happening[]; done: boolean }) {
  if (!events.length) return null;
  const lines = story(events);
  return (
    <Card>
      {/* Opened and folded by whoever reads it; another one once it has a result, which begins folded. */}
      <Fold key={String(done)} title="Log" open={!done}>
        {() => (
          <ol className="space-y-1.5 text-sm" aria-label="Log">
            {lines.map((event) => {
              const [word, rest] = sentenceOf(event);
              return (
                <li key={event.number} className="flex flex-wrap gap-x-3">
                  <time dateTime={event.at} className="font-mono text-xs leading-5 text-muted">
                    {event.at.slice(11, 19)}
                  </time>
                  <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
                    <b className="font-medium">{word}</b> <span className="text-muted">{rest}</span>
                  </span>
                </li>
              );
            })}
          </ol>
        )}
      </Fold>
    </Card>
  );
}
