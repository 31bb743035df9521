/** Classes of a dataset: all where they are few, else folded and searched. */
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { answer, api } from "../../api/client";
import { Fold } from "../../ui/fold";
import { Button, Card } from "../../ui/parts";
import { SearchBox } from "../../ui/search-box";

const FEW = 24;
const AT_ONCE = 120;

export function Classes({ name }: { name: string }) {
  const whole = useClasses(name, undefined);
  const count = whole.data?.pages[0]?.all ?? 0;
  if (!count) return null;
  return (
    <Card title="Classes" aside={count === 1 ? "1 class" : `${count.toLocaleString("en")} classes`}>
      {count <= FEW ? (
        <List name={name} words={undefined} />
      ) : (
        <Fold title="Show and search them">{() => <Searched name={name} />}</Fold>
      )}
    </Card>
  );
}

function Searched({ name }: { name: string }) {
  const [words, setWords] = useState<string>();
  return (
    <>
      <div className="mb-3 max-w-sm">
        <SearchBox value={words} onChange={setWords} hint="Search classes" />
      </div>
      <List name={name} words={words} />
    </>
  );
}

function List({ name, words }: { name: string; words: string | undefined }) {
  const found = useClasses(name, words);
  const pages = found.data?.pages ?? [];
  const items = pages.flatMap((page) => page.items);
  const total = pages[0]?.total ?? 0;
  return (
    <>
      {words && <p className="mb-2 text-sm text-muted" aria-live="polite">{`${total.toLocaleString("en")} found`}</p>}
      <ul className="columns-1 gap-6 text-sm sm:columns-2 lg:columns-3" aria-label="Classes">
        {items.map(({ number, name, samples }) => (
          <li key={number} className="flex gap-2 py-0.5 [overflow-wrap:anywhere]">
            <span className="w-10 shrink-0 text-right text-muted tabular-nums">{number}</span>
            <span className="min-w-0 flex-1">{name || <span className="text-muted">(no name)</span>}</span>
            {samples !== null && <span className="text-muted tabular-nums">{samples.toLocaleString("en")}</span>}
          </li>
        ))}
      </ul>
      {found.hasNextPage && (
        <Button className="mt-3" disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          More
        </Button>
      )}
    </>
  );
}

function useClasses(name: string, q: string | undefined) {
  return useInfiniteQuery({
    queryKey: ["dataset classes", name, q],
    queryFn: ({ pageParam }) =>
      answer(
        api.GET("/api/v1/datasets/{name}/classes", {
          params: { path: { name }, query: { q, start: pageParam, limit: AT_ONCE } },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: (page, pages) => {
      const end = pages.reduce((sum, each) => sum + each.items.length, 0);
      return page.items.length > 0 && end < page.total ? end : undefined;
    },
    placeholderData: keepPreviousData,
    retry: false,
  });
}
