/** Published numbers and whether they hold; and what was checked, newest first. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { answer, api } from "../../api/client";
import { Button, Card, Empty, Heading, Trouble, Waiting } from "../../ui/parts";
import { useMay } from "../../ui/shell";
import { ClaimTable } from "../../shown/claim-table";
import { Published } from "./published";
import { Searches } from "./searches";

const VERDICTS = ["reproduced", "better than claimed", "not reproduced", "undecided", "not checked"] as const;
const here = getRouteApi("/replications");

export function Replications() {
  const search = here.useSearch();
  const navigate = useNavigate({ from: "/replications" });
  const may = useMay("run");
  const verdict = VERDICTS.find((each) => each === search.verdict);
  const found = useQuery({
    queryKey: ["claims", "all"],
    queryFn: () => answer(api.GET("/api/v1/claims")),
    refetchInterval: 10_000,
  });
  const words = (search.q ?? "").toLowerCase().split(" ").filter(Boolean);
  const named = (found.data?.items ?? []).filter((claim) =>
    words.every((word) => claim.model.toLowerCase().includes(word)),
  );
  const claims = named.filter((claim) => !verdict || claim.verdict === verdict);
  return (
    <>
      <Heading
        title="Claims"
        about="Published numbers, whether they hold here, and which detail explains it where they do not."
        actions={
          may && (
            <Link
              to="/replications/new"
              className="rounded-lg bg-accent px-3.5 py-1.5 text-sm font-medium text-accent-ink hover:no-underline hover:opacity-90"
            >
              Check a claim
            </Link>
          )
        }
      />
      <div className="space-y-6">
        <Searches />
        <Card title="All claims">
          <div className="mb-4 flex flex-wrap gap-2" role="group" aria-label="Verdict">
            <input
              type="search"
              aria-label="Model"
              placeholder="Model"
              value={search.q ?? ""}
              onChange={(event) =>
                void navigate({ search: { ...search, q: event.target.value || undefined }, replace: true })
              }
              className="w-44 rounded-lg border border-line bg-paper px-3 py-1.5 text-sm"
            />
            {[undefined, ...VERDICTS].map((each) => (
              <Button
                key={each ?? "all"}
                aria-pressed={verdict === each}
                className={verdict === each ? "!border-accent !text-accent" : ""}
                onClick={() => void navigate({ search: { ...search, verdict: each } })}
              >
                {each ?? "all"}{" "}
                <span className="text-muted">
                  {each ? named.filter((claim) => claim.verdict === each).length : named.length}
                </span>
              </Button>
            ))}
          </div>
          {found.isPending ? (
            <Waiting />
          ) : found.error && !found.data ? (
            <Trouble error={found.error} again={() => void found.refetch()} />
          ) : claims.length ? (
            <ClaimTable claims={claims} />
          ) : (
            <Empty>No claim fits.</Empty>
          )}
        </Card>
        <Published />
      </div>
    </>
  );
}
