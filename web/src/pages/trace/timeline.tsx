/** A timeline on a canvas: it draws what is seen and asks the server for that, however long the trace is. */
import { useCallback, useEffect, useId, useMemo, useRef, useState } from "react";
import type { Schemas } from "../../api/client";
import { moment, plural, time } from "../../lib/format";
import { Trouble } from "../../ui/parts";
import { layOut, rowAt } from "./bands";
import { listen, pressed } from "./gestures";
import { paint, pageColours } from "./paint";
import { type Piece, type Tiles, tilesOf } from "./tiles";
import { useTiles } from "./use-tiles";
import { around } from "./view";
import type { ViewStore } from "./view-store";

export interface Seen {
  id: string | null;
  name: string;
  start_ns: number;
  end_ns: number;
  spent_ns: number;
  count: number;
  level: string;
}

interface Props {
  id: string;
  label: string;
  head: Schemas["Timeline"];
  store: ViewStore;
  /** Nanoseconds by which this one is moved to lie below another one. */
  offset?: number;
  level?: string;
  search?: string;
  selected: string | null;
  onSelect: (seen: Seen | null) => void;
}

export function Timeline({ id, label, head, store, offset = 0, level, search, selected, onSelect }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const redraw = useRef<() => void>(() => undefined);
  const [trouble, setTrouble] = useState<unknown>(null);
  const [hovered, setHovered] = useState<{ x: number; y: number; seen: Seen } | null>(null);
  const changed = useCallback(() => redraw.current(), []);
  const failed = useCallback((error: unknown) => setTrouble(error), []);
  const asked = { id, duration: head.duration_ns, level, changed, failed };
  const tiles = useTiles(asked);
  const matching = useTiles({ ...asked, name: search ?? "" });
  const found = search ? matching : null;
  const layout = useMemo(() => layOut(head.rows, level), [head, level]);
  const levels = useMemo(() => head.rows.map((row) => row.level), [head]);
  const help = useId();

  useEffect(() => {
    const place = canvas.current;
    const pen = place?.getContext("2d", { alpha: false });
    if (!place || !pen) return;
    let frame = 0;
    let colours = pageColours();
    const draw = () => {
      frame = 0;
      const width = place.clientWidth;
      const dots = Math.min(2, window.devicePixelRatio || 1);
      if (place.width !== Math.round(width * dots) || place.height !== Math.round(layout.height * dots)) {
        place.width = Math.round(width * dots);
        place.height = Math.round(layout.height * dots);
      }
      pen.setTransform(dots, 0, 0, dots, 0, 0);
      const view = { from: store.view.from + offset, to: store.view.to + offset };
      const wanted = tilesOf(view, head.duration_ns);
      tiles.want([{ zoom: 0, place: 0 }, ...wanted]);
      found?.want(wanted);
      const drawn = paint(pen, width, layout.height, { view, layout, levels, tiles, found, selected, colours });
      // For whoever waits until it is drawn: a test, or somebody who measures.
      place.dataset.drawn = String(drawn);
      place.dataset.waiting = String(tiles.waiting + (found?.waiting ?? 0));
    };
    const soon = () => {
      frame ||= requestAnimationFrame(draw);
    };
    redraw.current = soon;
    soon();
    const forget = store.subscribe(soon);
    const size = new ResizeObserver(soon);
    size.observe(place);
    const theme = new MutationObserver(() => {
      colours = pageColours();
      soon();
    });
    theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      cancelAnimationFrame(frame);
      forget();
      size.disconnect();
      theme.disconnect();
    };
  }, [store, offset, tiles, found, layout, levels, selected, head]);

  useEffect(() => {
    const place = canvas.current;
    if (!place) return;
    const look = (x: number, y: number): Seen | null => {
      const row = rowAt(layout, y);
      if (row === null) return null;
      const view = { from: store.view.from + offset, to: store.view.to + offset };
      const dot = (view.to - view.from) / place.clientWidth;
      return spanAt(found ?? tiles, view, row, view.from + x * dot, 2 * dot, levels) ?? null;
    };
    return listen(place, store, {
      hover(x, y) {
        const seen = x === null ? null : look(x, y);
        setHovered(seen && x !== null ? { x, y, seen } : null);
        place.style.cursor = seen ? "pointer" : "grab";
      },
      click: (x, y) => onSelect(look(x, y)),
      twice(x, y) {
        const seen = look(x, y);
        if (seen) store.set(around(seen.start_ns - offset, seen.end_ns - offset));
      },
    });
  }, [store, offset, tiles, found, layout, levels, onSelect]);

  return (
    <div className="relative">
      {trouble !== null && (
        <div className="mb-2">
          <Trouble
            error={trouble}
            again={() => {
              setTrouble(null);
              redraw.current();
            }}
          />
        </div>
      )}
      <div
        role="application"
        aria-roledescription="timeline"
        aria-label={label}
        aria-describedby={help}
        tabIndex={0}
        className="max-h-[34rem] overflow-x-hidden overflow-y-auto rounded-lg border border-line"
        onKeyDown={(event) => {
          if (!event.ctrlKey && !event.metaKey && !event.altKey && pressed(event.key, store)) event.preventDefault();
        }}
      >
        <canvas ref={canvas} className="block w-full touch-pan-y" style={{ height: layout.height }} />
      </div>
      <p id={help} className="sr-only">
        Arrow keys move and zoom, Home shows the whole trace. The table below has the spans that are in view.
      </p>
      {hovered && <Tip {...hovered} wide={canvas.current?.clientWidth ?? 0} />}
    </div>
  );
}

function Tip({ x, y, seen, wide }: { x: number; y: number; seen: Seen; wide: number }) {
  const side = x > wide / 2 ? { right: wide - x + 12 } : { left: x + 12 };
  return (
    <div
      className="pointer-events-none absolute z-10 max-w-72 rounded-lg border border-line bg-card px-3 py-2 text-xs shadow-lg"
      style={{ top: y + 14, ...side }}
    >
      <p className="font-medium [overflow-wrap:anywhere]">
        {seen.count > 1 ? `${plural(seen.count, "span")}, first ${seen.name}` : seen.name}
      </p>
      <p className="text-muted">
        {time(seen.spent_ns)} · from {moment(seen.start_ns)}
      </p>
    </div>
  );
}

/** What is drawn at a place: of the tile that is there, or of the coarser one that stands in for it. */
function spanAt(
  tiles: Tiles,
  view: { from: number; to: number },
  row: number,
  moment: number,
  slack: number,
  levels: string[],
): Seen | undefined {
  for (const tile of tilesOf(view, tiles.duration)) {
    const piece: Piece | undefined = tiles.nearest(tile);
    const at = piece?.at(row, moment, slack) ?? null;
    if (piece && at !== null) {
      const { told } = piece;
      return {
        id: told.id[at] ?? null,
        name: told.names[told.name[at]!]!,
        start_ns: told.start_ns[at]!,
        end_ns: told.end_ns[at]!,
        spent_ns: told.spent_ns[at]!,
        count: told.count[at]!,
        level: levels[row]!,
      };
    }
  }
  return undefined;
}
