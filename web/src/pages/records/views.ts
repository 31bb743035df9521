/** Views of the table that somebody named: filters, order and columns, kept in this browser. */
import { useSyncExternalStore } from "react";
import type { Look } from "./search";

export interface View {
  name: string;
  look: Look;
}

const KEY = "mlmodelscope.record-views";
export const MOST = 30;
export const LONGEST = 60;
const NONE: readonly View[] = [];
const listeners = new Set<() => void>();
let kept: { text: string | null; views: readonly View[] } = { text: null, views: NONE };

/** Whatever the storage holds: others may have written it. */
export function parse(text: string | null): readonly View[] {
  try {
    const found: unknown = JSON.parse(text ?? "[]");
    if (!Array.isArray(found)) return NONE;
    return found.filter(isView).slice(0, MOST);
  } catch {
    return NONE;
  }
}

function isView(each: unknown): each is View {
  if (typeof each !== "object" || each === null) return false;
  const { name, look } = each as { name: unknown; look: unknown };
  if (typeof name !== "string" || !name || name.length > LONGEST) return false;
  if (typeof look !== "object" || look === null || Array.isArray(look)) return false;
  return Object.values(look).every((value) => typeof value === "string");
}

/** With this view among them: one of the same name is replaced. */
export function added(views: readonly View[], view: View): readonly View[] {
  const others = views.filter((each) => each.name !== view.name);
  return [...others, view].slice(-MOST).sort((one, other) => one.name.localeCompare(other.name));
}

function read(): readonly View[] {
  const text = localStorage.getItem(KEY);
  if (text !== kept.text) kept = { text, views: parse(text) };
  return kept.views;
}

function write(views: readonly View[]): void {
  localStorage.setItem(KEY, JSON.stringify(views));
  for (const tell of listeners) tell();
}

export const saveView = (name: string, look: Look): void =>
  write(added(read(), { name: name.trim().slice(0, LONGEST), look: { ...look, start: undefined } }));
export const removeView = (name: string): void => write(read().filter((each) => each.name !== name));

function subscribe(tell: () => void): () => void {
  listeners.add(tell);
  window.addEventListener("storage", tell);
  return () => {
    listeners.delete(tell);
    window.removeEventListener("storage", tell);
  };
}

export const useViews = (): readonly View[] => useSyncExternalStore(subscribe, read);
