/** How long something will take that is under way. */

interface Running {
  started_at?: string | null;
  progress?: { done: number; of?: number | null } | null;
}

/** Seconds left, where what was done so far tells; null where it does not. */
export function secondsLeft({ started_at, progress }: Running, now = Date.now()): number | null {
  if (!started_at || !progress?.of || progress.done <= 0) return null;
  const spent = (now - Date.parse(started_at)) / 1000;
  return spent > 0 ? Math.max(0, (spent * (progress.of - progress.done)) / progress.done) : null;
}

export function spellLeft(seconds: number | null): string {
  if (seconds === null) return "";
  if (seconds < 90) return `about ${Math.max(1, Math.ceil(seconds))} s left`;
  if (seconds < 5400) return `about ${Math.round(seconds / 60)} min left`;
  return `about ${Math.round(seconds / 3600)} h left`;
}
