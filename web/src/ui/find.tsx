/** The way to the search by mouse and by keys. The dialog itself is loaded when somebody opens it. */
import { lazy, Suspense, useCallback, useState } from "react";
import { type Shown, useShortcuts } from "./shortcuts";

const Palette = lazy(() => import("../shown/palette"));

export function Find() {
  const [shown, setShown] = useState<Shown | null>(null);
  const show = useCallback((what: Shown) => setShown(what), []);
  useShortcuts(show);
  const look = "cursor-pointer rounded-md border border-line bg-card px-2 py-1 text-xs text-muted hover:text-ink";
  return (
    <>
      <button type="button" className={look} title="Search everything ( / )" onClick={() => show("search")}>
        Search
      </button>
      <button
        type="button"
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts ( ? )"
        className={look}
        onClick={() => show("keys")}
      >
        ?
      </button>
      {shown && (
        <Suspense>
          <Palette what={shown} close={() => setShown(null)} />
        </Suspense>
      )}
    </>
  );
}
