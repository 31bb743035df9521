/** From a profile to its timeline. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api } from "../api/client";

export function TraceLink({ record }: { record: string }) {
  const found = useQuery({
    queryKey: ["trace of", record],
    queryFn: () => answer(api.GET("/api/v1/traces", { params: { query: { record, limit: 1 } } })),
  });
  const id = found.data?.items[0]?.id;
  if (!id) return null;
  return (
    <Link
      to="/traces/$id"
      params={{ id }}
      className="rounded-lg border border-line bg-card px-3.5 py-1.5 text-sm font-medium text-ink hover:bg-soft hover:no-underline"
    >
      Timeline
    </Link>
  );
}
