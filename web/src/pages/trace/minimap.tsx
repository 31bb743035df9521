/** The whole trace in a strip, and which part of it is seen; it can be moved by dragging. */
import { useEffect, useRef } from "react";
import type { Schemas } from "../../api/client";
import { pageColours } from "./paint";
import type { ViewStore } from "./view-store";

const HEIGHT = 40;

export function Minimap({ head, store }: { head: Schemas["Timeline"]; store: ViewStore }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const place = canvas.current;
    const pen = place?.getContext("2d");
    if (!place || !pen) return;
    const stop = new AbortController();
    let frame = 0;
    let strip: HTMLCanvasElement | null = null;
    let colours = pageColours();
    const draw = () => {
      frame = 0;
      const width = place.clientWidth;
      if (!width) return;
      if (place.width !== width) {
        place.width = width;
        place.height = HEIGHT;
        strip = null;
      }
      strip ??= whole(head, width, colours);
      pen.clearRect(0, 0, width, HEIGHT);
      pen.drawImage(strip, 0, 0);
      const scale = width / store.duration;
      const [left, right] = [store.view.from * scale, store.view.to * scale];
      pen.fillStyle = colours.card;
      pen.globalAlpha = 0.65;
      pen.fillRect(0, 0, left, HEIGHT);
      pen.fillRect(right, 0, width - right, HEIGHT);
      pen.globalAlpha = 1;
      pen.strokeStyle = colours.accent;
      pen.lineWidth = 2;
      pen.strokeRect(left + 1, 1, Math.max(right - left - 2, 2), HEIGHT - 2);
    };
    const soon = () => {
      frame ||= requestAnimationFrame(draw);
    };
    const centre = (event: PointerEvent) => {
      const { left, width } = place.getBoundingClientRect();
      const half = (store.view.to - store.view.from) / 2;
      const at = ((event.clientX - left) / width) * store.duration;
      store.set({ from: at - half, to: at + half });
    };
    const { signal } = stop;
    place.addEventListener(
      "pointerdown",
      (event) => {
        place.setPointerCapture(event.pointerId);
        centre(event);
      },
      { signal },
    );
    place.addEventListener("pointermove", (event) => event.buttons && centre(event), { signal });
    const forget = store.subscribe(soon);
    const size = new ResizeObserver(soon);
    size.observe(place);
    const theme = new MutationObserver(() => {
      colours = pageColours();
      strip = null;
      soon();
    });
    theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    soon();
    return () => {
      cancelAnimationFrame(frame);
      stop.abort();
      forget();
      size.disconnect();
      theme.disconnect();
    };
  }, [head, store]);
  return (
    <canvas
      ref={canvas}
      aria-hidden="true"
      className="block w-full cursor-ew-resize touch-none rounded-lg border border-line bg-card"
      style={{ height: HEIGHT }}
    />
  );
}

/** Drawn once: a thin line for each row. */
function whole(head: Schemas["Timeline"], width: number, colours: ReturnType<typeof pageColours>): HTMLCanvasElement {
  const strip = Object.assign(document.createElement("canvas"), { width, height: HEIGHT });
  const pen = strip.getContext("2d")!;
  const high = Math.max(1, Math.min(6, (HEIGHT - 6) / Math.max(1, head.rows.length)));
  const scale = width / Math.max(1, head.duration_ns);
  head.row.forEach((row, at) => {
    const left = head.start_ns[at]! * scale;
    pen.fillStyle = colours.levels[head.rows[row]!.level] ?? colours.muted;
    pen.globalAlpha = 0.85;
    const wide = Math.max((head.end_ns[at]! - head.start_ns[at]!) * scale, 1);
    pen.fillRect(left, 3 + row * ((HEIGHT - 6) / Math.max(1, head.rows.length)), wide, Math.max(high - 0.5, 0.5));
  });
  return strip;
}
