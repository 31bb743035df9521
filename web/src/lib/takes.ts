/** What a model takes and gives, in words, from its manifest. */

type Said = Record<string, unknown>;

const KINDS: Record<string, string> = {
  image: "a picture",
  text: "a text",
  audio: "a sound",
  video: "a video",
  columns: "cells of a row",
  table: "a table",
  prompt: "a prompt",
  tensor: "a tensor",
  general: "a value",
  probability: "a probability for each class",
  logits: "a score for each class",
  boxes: "boxes",
  classes: "classes",
  scores: "scores",
  count: "a count",
  anchors: "anchors",
  detections: "boxes with classes and scores",
  masks: "masks",
  prototypes: "prototypes of masks",
  coefficients: "coefficients of masks",
  keypoints: "points",
  embedding: "a vector that stands for it",
  start: "where the answer starts",
  end: "where the answer ends",
  number: "a number",
};

export interface Side {
  /** `a picture, 224 × 224 pixels in 3 channels`. */
  words: string;
  /** `images: float32, RGB`. */
  detail: string;
}

export const takes = (manifest: Said): Side[] => sides(manifest.inputs, true);
export const gives = (manifest: Said): Side[] => sides(manifest.outputs, false);

function sides(list: unknown, isInput: boolean): Side[] {
  return (Array.isArray(list) ? list : []).map((each: Said) => {
    const kind = String(each.type ?? "general");
    const size = isInput ? pictureSize(each) : null;
    const shape = Array.isArray(each.shape) ? (each.shape as unknown[]).map(extent).join(" × ") : null;
    const told = [KINDS[kind] ?? `a ${kind.replaceAll("_", " ")}`, size ?? (shape && `of shape ${shape}`)];
    return { words: told.filter(Boolean).join(", "), detail: detailOf(each) };
  });
}

const extent = (size: unknown): string => (size === -1 ? "any" : String(size));

/** The size that the last resize or crop gives a picture. */
function pictureSize(input: Said): string | null {
  let found: string | null = null;
  for (const { name, parameters } of steps(input)) {
    if (name !== "resize" && name !== "crop") continue;
    const sizes = parameters.dimensions ?? parameters.size;
    const whole = (Array.isArray(sizes) ? sizes : []).filter((each) => typeof each === "number");
    if (whole.length === 2) found = `${whole[0]} × ${whole[1]} pixels`;
    if (whole.length === 3) found = `${whole[1]} × ${whole[2]} pixels in ${whole[0]} channels`;
  }
  return found;
}

function steps(side: Said): { name: string; parameters: Said }[] {
  const processing = Array.isArray(side.processing) ? (side.processing as Said[]) : [];
  return processing.map((step) => ({ name: String(step.name), parameters: (step.parameters ?? {}) as Said }));
}

function detailOf(side: Said): string {
  const layers = Object.keys((side.layers ?? {}) as Said);
  const name = side.layer_name != null ? String(side.layer_name) : layers.join(", ");
  const color = steps(side).find((step) => step.name === "decode")?.parameters.color_layout;
  const facts = [side.element_type, color].filter((each) => typeof each === "string").join(", ");
  return name ? `${name}: ${facts}` : facts;
}

/** Parameters as people say them: `4.65 million`. */
export function inMillions(count: number): string {
  for (const [size, word] of [
    [1e12, "trillion"],
    [1e9, "billion"],
    [1e6, "million"],
    [1e3, "thousand"],
  ] as const)
    if (count >= size) return `${Number((count / size).toPrecision(3))} ${word}`;
  return String(count);
}

/** Of what manifests refer to, what a browser may open: addresses of pages, and nothing else. */
export function asPage(reference: string): URL | null {
  try {
    const url = new URL(reference.trim());
    return url.protocol === "http:" || url.protocol === "https:" ? url : null;
  } catch {
    return null;
  }
}
