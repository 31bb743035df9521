/** A file of this machine, to the server: announced by its digest, sent in pieces, resumed where it stopped. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { answer, api, headers, Problem, type Schemas } from "./client";

const PIECE = 16 * 1024 ** 2;

/** The browser's own digest wants all of a file at once, and https. */
export async function digestOf(file: Blob, tell: (done: number) => void = () => {}): Promise<string> {
  const hash = sha256.create();
  for (let start = 0; start < file.size; start += PIECE) {
    tell(start);
    hash.update(new Uint8Array(await file.slice(start, start + PIECE).arrayBuffer()));
  }
  return bytesToHex(hash.digest());
}

/** How manifests name it from now on. */
export async function upload(file: File, digest: string, tell: (done: number) => void): Promise<string> {
  let state = await answer(
    api.POST("/api/v1/artifacts", { body: { sha256: digest, size: file.size, name: file.name } }),
  );
  while (!state.complete) {
    tell(state.offset);
    state = await send(file.slice(state.offset, state.offset + PIECE), digest, state.offset);
  }
  return state.reference;
}

async function send(piece: Blob, digest: string, offset: number): Promise<Schemas["ArtifactUpload"]> {
  let response: Response;
  try {
    response = await fetch(`/api/v1/artifacts/${digest}`, {
      method: "PATCH",
      headers: { ...headers(), "Content-Type": "application/octet-stream", "Upload-Offset": String(offset) },
      body: piece,
    });
  } catch {
    throw Problem.gone();
  }
  const said: unknown = await response.json().catch(() => null);
  if (!response.ok) throw Problem.of(response.status, said);
  return said as Schemas["ArtifactUpload"];
}
