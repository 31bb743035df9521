import { Link } from "@tanstack/react-router";
import type { Schemas } from "../api/client";
import { published, spelled } from "../lib/measured";
import { Verdict } from "../ui/parts";
import { useMay } from "../ui/shell";
import { Table } from "../ui/table";
import { When } from "../ui/when";

type Claim = Schemas["ModelClaim"];

/** `of` is the model that a page is about, which need not be named again. */
export function ClaimTable({ claims, of }: { claims: readonly Claim[]; of?: string }) {
  const may = useMay("run");
  return (
    <Table
      name="Claims"
      stacked
      rows={claims}
      identity={(claim) => `${claim.model} ${claim.metric} ${claim.dataset} ${claim.value} ${claim.source}`}
      columns={[
        ...(of === undefined
          ? [
              {
                title: "Model",
                cell: (claim: Claim) => (
                  <Link to="/models/$name" params={{ name: claim.model }} className="font-medium">
                    {claim.model}
                  </Link>
                ),
              },
            ]
          : []),
        { title: "On", cell: (claim) => claim.dataset ?? "–" },
        { title: "Claimed", right: true, cell: (claim) => `${claim.metric} ${published(claim.value, claim.unit)}` },
        {
          title: "Measured",
          right: true,
          cell: (claim) => (claim.measured ? spelled(claim.measured.value, claim.unit) : "–"),
        },
        { title: "Verdict", cell: (claim) => <Said claim={claim} /> },
        { title: "Because of", cell: (claim) => claim.explained_by.join(", ") },
        { title: "Checked", cell: (claim) => claim.checked && <Checked by={claim.checked} /> },
        { title: "", right: true, cell: (claim) => <Action claim={claim} may={may} /> },
      ]}
    />
  );
}

/** By whom, when, on which stack; the machine is told to whoever points at it. */
export function Checked({ by }: { by: Schemas["ClaimCheck"] }) {
  return (
    <span title={`${by.machine}, ${by.samples} samples, record ${by.record}`}>
      {by.person}, <When at={by.checked_at} />, {by.stack}
    </span>
  );
}

function Said({ claim }: { claim: Claim }) {
  if (!claim.replication) return <Verdict of={claim.checkable ? claim.verdict : "cannot be measured here"} />;
  return (
    <Link to="/replications/$id" params={{ id: claim.replication }}>
      <Verdict of={claim.verdict} />
    </Link>
  );
}

/** What can be done about it; where something is missing, what. Code is no obstacle to who may let it run. */
function Action({ claim, may }: { claim: Claim; may: boolean }) {
  const trusts = useMay("trust");
  if (!claim.checkable) return null;
  if (claim.obstacle && !(trusts && claim.obstacle.startsWith("needs trust")))
    return <span className="text-muted">{claim.obstacle}</span>;
  return may ? <Check claim={claim} /> : null;
}

function Check({ claim }: { claim: Claim }) {
  const text = `${claim.metric}=${claim.value}${claim.dataset ? `@${claim.dataset}` : ""}`;
  return (
    <Link
      to="/replications/new"
      search={{ model: claim.model, dataset: claim.dataset ?? undefined, claim: text }}
      aria-label={`Check ${text} of ${claim.model}`}
    >
      Check
    </Link>
  );
}
