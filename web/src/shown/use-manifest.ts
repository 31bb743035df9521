/** A manifest and its versions; the newest where none is named. */
import { useQuery } from "@tanstack/react-query";
import { answer, api } from "../api/client";

export function useManifest(kind: "model" | "dataset" | "software", name: string, wanted: string | undefined) {
  const versions = useQuery({
    queryKey: ["versions", kind, name],
    queryFn: () => answer(api.GET("/api/v1/manifests/{kind}/{name}", { params: { path: { kind, name } } })),
  });
  const version = wanted ?? versions.data?.items[0]?.version;
  const found = useQuery({
    queryKey: ["manifest", kind, name, version],
    queryFn: () =>
      answer(
        api.GET("/api/v1/manifests/{kind}/{name}/{version}", { params: { path: { kind, name, version: version! } } }),
      ),
    enabled: version !== undefined,
  });
  return {
    manifest: found.data,
    versions: versions.data?.items ?? [],
    error: versions.error ?? found.error,
    again: () => void (versions.error ? versions : found).refetch(),
  };
}
