import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useDeferredValue, useEffect, useState } from "react";
import { answer, api, type Schemas } from "../api/client";
import { plural } from "../lib/format";
import { useMay } from "../ui/shell";
import { Badge, Button, Empty, Heading, Trouble, Verdict, Waiting } from "../ui/parts";

type Model = Schemas["ListedModel"];
type Sort = "name" | "newest" | "evaluations";
const here = getRouteApi("/models");
const FACETS = ["task", "framework", "licence", "verdict"] as const;

export function Models() {
  const search = here.useSearch();
  const navigate = useNavigate({ from: "/models" });
  const [words, setWords] = useState(search.q ?? "");
  const typed = useDeferredValue(words);
  const may = useMay("run");
  useEffect(() => {
    if ((search.q ?? "") !== typed) void navigate({ search: { ...search, q: typed || undefined }, replace: true });
  }, [typed]); // eslint-disable-line react-hooks/exhaustive-deps
  const found = useInfiniteQuery({
    queryKey: ["models", search],
    queryFn: ({ pageParam }) =>
      answer(api.GET("/api/v1/models", { params: { query: { ...wanted(search), start: pageParam, limit: 60 } } })),
    initialPageParam: 0,
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });
  const pages = found.data?.pages ?? [];
  const models = pages.flatMap((page) => page.items);
  return (
    <>
      <Heading
        title="Models"
        about="What they do, what was claimed of them, and whether it held."
        actions={may && <Link to="/manifests/edit">New manifest</Link>}
      />
      <div className="grid gap-6 lg:grid-cols-[15rem_1fr]">
        <aside aria-label="Filters" className="space-y-5">
          <label className="block text-sm">
            <span className="sr-only">Search</span>
            <input
              type="search"
              value={words}
              onChange={(event) => setWords(event.target.value)}
              placeholder="Search"
              className="w-full rounded-lg border border-line bg-card px-3 py-2"
            />
          </label>
          {FACETS.map((name) => (
            <Facet key={name} name={name} counts={pages[0]?.facets[name] ?? {}} />
          ))}
        </aside>
        <div>
          <div className="mb-3 flex items-center justify-between gap-3 text-sm text-muted" aria-live="polite">
            <span>{pages[0] ? plural(pages[0].total, "model") : ""}</span>
            <label>
              Sort by{" "}
              <select
                value={search.sort ?? "name"}
                onChange={(event) => void navigate({ search: { ...search, sort: event.target.value } })}
                className="rounded-md border border-line bg-card px-1.5 py-1"
              >
                <option value="name">name</option>
                <option value="newest">newest</option>
                <option value="evaluations">evaluations</option>
              </select>
            </label>
          </div>
          {found.isPending ? (
            <Waiting />
          ) : found.error && !models.length ? (
            <Trouble error={found.error} again={() => void found.refetch()} />
          ) : models.length ? (
            <ul className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
              {models.map((model) => (
                <ModelCard key={model.name} model={model} />
              ))}
            </ul>
          ) : (
            <Empty>No model fits. Take a filter away, or search for less.</Empty>
          )}
          {found.hasNextPage && (
            <Button className="mt-4" disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
              More
            </Button>
          )}
        </div>
      </div>
    </>
  );
}

function wanted(search: ReturnType<typeof here.useSearch>) {
  const list = (value?: string) => (value ? value.split(",") : undefined);
  return {
    q: search.q,
    task: list(search.task),
    framework: list(search.framework),
    licence: list(search.licence),
    verdict: list(search.verdict) as never,
    sort: search.sort as Sort | undefined,
  };
}

function Facet({ name, counts }: { name: (typeof FACETS)[number]; counts: Record<string, number> }) {
  const search = here.useSearch();
  const navigate = useNavigate({ from: "/models" });
  const chosen = new Set((search[name] ?? "").split(",").filter(Boolean));
  const values = Object.entries(counts)
    .filter(([value, count]) => count > 0 || chosen.has(value))
    .sort((one, two) => two[1] - one[1]);
  if (values.length < 2 && !chosen.size) return null;
  function toggle(value: string) {
    const next = new Set(chosen);
    if (!next.delete(value)) next.add(value);
    void navigate({ search: { ...search, [name]: [...next].join(",") || undefined } });
  }
  return (
    <fieldset className="text-sm">
      <legend className="mb-1.5 text-xs font-medium uppercase tracking-wide text-muted">{name}</legend>
      <div className="max-h-56 space-y-1 overflow-y-auto">
        {values.map(([value, count]) => (
          <label key={value} className="flex items-center gap-2">
            <input type="checkbox" checked={chosen.has(value)} onChange={() => toggle(value)} />
            <span className="min-w-0 flex-1 truncate" title={value}>
              {value}
            </span>
            <span className="text-muted">{count}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function ModelCard({ model }: { model: Model }) {
  return (
    <li className="relative flex flex-col gap-2 rounded-xl border border-line bg-card p-4 hover:border-accent">
      <h2 className="text-base [overflow-wrap:anywhere]">
        <Link to="/models/$name" params={{ name: model.name }} className="text-ink after:absolute after:inset-0">
          {model.name}
        </Link>
        <span className="ml-1.5 text-sm font-normal text-muted">{model.version}</span>
      </h2>
      {model.description && <p className="line-clamp-2 text-sm text-muted">{model.description}</p>}
      <p className="mt-auto flex flex-wrap gap-1.5 pt-1">
        <Badge tone="accent">{model.task.replaceAll("_", " ")}</Badge>
        {model.framework && <Badge>{model.framework}</Badge>}
        {model.verdict !== "not checked" && <Verdict of={model.verdict} />}
        {model.evaluations > 0 && <Badge>{plural(model.evaluations, "evaluation")}</Badge>}
      </p>
    </li>
  );
}
