/** On every page: how far the jobs are that were started here, in the tab's title, and a notification when one ends. */
import { useQueries } from "@tanstack/react-query";
import { useEffect } from "react";
import { answer, api, Problem, type Schemas } from "../api/client";
import { drop, useJobs } from "../lib/jobs";
import { markOf, setMark } from "../lib/tab-title";

const OFTEN_MS = 4000;
const ENDED = ["finished", "failed", "cancelled"];

export function JobWatch() {
  const jobs = useJobs();
  const found = useQueries({
    queries: jobs.map((id) => ({
      queryKey: ["job", id],
      queryFn: () => answer(api.GET("/api/v1/evaluations/{identity}", { params: { path: { identity: id } } })),
      refetchInterval: OFTEN_MS,
      refetchIntervalInBackground: true, // nobody waits in front of it
      retry: false,
    })),
  });
  const known = found.flatMap((each) => (each.data ? [each.data] : []));
  const mark = markOf(known);
  useEffect(() => setMark(mark), [mark]);
  useEffect(() => () => setMark(""), []);
  useEffect(() => {
    for (const job of known)
      if (ENDED.includes(job.state)) {
        drop(job.id);
        tell(job);
      }
    for (const [place, each] of found.entries())
      if (each.error instanceof Problem && [401, 403, 404].includes(each.error.status)) drop(jobs[place]!);
  });
  return null;
}

function tell(job: Schemas["Evaluation"]): void {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  const about = job.dataset ? `${job.model} on ${job.dataset}` : job.model;
  try {
    const shown = new Notification(`${about}: ${job.state}`, { body: job.error?.message ?? job.kind, tag: job.id });
    shown.onclick = () => window.focus();
  } catch {
    // Phones have it for service workers only.
  }
}
