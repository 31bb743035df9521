/** Whether the server answered the last time it was asked. */
import { useSyncExternalStore } from "react";

let isThere = true;
const listeners = new Set<() => void>();

export function tellReached(found: boolean): void {
  if (found === isThere) return;
  isThere = found;
  for (const tell of listeners) tell();
}

function subscribe(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

export const useReached = () => useSyncExternalStore(subscribe, () => isThere);
