/** All layers in the order in which they run, a line each; only those in sight are made. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";
import type { Schemas } from "../../api/client";
import { SearchBox } from "../../ui/search-box";
import { spelledShape } from "./visible";

const HEIGHT = 44;
const COLUMNS =
  "grid grid-cols-[2.5rem_minmax(0,1fr)_minmax(0,1fr)] sm:grid-cols-[3.5rem_minmax(0,1fr)_minmax(0,2fr)_minmax(0,1.2fr)_6rem] items-center gap-x-3 px-3";

interface Props {
  layers: Schemas["NetworkLayer"][];
  chosen: number | null;
  onChoose: (layer: number) => void;
}

export function LayerList({ layers, chosen, onChoose }: Props) {
  const [words, setWords] = useState<string>();
  const frame = useRef<HTMLDivElement>(null);
  const found = useMemo(() => matching(layers, words), [layers, words]);
  const rows = useVirtualizer({
    count: found.length,
    getScrollElement: () => frame.current,
    estimateSize: () => HEIGHT,
    overscan: 12,
  });
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-3 text-sm text-muted">
        <div className="w-64 max-w-full">
          <SearchBox value={words} onChange={setWords} hint="Search layers" />
        </div>
        <span aria-live="polite">{`${found.length.toLocaleString("en")} of ${layers.length.toLocaleString("en")}`}</span>
      </div>
      <div ref={frame} className="max-h-[70vh] overflow-y-auto rounded-lg border border-line bg-paper">
        <ul aria-label="Layers" className="relative" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map(({ index, start, size }) => {
            const number = found[index]!;
            const layer = layers[number]!;
            return (
              <li key={number} className="absolute inset-x-0" style={{ top: start, height: size }}>
                <button
                  type="button"
                  aria-pressed={number === chosen}
                  onClick={() => onChoose(number)}
                  className={`${COLUMNS} h-full w-full border-b border-line text-left text-sm hover:bg-soft ${number === chosen ? "bg-accent-soft" : ""}`}
                >
                  <span className="text-right text-xs text-muted tabular-nums">{number}</span>
                  <span className="truncate font-medium">{layer.kind ?? "–"}</span>
                  <span className="truncate text-muted" title={layer.name}>
                    {layer.name}
                  </span>
                  <span className="truncate max-sm:hidden">{spelledShape(layer.outputs[0]?.shape)}</span>
                  <span className="text-right tabular-nums max-sm:hidden">
                    {layer.parameters ? layer.parameters.toLocaleString("en") : ""}
                  </span>
                </button>
              </li>
            );
          })}
        </ul>
      </div>
    </>
  );
}

/** Numbers of the layers that have every word in kind or name. */
function matching(layers: readonly Schemas["NetworkLayer"][], words: string | undefined): number[] {
  const wanted = (words ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const found: number[] = [];
  layers.forEach((layer, number) => {
    const text = `${layer.kind ?? ""} ${layer.name}`.toLowerCase();
    if (wanted.every((word) => text.includes(word))) found.push(number);
  });
  return found;
}
