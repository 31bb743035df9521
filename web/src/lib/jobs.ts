/** Jobs that were started in this browser and have not ended, as far as is known: they are followed on every page. */
import { useSyncExternalStore } from "react";

const PLACE = "mlmodelscope.jobs";
const MOST = 10;
const NONE: readonly string[] = [];

let known: readonly string[] | null = null;
const listeners = new Set<() => void>();

function read(): readonly string[] {
  if (known) return known;
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(PLACE) ?? "[]");
    known = Array.isArray(kept) ? kept.filter((each) => typeof each === "string").slice(-MOST) : NONE;
  } catch {
    known = NONE; // somebody else's text, or no storage at all
  }
  return known;
}

function write(jobs: readonly string[]): void {
  known = jobs;
  try {
    localStorage.setItem(PLACE, JSON.stringify(jobs));
  } catch {
    // They are followed until the page is left.
  }
  for (const each of listeners) each();
}

export function follow(id: string): void {
  if (!read().includes(id)) write([...read(), id].slice(-MOST));
}

export function drop(id: string): void {
  if (read().includes(id)) write(read().filter((each) => each !== id));
}

function subscribe(listener: () => void): () => void {
  // Another tab has followed or dropped one.
  const heard = (event: StorageEvent) => {
    if (event.key !== PLACE) return;
    known = null;
    listener();
  };
  listeners.add(listener);
  addEventListener("storage", heard);
  return () => {
    listeners.delete(listener);
    removeEventListener("storage", heard);
  };
}

export const useJobs = (): readonly string[] => useSyncExternalStore(subscribe, read, () => NONE);
