/** Wheel, drag, pinch and keys, turned into views. */
import type { ViewStore } from "./view-store";
import { moved, zoomed } from "./view";

const CLICK = 4;

interface Heard {
  /** Pointed at, or no longer. */
  hover: (x: number | null, y: number) => void;
  click: (x: number, y: number) => void;
  twice: (x: number, y: number) => void;
}

export function listen(canvas: HTMLCanvasElement, store: ViewStore, heard: Heard): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const pointers = new Map<number, { x: number; y: number }>();
  let travelled = 0;
  const place = (event: MouseEvent) => {
    const { left, top } = canvas.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };

  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : 1;
      const sideways = event.shiftKey ? event.deltaY : event.deltaX;
      if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
        store.set(moved(store.view, (unit * sideways) / canvas.clientWidth));
        return;
      }
      const factor = Math.exp(Math.max(-0.6, Math.min(0.6, (unit * event.deltaY) / 320)));
      store.set(zoomed(store.view, factor, place(event).x / canvas.clientWidth));
    },
    { passive: false, signal },
  );

  canvas.addEventListener(
    "pointerdown",
    (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, place(event));
      travelled = 0;
    },
    { signal },
  );

  canvas.addEventListener(
    "pointermove",
    (event) => {
      const now = place(event);
      const before = pointers.get(event.pointerId);
      if (!before) {
        heard.hover(now.x, now.y);
        return;
      }
      const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      pointers.set(event.pointerId, now);
      travelled += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
      if (others[0]) {
        const [was, is] = [Math.abs(before.x - others[0].x), Math.abs(now.x - others[0].x)];
        if (is > 8 && was > 8) store.set(zoomed(store.view, was / is, others[0].x / canvas.clientWidth));
      } else if (travelled > CLICK) {
        store.set(moved(store.view, (before.x - now.x) / canvas.clientWidth));
      }
    },
    { signal },
  );

  const lift = (event: PointerEvent) => {
    if (pointers.delete(event.pointerId) && !pointers.size && travelled <= CLICK && event.type === "pointerup") {
      const { x, y } = place(event);
      heard.click(x, y);
    }
  };
  canvas.addEventListener("pointerup", lift, { signal });
  canvas.addEventListener("pointercancel", lift, { signal });
  canvas.addEventListener("pointerleave", () => heard.hover(null, 0), { signal });
  canvas.addEventListener("dblclick", (event) => heard.twice(place(event).x, place(event).y), { signal });
  return () => stop.abort();
}

/** Whether the key was one of ours. */
export function pressed(key: string, store: ViewStore): boolean {
  const { view } = store;
  switch (key) {
    case "ArrowLeft":
    case "a":
      store.set(moved(view, -0.15));
      return true;
    case "ArrowRight":
    case "d":
      store.set(moved(view, 0.15));
      return true;
    case "ArrowUp":
    case "+":
    case "=":
    case "w":
      store.set(zoomed(view, 0.7, 0.5));
      return true;
    case "ArrowDown":
    case "-":
    case "s":
      store.set(zoomed(view, 1 / 0.7, 0.5));
      return true;
    case "Home":
    case "0":
      store.set({ from: 0, to: store.duration });
      return true;
    default:
      return false;
  }
}
