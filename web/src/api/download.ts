/** A file of the server's saved here; what goes wrong is thrown, and not left to a page that nobody asked for. */
import { headers, Problem } from "./client";

export async function download(path: string, name: string): Promise<void> {
  let response: Response;
  try {
    response = await fetch(`/api/v1/${path}`, { headers: headers() });
  } catch {
    throw Problem.gone();
  }
  if (!response.ok) throw Problem.of(response.status, await response.json().catch(() => null));
  const url = URL.createObjectURL(await response.blob());
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
