/** One trace: its timeline, its flame graph, what takes most of the time, and what that says. */
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import type { Schemas } from "../../api/client";
import { plural, time } from "../../lib/format";
import { saveFrom } from "../../lib/save";
import { Button, Heading, Trouble, Waiting } from "../../ui/parts";
import { Look } from "./look";
import { Most } from "./most";
import { useHead, useTrace } from "./use-head";

const Flames = lazy(() => import("./flames"));
const Analyses = lazy(() => import("./analyses"));
const here = getRouteApi("/traces/$id");
const TABS = [
  [undefined, "Timeline"],
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
  const { tab } = here.useSearch();
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
        actions={<Exports id={trace.id} />}
      />
      <Tabs chosen={tab} />
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
    </>
  );
}

function Tabs({ chosen }: { chosen?: string }) {
  const search = here.useSearch();
  const navigate = useNavigate({ from: "/traces/$id" });
  return (
    <nav aria-label="Views" className="mb-5 flex flex-wrap gap-2">
      {TABS.map(([tab, name]) => (
        <Button
          key={name}
          aria-current={chosen === tab ? "page" : undefined}
          className={chosen === tab ? "!border-accent !text-accent" : ""}
          onClick={() => void navigate({ search: { ...search, tab } })}
        >
          {name}
        </Button>
      ))}
    </nav>
  );
}

const FORMS = [
  ["perfetto", "Perfetto", "json"],
  ["speedscope", "speedscope", "speedscope.json"],
  ["otlp", "OTLP", "otlp.json"],
  ["csv", "CSV", "csv"],
] as const;

function Exports({ id }: { id: string }) {
  const [trouble, setTrouble] = useState<unknown>(null);
  return (
    <>
      <Link
        to="/traces/compare"
        search={{ left: id }}
        className="rounded-lg border border-line bg-card px-3.5 py-1.5 text-sm font-medium text-ink hover:bg-soft hover:no-underline"
      >
        Beside another
      </Link>
      {FORMS.map(([form, name, ending]) => (
        <Button
          key={form}
          aria-label={`Export as ${name}`}
          onClick={() => {
            setTrouble(null);
            saveFrom(`/traces/${id}/export?format=${form}`, `${id}.${ending}`).catch(setTrouble);
          }}
        >
          {name}
        </Button>
      ))}
      {trouble !== null && <Trouble error={trouble} />}
    </>
  );
}
