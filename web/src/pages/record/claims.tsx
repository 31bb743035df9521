/** What was published of the model, beside what was measured here. */
import { Link } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { answer, api, type Schemas } from "../../api/client";
import { spelled } from "../../lib/measured";
import { Badge, Card, Trouble, Verdict } from "../../ui/parts";

const TONES = { "inside the interval": "good", "other dataset": "plain", "too few samples": "warn" } as const;

export function Claims({ record }: { record: Schemas["Record"] }) {
  const found = useQuery({
    queryKey: ["record claims", record.id],
    queryFn: () => answer(api.GET("/api/v1/records/{name}/claims", { params: { path: { name: record.id } } })),
    enabled: record.plan.claims.length > 0,
  });
  if (found.error) return <Trouble error={found.error} again={() => void found.refetch()} />;
  if (!found.data?.items.length) return null;
  return (
    <Card title="What was claimed">
      <ul className="divide-y divide-line">
        {found.data.items.map((claim, place) => (
          <li key={place} className="grid gap-x-6 gap-y-1 py-3 first:pt-0 last:pb-0 sm:grid-cols-[11rem_1fr]">
            <div>
              <p className="text-2xl font-semibold tracking-tight">{`${claim.published} ${claim.unit ?? ""}`.trim()}</p>
              <p className="text-sm text-muted">{`${claim.metric} on ${claim.dataset ?? "what it does not say"}`}</p>
            </div>
            <div className="text-sm">
              <p className="mb-1.5 flex flex-wrap gap-2">
                <Badge tone={TONES[claim.tag as keyof typeof TONES] ?? (claim.measured ? "bad" : "plain")}>
                  {claim.tag}
                </Badge>
                {claim.verdict && <Verdict of={claim.verdict} />}
                {claim.measured && (
                  <span className="text-muted">{`here ${spelled(claim.measured.value, claim.measured.unit)}`}</span>
                )}
              </p>
              <p>{claim.sentence}</p>
              <p className="mt-1 flex gap-3 text-xs">
                {claim.replication && (
                  <Link to="/replications/$id" params={{ id: claim.replication }}>
                    the replication
                  </Link>
                )}
                {claim.source && /^https?:\/\//.test(claim.source) && (
                  <a href={claim.source} rel="noreferrer noopener" target="_blank">
                    where it was published
                  </a>
                )}
              </p>
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}
