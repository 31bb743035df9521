/** The view of a page: it begins as the address says, and the address follows when it has come to rest. */
import { useEffect, useMemo, useRef, useState } from "react";
import { firstView, type View } from "./view";
import { ViewStore } from "./view-store";
import type { Schemas } from "../../api/client";

const REST_MS = 250;

export function useViewStore(head: Schemas["Timeline"], asked: Partial<View>, duration = head.duration_ns): ViewStore {
  const first = useRef(asked);
  return useMemo(() => {
    const { from, to } = first.current;
    const known = from !== undefined && to !== undefined && to > from;
    return new ViewStore(known ? { from, to } : firstView(head.rows, head.duration_ns), duration);
  }, [head, duration]);
}

/** What is seen, once it has stayed the same for a moment. */
export function useResting(store: ViewStore): View {
  const [view, setView] = useState(store.view);
  useEffect(() => {
    let timer = 0;
    setView(store.view);
    const forget = store.subscribe(() => {
      clearTimeout(timer);
      timer = window.setTimeout(() => setView(store.view), REST_MS);
    });
    return () => {
      clearTimeout(timer);
      forget();
    };
  }, [store]);
  return view;
}
