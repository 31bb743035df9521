import { useQuery } from "@tanstack/react-query";
import { answer, api } from "../../api/client";
import { Card, Trouble, Verdict } from "../../ui/parts";
import { Table } from "../../ui/table";

export function Claims({ name, version }: { name: string; version: string }) {
  const found = useQuery({
    queryKey: ["claims", name, version],
    queryFn: () => answer(api.GET("/api/v1/claims", { params: { query: { model: name } } })),
  });
  const claims = found.data?.items.filter((claim) => claim.version === version) ?? [];
  if (found.error) return <Trouble error={found.error} />;
  if (!claims.length) return null;
  return (
    <Card title="Claims">
      <Table
        name="Claims"
        rows={claims}
        identity={(claim) => `${claim.metric} ${claim.dataset} ${claim.value}`}
        columns={[
          { title: "Metric", cell: (claim) => claim.metric },
          { title: "Claimed", right: true, cell: (claim) => `${claim.value} %` },
          { title: "On", cell: (claim) => claim.dataset ?? "–" },
          {
            title: "Measured",
            right: true,
            cell: ({ measured }) =>
              measured
                ? `${measured.value.toFixed(2)} % (${measured.low.toFixed(1)} … ${measured.high.toFixed(1)})`
                : "–",
          },
          { title: "Verdict", cell: (claim) => <Verdict of={claim.verdict} /> },
          { title: "Because", cell: (claim) => claim.explained_by?.join(", ") || "" },
        ]}
      />
    </Card>
  );
}
