/** A picture that the server has, or a quiet place where it has none. An <img> could not show a token. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { headers, Problem } from "../api/client";

/** Where a whole dataset is not at hand, nobody need ask for every sample of it. */
const without = new Map<string, string>();

export function usePicture(source: string, sample: string, side: number, enabled = true) {
  return useQuery({
    queryKey: ["picture", source, sample, side],
    queryFn: async ({ signal }) => {
      const known = without.get(source);
      if (known) throw new Problem(404, "NoPictures", known);
      const question = new URLSearchParams({ sample, side: String(side) });
      const response = await fetch(`/api/v1/${source}/picture?${question}`, { headers: headers(), signal });
      if (response.ok) return response.blob();
      const problem = Problem.of(response.status, await response.json().catch(() => null));
      if (problem.kind.endsWith("NoPictures")) without.set(source, problem.message);
      throw problem;
    },
    retry: false,
    staleTime: Infinity,
    gcTime: 60_000,
    enabled,
  });
}

/** An address for something that lies in memory, as long as it is looked at. */
export function useAddress(blob: Blob | undefined | null): string | null {
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    if (!blob) return setAddress(null);
    const made = URL.createObjectURL(blob);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return address;
}

export function Thumbnail({ source, sample, side = 96 }: { source: string; sample: string; side?: number }) {
  const found = usePicture(source, sample, side);
  const address = useAddress(found.data);
  return (
    <span
      className="flex size-12 shrink-0 items-center justify-center overflow-hidden rounded-md bg-soft text-muted"
      title={found.error ? found.error.message : undefined}
    >
      {address ? (
        <img src={address} alt="" className="size-full object-cover" />
      ) : found.error ? (
        <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true" className="opacity-40">
          <path d="M2 4h16v12H2zM2 14l5-5 4 4 3-3 4 4" fill="none" stroke="currentColor" strokeWidth="1.5" />
        </svg>
      ) : null}
    </span>
  );
}
