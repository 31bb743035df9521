/** The best numbers that were measured of this version, whole datasets before parts. */
import { useQuery } from "@tanstack/react-query";
import { answer, api } from "../../api/client";
import { ResultTable } from "../../shown/result-table";
import { Card, Trouble } from "../../ui/parts";

export function useResults(name: string, version: string) {
  return useQuery({
    queryKey: ["results", "model", name],
    queryFn: () => answer(api.GET("/api/v1/results", { params: { query: { model: [name], limit: 200 } } })),
    select: (found) => found.items.filter((row) => row.model_version === version),
  });
}

export function Measured({ name, version }: { name: string; version: string }) {
  const found = useResults(name, version);
  if (found.error) return <Trouble error={found.error} again={() => void found.refetch()} />;
  const rows = (found.data ?? []).filter((row) => row.known);
  if (!rows.length) return null;
  return (
    <Card title="Best measured" aside="with 95 % intervals; all samples first, then parts">
      <ResultTable name="Best measured" of="model" rows={rows} />
    </Card>
  );
}
