/** The inputs whose answer is another one, the most telling first. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../../api/client";
import { plural } from "../../lib/format";
import { Button, Card, Empty, Trouble, Waiting } from "../../ui/parts";
import { FlipCard, kindWords } from "./flip";

const KINDS = ["fixed", "broken", "other answer"] as const;
/** Kinds in addresses that were saved when they had other names. */
const FORMER: Record<string, string> = { "right now": "fixed", "wrong now": "broken" };
const PAGE = 6;
const here = getRouteApi("/replications/$id");

interface Props {
  id: string;
  record?: string | null;
  evidence: Schemas["Shown"];
  claim: Schemas["Claimed"];
}

export function Flips({ id, record, evidence, claim }: Props) {
  const search = here.useSearch();
  const navigate = useNavigate({ from: "/replications/$id" });
  const kind = KINDS.find((each) => each === (FORMER[search.kind ?? ""] ?? search.kind));
  const found = useInfiniteQuery({
    queryKey: ["flips", id, kind],
    queryFn: ({ pageParam }) =>
      answer(
        api.GET("/api/v1/replications/{identity}/samples", {
          params: { path: { identity: id }, query: { kind, start: pageParam, limit: PAGE } },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: (page, pages) => {
      const seen = pages.reduce((sum, each) => sum + each.items.length, 0);
      return page.items.length && seen < page.total ? seen : undefined;
    },
  });
  const flips = found.data?.pages.flatMap((page) => page.items) ?? [];
  const counts = {
    fixed: evidence.fixed,
    broken: evidence.broken,
    "other answer": evidence.other_answer,
  };
  const all = counts.fixed + counts.broken + counts["other answer"];
  return (
    <Card
      title={evidence.graded ? "Inputs that changed" : "Inputs that flipped"}
      aside={`${all} of ${plural(evidence.samples, "sample")}`}
    >
      <div className="mb-4 flex flex-wrap gap-2" role="group" aria-label="Which inputs">
        {[undefined, ...KINDS].map((each) => (
          <Button
            key={each ?? "all"}
            aria-pressed={kind === each}
            className={kind === each ? "!border-accent !text-accent" : ""}
            onClick={() => void navigate({ search: { ...search, kind: each }, resetScroll: false })}
          >
            {each ? kindWords(each, evidence.graded) : "all"}{" "}
            <span className="text-muted">{each ? counts[each] : all}</span>
          </Button>
        ))}
      </div>
      <p className="mb-4 text-sm text-muted">
        Before is the manifest as it is, after is with the change; the line between them can be moved.
      </p>
      {evidence.without_pictures && <p className="mb-4 text-sm text-muted">{evidence.without_pictures}</p>}
      {found.isPending ? (
        <Waiting />
      ) : found.error && !flips.length ? (
        <Trouble error={found.error} again={() => void found.refetch()} />
      ) : flips.length ? (
        <ul className="grid gap-5 lg:grid-cols-2">
          {flips.map((flip) => (
            <FlipCard key={flip.sample} id={id} record={record} flip={flip as Schemas["Flip"]} claim={claim} />
          ))}
        </ul>
      ) : (
        <Empty>None of this kind.</Empty>
      )}
      {found.hasNextPage && (
        <Button className="mt-4" disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          More inputs
        </Button>
      )}
    </Card>
  );
}
