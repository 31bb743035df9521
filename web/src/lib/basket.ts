/** Records that somebody wants to see side by side; kept in this browser, the same in all its tabs. */
import { useSyncExternalStore } from "react";

const KEY = "mlmodelscope.basket";
/** As many as the server compares at once. */
export const MOST = 24;
const NONE: readonly string[] = [];
const listeners = new Set<() => void>();
let kept: { text: string | null; records: readonly string[] } = { text: null, records: NONE };

export function parse(text: string | null): readonly string[] {
  try {
    const found: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(found)
      ? found.filter((each): each is string => typeof each === "string").slice(0, MOST)
      : NONE;
  } catch {
    return NONE;
  }
}

/** The same list as long as nothing changes, as React wants it. */
function read(): readonly string[] {
  const text = localStorage.getItem(KEY);
  if (text !== kept.text) kept = { text, records: parse(text) };
  return kept.records;
}

function write(records: readonly string[]): void {
  localStorage.setItem(KEY, JSON.stringify(records));
  for (const tell of listeners) tell();
}

export const basket = {
  read,
  has: (record: string): boolean => read().includes(record),
  add: (record: string): void => write([...new Set([...read(), record])].slice(-MOST)),
  remove: (record: string): void => write(read().filter((each) => each !== record)),
  toggle(record: string): void {
    if (this.has(record)) this.remove(record);
    else this.add(record);
  },
  put: (records: readonly string[]): void => write([...new Set(records)].slice(0, MOST)),
};

function subscribe(tell: () => void): () => void {
  listeners.add(tell);
  window.addEventListener("storage", tell);
  return () => {
    listeners.delete(tell);
    window.removeEventListener("storage", tell);
  };
}

export function useBasket(): readonly string[] {
  return useSyncExternalStore(subscribe, read);
}
