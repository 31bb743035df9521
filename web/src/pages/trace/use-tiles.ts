/** Tiles of one trace, fetched from the server; new ones when what is asked for changes. */
import { useEffect, useMemo } from "react";
import { answer, api } from "../../api/client";
import type { Level } from "./bands";
import { BINS, Tiles } from "./tiles";

interface Asked {
  id: string;
  duration: number;
  level?: string;
  name?: string;
  changed: () => void;
  failed: (error: unknown) => void;
}

export function useTiles({ id, duration, level, name, changed, failed }: Asked): Tiles {
  const tiles = useMemo(
    () =>
      new Tiles(
        duration,
        (from, to, signal) =>
          answer(
            api.GET("/api/v1/traces/{identity}/timeline", {
              params: {
                path: { identity: id },
                query: { from_ns: from, to_ns: to, level: level as Level | undefined, name, bins: BINS },
              },
              signal,
            }),
          ),
        changed,
        failed,
      ),
    [id, duration, level, name, changed, failed],
  );
  useEffect(() => () => tiles.close(), [tiles]);
  return tiles;
}
