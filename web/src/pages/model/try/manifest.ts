import { useQuery } from "@tanstack/react-query";
import { answer, api } from "../../../api/client";

/** The manifest of a model, the newest where no version is said. */
export function useManifest(name: string, version?: string) {
  const versions = useQuery({
    queryKey: ["versions", name],
    queryFn: () => answer(api.GET("/api/v1/manifests/{kind}/{name}", { params: { path: { kind: "model", name } } })),
    enabled: name !== "" && version === undefined,
  });
  const which = version ?? versions.data?.items[0]?.version;
  const found = useQuery({
    queryKey: ["manifest", "model", name, which],
    queryFn: () =>
      answer(
        api.GET("/api/v1/manifests/{kind}/{name}/{version}", {
          params: { path: { kind: "model", name, version: which! } },
        }),
      ),
    enabled: name !== "" && which !== undefined,
  });
  return { manifest: found.data, error: versions.error ?? found.error };
}

/** What may be sent, as this server says. */
export function useLimits() {
  const found = useQuery({
    queryKey: ["limits"],
    queryFn: () => answer(api.GET("/api/v1/predictions/limits")),
    staleTime: 60_000,
  });
  return found.data;
}
