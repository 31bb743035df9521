/** The piece of time that is looked at, and how it moves. Times are nanoseconds since the trace began. */

export interface View {
  from: number;
  to: number;
}

/** No closer than this: spans are measured in nanoseconds. */
const CLOSEST = 50;

/** As it is when it stays inside the trace and is wide enough to be seen. */
export function within({ from, to }: View, duration: number): View {
  const most = Math.max(duration, CLOSEST);
  const span = Math.min(Math.max(to - from, CLOSEST), most);
  const start = Math.min(Math.max(from + (to - from - span) / 2, 0), most - span);
  return { from: start, to: start + span };
}

/** Closer where `factor` is less than 1; what is at `share` of the width stays where it is. */
export function zoomed({ from, to }: View, factor: number, share: number): View {
  const at = from + (to - from) * share;
  return { from: at - (at - from) * factor, to: at + (to - at) * factor };
}

export function moved({ from, to }: View, share: number): View {
  const by = (to - from) * share;
  return { from: from + by, to: to + by };
}

/** Around a span, with some room on both sides. */
export function around(from: number, to: number, room = 0.15): View {
  const more = Math.max((to - from) * room, 1);
  return { from: from - more, to: to + more };
}

/** Round moments for an axis, about `count` of them. */
export function ticks({ from, to }: View, count: number): number[] {
  const rough = (to - from) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const found = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) found.push(at);
  return found;
}

interface RowLike {
  level: string;
  first_ns: number;
  last_ns: number;
}

/** What to show first: all of it, unless the layers are only a small part of the time. */
export function firstView(rows: readonly RowLike[], duration: number): View {
  const layers = rows.filter((row) => row.level === "framework");
  if (layers.length) {
    const from = Math.min(...layers.map((row) => row.first_ns));
    const to = Math.max(...layers.map((row) => row.last_ns));
    if (to - from < 0.6 * duration) return within(around(from, to, 0.03), duration);
  }
  return within({ from: 0, to: duration }, duration);
}
