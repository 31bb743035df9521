import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../api/client";
import { plural } from "../lib/format";
import { Catalogue, list, SortBy } from "../ui/catalogue";
import { Facets } from "../ui/facets";
import { Badge, Heading } from "../ui/parts";
import { SearchBox } from "../ui/search-box";

type Sort = "name" | "newest" | "evaluations";
const here = getRouteApi("/datasets");
const FACETS = ["task", "format", "license"] as const;

export function Datasets() {
  const search = here.useSearch();
  const navigate = useNavigate({ from: "/datasets" });
  const narrow = (change: Partial<typeof search>) =>
    void navigate({ search: { ...search, ...change }, replace: "q" in change });
  const query = {
    q: search.q,
    task: list(search.task),
    format: list(search.format),
    license: list(search.license),
    sort: search.sort as Sort | undefined,
  };
  const found = useInfiniteQuery({
    queryKey: ["datasets", search],
    queryFn: ({ pageParam }) =>
      answer(api.GET("/api/v1/datasets", { params: { query: { ...query, start: pageParam, limit: 60 } } })),
    initialPageParam: 0,
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });
  const pages = found.data?.pages ?? [];
  return (
    <>
      <Heading title="Datasets" about="What models are asked about, and which answers are right." />
      <Catalogue
        found={found}
        total={pages[0]?.total}
        word="dataset"
        sort={<SortBy value={search.sort} onChange={(sort) => narrow({ sort })} />}
        search={<SearchBox value={search.q} onChange={(q) => narrow({ q })} />}
        facets={<Facets names={FACETS} counts={pages[0]?.facets} chosen={search} onChange={narrow} />}
        cards={pages.flatMap((page) =>
          page.items.map((dataset) => <DatasetCard key={dataset.name} dataset={dataset} />),
        )}
      />
    </>
  );
}

function DatasetCard({ dataset }: { dataset: Schemas["ListedDataset"] }) {
  return (
    <li className="relative flex flex-col gap-2 rounded-xl border border-line bg-card p-4 hover:border-accent">
      <h2 className="text-base [overflow-wrap:anywhere]">
        <Link to="/datasets/$name" params={{ name: dataset.name }} className="text-ink after:absolute after:inset-0">
          {dataset.name}
        </Link>
        <span className="ml-1.5 text-sm font-normal text-muted">{dataset.version}</span>
      </h2>
      {dataset.description && <p className="line-clamp-2 text-sm text-muted">{dataset.description}</p>}
      <p className="mt-auto flex flex-wrap gap-1.5 pt-1">
        <Badge tone="accent">{dataset.task.replaceAll("_", " ")}</Badge>
        <Badge>{dataset.format}</Badge>
        {dataset.size != null && <Badge>{plural(dataset.size, "sample")}</Badge>}
        {dataset.evaluations > 0 && <Badge>{plural(dataset.evaluations, "evaluation")}</Badge>}
      </p>
    </li>
  );
}
