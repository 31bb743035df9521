/** Files of the server. A link or a picture of the browser's own cannot send a token, so they are fetched here. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { headers, Problem } from "./client";

export async function fetchFile(path: string): Promise<Blob> {
  let response: Response;
  try {
    response = await fetch(path, { headers: headers() });
  } catch {
    throw Problem.gone();
  }
  if (!response.ok) throw Problem.of(response.status, await response.json().catch(() => null));
  return response.blob();
}

export function saveFile(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  // Not at once: the browser has only been told to begin.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** An address that an <img> can show, as long as the page does. */
export function usePicture(path: string | null): { url: string | null; error: unknown } {
  const found = useQuery({
    queryKey: ["picture", path],
    queryFn: () => fetchFile(path!),
    enabled: path !== null,
    staleTime: Infinity,
  });
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!found.data) return;
    const made = URL.createObjectURL(found.data);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [found.data]);
  return { url: found.data ? url : null, error: found.error };
}
