/** What a model is asked about, looked at before it is sent: who drops the wrong file should hear at once what is wrong. */
import { Problem } from "../../../api/client";
import { bytes } from "../../../lib/format";

export type Given =
  | { kind: "file"; id: number; blob: Blob; name: string }
  | { kind: "url"; id: number; url: string }
  | { kind: "text"; id: number; text: string };

export type Wants = "image" | "text" | "audio" | "anything";

let last = 0;
/** Each question is one of its own, even if the same is asked again. */
export const fresh = (): number => ++last;

let next: Given | null = null;
/** From a model's own page to where several stand side by side: files have no address. */
export const handOver = (given: Given | null): void => void (next = given);
export const handedOver = (): Given | null => next;

/** What a model takes, by what its manifest says of its inputs or of its task. */
export function wantsOf(manifest: Record<string, unknown> | undefined): Wants {
  const inputs = Array.isArray(manifest?.inputs) ? (manifest.inputs as { type?: unknown }[]) : [];
  const types = inputs.map((input) => String(input.type ?? "").toLowerCase());
  for (const wanted of ["image", "text", "audio"] as const) if (types.includes(wanted)) return wanted;
  const words = [...types, String(manifest?.task ?? "")].join(" ").toLowerCase();
  if (/speech|sound|audio|wave/.test(words)) return "audio";
  if (/detection|segmentation|image|visual/.test(words)) return "image";
  return /text|translation|language|question/.test(words) ? "text" : "anything";
}

/** Whether code in a manifest would run to answer. */
export function carriesCode(manifest: Record<string, unknown> | undefined): boolean {
  return ["preprocess", "run", "predict", "postprocess"].some((stage) => {
    const part = manifest?.[stage];
    return typeof part === "object" && part !== null && "code" in part;
  });
}

const STARTS: [string, (head: Uint8Array) => boolean][] = [
  ["image/jpeg", (head) => starts(head, 0xff, 0xd8, 0xff)],
  ["image/png", (head) => starts(head, 0x89, 0x50, 0x4e, 0x47)],
  ["image/gif", (head) => said(head, 0, 3) === "GIF"],
  ["image/bmp", (head) => said(head, 0, 2) === "BM"],
  ["image/webp", (head) => said(head, 0, 4) === "RIFF" && said(head, 8, 12) === "WEBP"],
  ["image/tiff", (head) => starts(head, 0x49, 0x49, 0x2a, 0) || starts(head, 0x4d, 0x4d, 0, 0x2a)],
  ["image/avif", (head) => said(head, 4, 11) === "ftypavi"],
  ["image/heic", (head) => /^ftyp(heic|heix|mif1)/.test(said(head, 4, 12))],
  ["application/pdf", (head) => said(head, 0, 4) === "%PDF"],
];
const starts = (head: Uint8Array, ...wanted: number[]) => wanted.every((byte, place) => head[place] === byte);
const said = (head: Uint8Array, from: number, to: number) => String.fromCharCode(...head.slice(from, to));

/** What a file is by how it begins, whatever it is called. */
export function typeOf(head: Uint8Array): string | null {
  return STARTS.find(([, fits]) => fits(head))?.[0] ?? (looksLikeMarkup(head) ? "text/html" : null);
}

function looksLikeMarkup(head: Uint8Array): boolean {
  return /^\uFEFF?\s*<(\?xml|!doctype|!--|svg|html|head|body|script)/i.test(new TextDecoder().decode(head));
}

/** Types that a browser draws and never runs. */
export const SHOWN = ["image/jpeg", "image/png", "image/gif", "image/bmp", "image/webp", "image/avif"];

export async function checked(blob: Blob, name: string, wants: Wants, largest: number): Promise<Given> {
  if (!blob.size) throw new Problem(422, "Empty", `${name} is empty.`, "Choose another file.");
  if (blob.size > largest)
    throw new Problem(
      413,
      "TooLarge",
      `${name} has ${bytes(blob.size)}, and this server takes ${bytes(largest)} at most.`,
      "Make it smaller: models look at a few hundred pixels only.",
    );
  const type = typeOf(new Uint8Array(await blob.slice(0, 512).arrayBuffer()));
  if (wants === "image") refuse(type, name);
  const isShown = type !== null && SHOWN.includes(type);
  return { kind: "file", id: fresh(), blob: isShown ? blob.slice(0, blob.size, type) : blob, name };
}

function refuse(type: string | null, name: string): void {
  const no = (message: string, hint: string) => {
    throw new Problem(415, "NoPicture", message, hint);
  };
  if (type === "text/html")
    no(`${name} is a web page or an SVG drawing, which may hold scripts.`, "Save it as PNG or JPEG, and drop that.");
  if (type === "image/heic")
    no(`${name} is a HEIC photograph.`, "Export it as JPEG: phones call that “most compatible”.");
  if (type === "application/pdf") no(`${name} is a PDF document.`, "Save the page that you mean as PNG or JPEG.");
  if (type === null) no(`${name}: unsupported file type.`, "Use JPEG, PNG, GIF, BMP, WebP, TIFF or AVIF.");
}
