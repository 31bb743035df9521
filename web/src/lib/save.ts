/** A file that the server makes, kept by whoever looks at the page. */
import { headers, Problem } from "../api/client";

export async function saveFrom(path: string, name: string): Promise<void> {
  const response = await fetch(`/api/v1${path}`, { headers: headers() });
  if (!response.ok) throw Problem.of(response.status, await response.json().catch(() => null));
  const url = URL.createObjectURL(await response.blob());
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
