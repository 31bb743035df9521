/** Samples page by page as they come into view: fifty thousand are as quick as fifty. */
import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { answer, api, type Schemas } from "../../api/client";
import { type Look, questionOf } from "./look";

export const PAGE = 100;

function page(record: string, question: ReturnType<typeof questionOf>, number: number) {
  return {
    queryKey: ["samples", record, question, number],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      answer(
        api.GET("/api/v1/records/{name}/samples", {
          params: { path: { name: record }, query: { ...question, start: number * PAGE, limit: PAGE } },
          signal,
        }),
      ),
    staleTime: Infinity,
  };
}

export interface Found {
  total: number;
  /** What these samples can be filtered and sorted by. */
  offers: readonly Schemas["SamplePage"]["offers"][number][];
  error: unknown;
  isPending: boolean;
  refetch: () => void;
  row: (place: number) => Schemas["Sample"] | undefined;
  /** Where a sample stands, among those that have come already. */
  placeOf: (id: string) => number | undefined;
}

/** How many there are, and those of the pages that are looked at. */
export function useSamples(record: string, look: Look, first: number, last: number): Found {
  const question = questionOf(look);
  const top = useQuery({ ...page(record, question, 0), placeholderData: keepPreviousData });
  const from = Math.floor(first / PAGE);
  const numbers = Array.from({ length: Math.floor(last / PAGE) - from + 1 }, (_, place) => from + place);
  const pages = useQueries({ queries: numbers.map((number) => page(record, question, number)) });
  const broken = pages.find((each) => each.error) ?? (top.error ? top : undefined);
  return {
    total: top.data?.total ?? 0,
    offers: top.data?.offers ?? [],
    error: broken?.error ?? null,
    isPending: top.isPending,
    refetch: () => void broken?.refetch(),
    row: (place) => pages[Math.floor(place / PAGE) - from]?.data?.items[place % PAGE],
    placeOf: (id) => {
      for (const [number, each] of pages.entries()) {
        const at = each.data?.items.findIndex((sample) => sample.id === id) ?? -1;
        if (at >= 0) return (from + number) * PAGE + at;
      }
      return undefined;
    },
  };
}
