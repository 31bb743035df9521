/** Who leaves with something unsaved is asked first. */
import { useBlocker } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { Button } from "../../ui/parts";

export function AskBeforeLeaving({ when }: { when: () => boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => when() && current.pathname !== next.pathname,
    enableBeforeUnload: when,
    withResolver: true,
  });
  const place = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (status === "blocked") place.current?.showModal();
  }, [status]);
  if (status !== "blocked") return null;
  return (
    <dialog
      ref={place}
      onClose={() => reset?.()}
      aria-labelledby="leaving"
      className="m-auto max-w-[min(28rem,calc(100vw-2rem))] rounded-xl border border-line bg-card p-6 text-ink backdrop:bg-black/50"
    >
      <h2 id="leaving" className="text-lg">
        Leave without saving?
      </h2>
      <p className="mt-2 text-sm text-muted">What you have written stays here until this tab is closed.</p>
      <div className="mt-5 flex justify-end gap-2">
        <Button onClick={() => reset?.()} autoFocus>
          Stay
        </Button>
        <Button kind="main" onClick={() => proceed?.()}>
          Leave
        </Button>
      </div>
    </dialog>
  );
}
