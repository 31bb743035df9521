/** What happens to a piece of work while the page is open. */
import { useEffect, useRef, useState } from "react";
import { happenings, type Happening } from "../../api/events";

const TURNS = ["started", "running", "finished", "failed", "cancelled"];

/** Of how far it is only the last is of interest; a long search tells it thousands of times. */
const isPassing = (event: Happening, last: Happening | undefined) =>
  event.kind === last?.kind && (event.kind === "progress" || event.kind === "downloading");

/** Its events; `turned` is called where its state is another one. Nothing is asked where it is over already. */
export function useHappenings(id: string, wanted: boolean, turned: () => void) {
  const [events, setEvents] = useState<Happening[]>([]);
  const [error, setError] = useState<unknown>(null);
  const tell = useRef(turned);
  tell.current = turned;
  useEffect(() => {
    if (!wanted) return;
    const stop = new AbortController();
    setEvents([]);
    setError(null);
    void (async () => {
      try {
        for await (const event of happenings(id, stop.signal)) {
          setEvents((before) => [...(isPassing(event, before.at(-1)) ? before.slice(0, -1) : before), event]);
          if (TURNS.includes(event.kind)) tell.current();
        }
        tell.current();
      } catch (problem) {
        if (!stop.signal.aborted) setError(problem);
      }
    })();
    return () => stop.abort();
  }, [id, wanted]);
  return { events, error };
}
