/** What a model was asked about: asked of the server for a sample, where its dataset is at hand. */
import { useQuery } from "@tanstack/react-query";
import { answer, api, headers, Problem } from "../api/client";

/** Where a whole dataset is not at hand, nobody need ask for every sample of it. */
const without = new Map<string, Problem>();

export function useInput(record: string, sample: string, enabled = true) {
  return useQuery({
    queryKey: ["input", record, sample],
    queryFn: async ({ signal }) => {
      const known = without.get(record);
      if (known) throw known;
      try {
        const params = { path: { name: record }, query: { sample } };
        return await answer(api.GET("/api/v1/records/{name}/input", { params, signal }));
      } catch (problem) {
        if (problem instanceof Problem && problem.kind.endsWith("NoPictures")) without.set(record, problem);
        throw problem;
      }
    },
    retry: false,
    staleTime: Infinity,
    gcTime: 60_000,
    enabled,
  });
}

/** An <audio> could not show a token: the sound is fetched, and played from memory. */
export function useSound(record: string, sample: string, enabled: boolean) {
  return useQuery({
    queryKey: ["sound", record, sample],
    queryFn: async ({ signal }) => {
      const question = new URLSearchParams({ sample });
      const response = await fetch(`/api/v1/records/${record}/sound?${question}`, { headers: headers(), signal });
      if (!response.ok) throw Problem.of(response.status, await response.json().catch(() => null));
      return response.blob();
    },
    retry: false,
    staleTime: Infinity,
    gcTime: 0,
    enabled,
  });
}

export function useHeard(record: string, sample: string) {
  return useQuery({
    queryKey: ["heard", record, sample],
    queryFn: ({ signal }) => {
      const params = { path: { name: record }, query: { sample } };
      return answer(api.GET("/api/v1/records/{name}/heard", { params, signal }));
    },
    retry: false,
    staleTime: Infinity,
    gcTime: 60_000,
  });
}
