/** The whole of a trace, as coarse as a strip shows it, and its rows. */
import { useQuery } from "@tanstack/react-query";
import { answer, api } from "../../api/client";

export function useHead(id: string | undefined) {
  return useQuery({
    queryKey: ["timeline", id],
    queryFn: () =>
      answer(
        api.GET("/api/v1/traces/{identity}/timeline", { params: { path: { identity: id! }, query: { bins: 600 } } }),
      ),
    enabled: id !== undefined,
    staleTime: 60_000,
  });
}

export function useTrace(id: string | undefined) {
  return useQuery({
    queryKey: ["trace", id],
    queryFn: () => answer(api.GET("/api/v1/traces/{identity}", { params: { path: { identity: id! } } })),
    enabled: id !== undefined,
    staleTime: 60_000,
  });
}
