/** How far it is, and what is being done. */
import type { Happening } from "../../api/events";
import { plural } from "../../lib/format";
import { Bar } from "../../ui/parts";

export function Progress({ events, waits }: { events: readonly Happening[]; waits: boolean }) {
  const last = events.findLast((event) => event.kind === "progress" && typeof event.of === "number");
  const words = events.findLast((event) => ["building", "note", "downloading", "waiting"].includes(event.kind));
  const said = words?.kind === "downloading" ? `fetching ${String(words.name)}` : (words?.text ?? words?.because ?? "");
  return (
    <div className="mt-4" aria-live="polite">
      {last && <Bar share={Number(last.done) / Number(last.of)} label="Progress" />}
      <p className="mt-1.5 text-sm text-muted">
        {waits ? "It waits for an agent that is free. " : ""}
        {last ? `${plural(Number(last.done), "answer")} of ${Number(last.of).toLocaleString("en")}. ` : ""}
        {String(said)}
      </p>
    </div>
  );
}
