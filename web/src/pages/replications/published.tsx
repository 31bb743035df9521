/** Published numbers of manifests and of all sources, searched, with what became of each. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { answer, api } from "../../api/client";
import { useSettled } from "../../lib/settled";
import { Checked } from "../../shown/claim-table";
import { Button, Card, Empty, Trouble, Verdict, Waiting } from "../../ui/parts";
import { Table } from "../../ui/table";

type Claim = Schemas["PublishedClaim"];

const PAGE = 25;
const STATUSES = ["unchecked", "reproduced", "better than claimed", "not reproduced", "undecided"] as const;

export function Published() {
  const [typed, setTyped] = useState("");
  const [status, setStatus] = useState<(typeof STATUSES)[number]>();
  const [start, setStart] = useState(0);
  const words = useSettled(typed, 200);
  const found = useQuery({
    queryKey: ["published-claims", words, status, start],
    queryFn: () =>
      answer(api.GET("/api/v1/published-claims", { params: { query: { q: words, status, start, limit: PAGE } } })),
    placeholderData: keepPreviousData,
  });
  const page = found.data;
  return (
    <Card title="Published numbers of all sources">
      <div className="mb-4 flex flex-wrap gap-2" role="group" aria-label="Status">
        <input
          type="search"
          aria-label="Words"
          placeholder="resnet50 imagenet-val"
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setStart(0);
          }}
          className="w-60 rounded-lg border border-line bg-paper px-3 py-1.5 text-sm"
        />
        {[undefined, ...STATUSES].map((each) => (
          <Button
            key={each ?? "all"}
            aria-pressed={status === each}
            className={status === each ? "!border-accent !text-accent" : ""}
            onClick={() => {
              setStatus(each);
              setStart(0);
            }}
          >
            {each ?? "all"}
          </Button>
        ))}
      </div>
      {found.isPending ? (
        <Waiting />
      ) : !page ? (
        <Trouble error={found.error} again={() => void found.refetch()} />
      ) : page.items.length ? (
        <>
          <Numbers claims={page.items} />
          <div className="mt-3 flex items-center gap-2 text-sm text-muted">
            <Button disabled={start === 0} onClick={() => setStart(Math.max(0, start - PAGE))}>
              Previous
            </Button>
            <Button disabled={page.next === null} onClick={() => setStart(page.next ?? start)}>
              Next
            </Button>
            {(start + 1).toLocaleString("en")} to {(start + page.items.length).toLocaleString("en")} of{" "}
            {page.total.toLocaleString("en")}
          </div>
        </>
      ) : (
        <Empty>No published number fits.</Empty>
      )}
    </Card>
  );
}

function Numbers({ claims }: { claims: readonly Claim[] }) {
  return (
    <Table
      name="Published numbers"
      stacked
      rows={claims}
      identity={(claim) => `${claim.key} ${claim.place}`}
      columns={[
        { title: "Model", cell: (claim) => <span className="font-medium">{claim.model}</span> },
        { title: "On", cell: (claim) => claim.dataset || "–" },
        { title: "Claimed", right: true, cell: (claim) => `${claim.metric} ${claim.value} ${claim.symbol}`.trim() },
        { title: "Conditions", cell: (claim) => claim.conditions },
        { title: "Status", cell: (claim) => <Verdict of={claim.status} /> },
        { title: "Because of", cell: (claim) => claim.check?.cause },
        { title: "Checked", cell: (claim) => claim.check && <Checked by={claim.check} /> },
      ]}
    />
  );
}
