/** Days that somebody chose, as moments: whole days where they are. */

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const isDay = (text: string | undefined): text is string => DAY.test(text ?? "") && !Number.isNaN(Date.parse(text!));

/** Of what is no day nothing is asked. */
export const days = (since?: string, until?: string): { since?: string; until?: string } => ({
  since: isDay(since) ? new Date(`${since}T00:00:00`).toISOString() : undefined,
  until: isDay(until) ? new Date(`${until}T23:59:59.999`).toISOString() : undefined,
});
