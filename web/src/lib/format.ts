/** Numbers and moments for people. */

export function percent(share: number | null | undefined, digits = 2): string {
  return share == null ? "–" : `${(100 * share).toFixed(digits)} %`;
}

const STEPS: [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

export function time(ns: number | null | undefined): string {
  if (ns == null) return "–";
  const [unit, name] = STEPS.find(([size]) => Math.abs(ns) >= size) ?? STEPS[3]!;
  return `${digits(ns / unit)} ${name}`;
}

/** A moment of a trace, to the nanosecond: neighbours are told apart. */
export function moment(ns: number): string {
  return `${(ns / 1e6).toLocaleString("en", { minimumFractionDigits: 6, maximumFractionDigits: 6 })} ms`;
}

export function bytes(count: number | null | undefined): string {
  if (count == null) return "–";
  const names = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = count;
  let step = 0;
  while (Math.abs(value) >= 1024 && step < names.length - 1) {
    value /= 1024;
    step += 1;
  }
  return `${step ? digits(value) : value} ${names[step]}`;
}

/** Three digits that count. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  return size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function ago(moment: string, now = Date.now()): string {
  const seconds = Math.round((now - Date.parse(moment)) / 1000);
  const form = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  const steps: [number, Intl.RelativeTimeFormatUnit][] = [
    [86400 * 30, "month"],
    [86400, "day"],
    [3600, "hour"],
    [60, "minute"],
  ];
  for (const [size, unit] of steps)
    if (Math.abs(seconds) >= size) return form.format(-Math.round(seconds / size), unit);
  return Math.abs(seconds) < 5 ? "just now" : form.format(-seconds, "second");
}

export function plural(count: number, word: string): string {
  return `${count.toLocaleString("en")} ${count === 1 ? word : `${word}s`}`;
}
