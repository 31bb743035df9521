/** One trace: its timeline, its flame graph, what takes most of the time, and what that says. */
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import * as Tabs from "@radix-ui/react-tabs";
import { lazy, Suspense } from "react";
import type { Schemas } from "../../api/client";
import { plural, time } from "../../lib/format";
import { Heading, LOOKS, Trouble, Waiting } from "../../ui/parts";
import { TAB, TAB_LIST } from "../../ui/tab-looks";
import { Exports } from "./exports";
import { Look } from "./look";
import { Most } from "./most";
import { useHead, useTrace } from "./use-head";

const Flames = lazy(() => import("./flames"));
const Analyses = lazy(() => import("./analyses"));
const here = getRouteApi("/traces/$id");
const TABS = [
  ["timeline", "Timeline"],
  ["flames", "Flame graph"],
  ["top", "Most time"],
  ["analyses", "Analyses"],
] as const;

export function TracePage() {
  const { id } = here.useParams();
  const trace = useTrace(id);
  const head = useHead(id);
  const error = trace.error ?? head.error;
  if (error) return <Trouble error={error} again={() => void Promise.all([trace.refetch(), head.refetch()])} />;
  if (!trace.data || !head.data) return <Waiting />;
  return <Shown key={id} trace={trace.data} head={head.data} />;
}

function Shown({ trace, head }: { trace: Schemas["TraceDetails"]; head: Schemas["Timeline"] }) {
  const search = here.useSearch();
  const navigate = useNavigate({ from: "/traces/$id" });
  const tab = search.tab ?? "timeline";
  return (
    <>
      <Heading
        title={trace.model ?? trace.service}
        about={
          <>
            {plural(trace.spans, "span")} in {time(trace.duration_ns)}
            {trace.resource.stack && ` · ${trace.resource.stack}`}
            {trace.record && (
              <>
                {" "}
                · record{" "}
                <Link to="/records/$id" params={{ id: trace.record }}>
                  <code>{trace.record}</code>
                </Link>
              </>
            )}
          </>
        }
        actions={
          <>
            <Link to="/traces/compare" search={{ left: trace.id }} className={LOOKS.plain}>
              Compare with another
            </Link>
            <Exports id={trace.id} />
          </>
        }
      />
      <Tabs.Root
        value={tab}
        onValueChange={(key) =>
          void navigate({ search: { ...search, tab: key === "timeline" ? undefined : (key as typeof search.tab) } })
        }
      >
        <Tabs.List aria-label="Views" className={TAB_LIST}>
          {TABS.map(([key, name]) => (
            <Tabs.Trigger key={key} value={key} className={TAB}>
              {name}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        <Tabs.Content value={tab} tabIndex={-1}>
          <Suspense fallback={<Waiting />}>
            {tab === "flames" ? (
              <Flames trace={trace.id} />
            ) : tab === "top" ? (
              <Most trace={trace} />
            ) : tab === "analyses" ? (
              <Analyses trace={trace.id} />
            ) : (
              <Look trace={trace} head={head} />
            )}
          </Suspense>
        </Tabs.Content>
      </Tabs.Root>
    </>
  );
}
