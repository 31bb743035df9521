import { keepPreviousData, useInfiniteQuery, useQueries } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../api/client";
import { plural } from "../lib/format";
import { datasetOf, numberOf, samplesOf } from "../shown/result-words";
import { Catalogue, list, SortBy } from "../ui/catalogue";
import { Facets } from "../ui/facets";
import { Badge, Heading, LOOKS, Verdict } from "../ui/parts";
import { SearchBox } from "../ui/search-box";
import { useMay } from "../ui/shell";

type Sort = "name" | "newest" | "evaluations";
const here = getRouteApi("/models");
const FACETS = ["task", "framework", "architecture", "license", "verdict"] as const;

export function Models() {
  const search = here.useSearch();
  const navigate = useNavigate({ from: "/models" });
  const may = useMay("run");
  const narrow = (change: Partial<typeof search>) =>
    void navigate({ search: { ...search, ...change }, replace: "q" in change });
  const found = useInfiniteQuery({
    queryKey: ["models", search],
    queryFn: ({ pageParam }) =>
      answer(api.GET("/api/v1/models", { params: { query: { ...wanted(search), start: pageParam, limit: 60 } } })),
    initialPageParam: 0,
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });
  const pages = found.data?.pages ?? [];
  const best = useBest(pages.map((page) => page.items.map((model) => model.name)));
  return (
    <>
      <Heading
        title="Models"
        about="What they do, what was claimed of them, and whether it held."
        actions={
          may && (
            <Link to="/manifests/edit" className={LOOKS.plain}>
              New manifest
            </Link>
          )
        }
      />
      <Catalogue
        found={found}
        total={pages[0]?.total}
        word="model"
        sort={<SortBy value={search.sort} onChange={(sort) => narrow({ sort })} />}
        search={<SearchBox value={search.q} onChange={(q) => narrow({ q })} />}
        facets={<Facets names={FACETS} counts={pages[0]?.facets} chosen={search} onChange={narrow} />}
        cards={pages.flatMap((page) =>
          page.items.map((model) => <ModelCard key={model.name} model={model} best={best.get(keyOf(model))} />),
        )}
      />
    </>
  );
}

function wanted(search: ReturnType<typeof here.useSearch>) {
  return {
    q: search.q,
    task: list(search.task),
    framework: list(search.framework),
    architecture: list(search.architecture),
    license: list(search.license),
    verdict: list(search.verdict) as never,
    sort: search.sort as Sort | undefined,
  };
}

const keyOf = ({ name, version }: { name: string; version: string }) => `${name}@${version}`;

/** The best measured number of each model that is shown, by name and version; a question for each page of cards. */
function useBest(pages: string[][]): Map<string, Schemas["Result"]> {
  const asked = pages.filter((names) => names.length > 0);
  return useQueries({
    queries: asked.map((model) => ({
      queryKey: ["results", "best", model],
      queryFn: () => answer(api.GET("/api/v1/results", { params: { query: { model, best: true } } })),
      staleTime: 30_000,
    })),
    combine: (found) =>
      new Map(
        found
          .flatMap((each) => each.data?.items ?? [])
          .map((row) => [keyOf({ name: row.model, version: row.model_version }), row]),
      ),
  });
}

function ModelCard({ model, best }: { model: Schemas["ListedModel"]; best: Schemas["Result"] | undefined }) {
  return (
    <li className="relative flex flex-col gap-2 rounded-xl border border-line bg-card p-4 hover:border-accent">
      <h2 className="text-base [overflow-wrap:anywhere]">
        <Link to="/models/$name" params={{ name: model.name }} className="text-ink after:absolute after:inset-0">
          {model.name}
        </Link>
        <span className="ml-1.5 text-sm font-normal text-muted">{model.version}</span>
      </h2>
      {model.description && <p className="line-clamp-2 text-sm text-muted">{model.description}</p>}
      {best && (
        <p className="text-sm">
          {numberOf(best)}
          <span className="block text-xs text-muted">{`on ${datasetOf(best)}, ${samplesOf(best)} samples`}</span>
        </p>
      )}
      <p className="mt-auto flex flex-wrap gap-1.5 pt-1">
        <Badge tone="accent">{model.task.replaceAll("_", " ")}</Badge>
        {model.framework && <Badge>{model.framework}</Badge>}
        {model.verdict !== "not checked" && <Verdict of={model.verdict} />}
        {model.evaluations > 0 && <Badge>{plural(model.evaluations, "evaluation")}</Badge>}
      </p>
    </li>
  );
}
