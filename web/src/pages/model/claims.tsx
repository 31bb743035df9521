import { useQuery } from "@tanstack/react-query";
import { answer, api } from "../../api/client";
import { ClaimTable } from "../../shown/claim-table";
import { Card, Trouble } from "../../ui/parts";

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
      <ClaimTable claims={claims} of={name} />
    </Card>
  );
}
